"""The proxy between client and service that plays the faults of `chaos`: two listeners and another
host, on one thread."""

import asyncio
import itertools
import json
import random
import re
import socket
import struct
import threading
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import confkit as ck
from confkit.sandbox import Sandbox
from tests.serving import served

from .chaos import FAULTS, INSTEAD, PAUSE, Case, End
from .piece import Piece

LARGE = 2**20  # bytes of a head
PLAIN = "plain"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SECRET = ("token", "digest")  # what names of parameters end with that hold one
_CHANGING = (*_SECRET, "timestamp", "random", "nonce")
_ANSWER = b'{"ret": 0, "room_id": "1", "user_list": [], "data": {"total": 0, "items": []}}'
_Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Message(NamedTuple):
    """A request or an answer as it came."""

    head: bytes
    body: bytes

    @property
    def target(self) -> str:
        """The path and the query that a request asks for."""
        return self.head.split(b" ", 2)[1].decode("latin-1")

    def fields(self) -> list[tuple[str, str]]:
        """The parameters of query and body, in their order."""
        found = parse_qsl(self.target.partition("?")[2], keep_blank_values=True)
        return found + parse_qsl(self.body.decode("latin-1"), keep_blank_values=True)

    def is_json(self) -> bool:
        """Whether it is an answer of the interface, and no page of a gateway."""
        try:
            return isinstance(json.loads(self.body), dict)
        except ValueError:
            return False


async def message(reader: asyncio.StreamReader) -> Message:
    """The next message of a connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return Message(head, await reader.readexactly(int(length[1])) if length else b"")


def held_in(text: str, secrets: set[str]) -> bool:
    """Whether one of the secrets stands in a text, encoded or not."""
    plain = unquote(unquote(text))
    return any(secret in text or secret in plain for secret in secrets.copy())


class Chaos:
    """A proxy before a service; `weights` says how likely each fault is, and what is left to 1 is
    passed on as it is.

    What becomes of a request the n-th time that it is made (the same path and parameters, without
    token, digest, time and nonce) follows from `chance`, the request and n alone, however many
    threads ask. `secrets` are the tokens and digests that came by, and `leaked` the requests that
    brought one to the other host. `late` is how many seconds the faults take that are too slow.
    """

    def __init__(
        self,
        base_url: str,
        outgoing_url: str,
        *,
        chance: str,
        weights: Mapping[str, float],
        late: float = 1.5,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.secrets: set[str] = set()
        self.leaked: list[str] = []
        self.strayed: list[str] = []  # all that came to the other host
        self._chance, self._late = chance, late
        self.plays(weights)
        self._times: Counter[str] = Counter()
        self._errors: list[str] = []
        self._services = [urlsplit(url) for url in (base_url, outgoing_url)]
        self._listening = [socket.create_server(("127.0.0.1", 0), backlog=1000) for _ in range(3)]
        ports = [bound.getsockname()[1] for bound in self._listening]
        self.base_url, self.outgoing_url = (f"http://127.0.0.1:{port}" for port in ports[:2])
        self._elsewhere = f"http://localhost:{ports[2]}"
        self._idle: dict[str, list[_Pair]] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def plays(self, weights: Mapping[str, float]) -> None:
        """Plays these faults from now on."""
        assert set(weights) <= set(FAULTS)
        self._names = list(weights)
        self._bounds = list(itertools.accumulate(weights.values()))

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        assert not self._errors, f"faults that do not work: {self._errors[:3]}"

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with AsyncExitStack() as serving:
            for service, bound in zip([*self._services, None], self._listening, strict=True):
                answering = partial(self._connection, service and service.netloc)
                await serving.enter_async_context(served(answering, sock=bound, limit=LARGE))
            self._ready.set()
            await self._stop.wait()
        for _, writer in itertools.chain.from_iterable(self._idle.values()):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _connection(
        self, service: str | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while not writer.is_closing():
            asked = await message(reader)
            if service is None:
                self._stray(asked)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_ANSWER))
                writer.write(_ANSWER)
            elif await self._answer(service, asked, writer):
                return

    def _stray(self, asked: Message) -> None:
        told = (asked.head + asked.body).decode("latin-1")
        self.strayed.append(told)
        if held_in(told, self.secrets):
            self.leaked.append(told)

    async def _answer(self, service: str, asked: Message, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection is over once what is to become of the request has become of it."""
        fields = asked.fields()
        self.secrets |= {
            value for name, value in fields if name.lower().endswith(_SECRET) and len(value) > 7
        }
        same = [one for one in fields if not one[0].lower().endswith(_CHANGING)]
        key = f"{asked.target.partition('?')[0]} {same}"
        self._times[key] += 1
        chance = random.Random(f"{self._chance}/{key}/{self._times[key]}")
        place = bisect(self._bounds, chance.random())
        name = self._names[place] if place < len(self._names) else PLAIN
        self.counts[name] += 1
        came = Message(b"", b"") if name in INSTEAD else await self._forwarded(service, asked)
        if name == PLAIN or (name not in INSTEAD and not came.is_json()):
            writer.write(came.head + came.body)
            await writer.drain()
            return False
        try:
            case = Case(came.body, chance, self._late, f"{self._elsewhere}{asked.target}")
            return await _played(FAULTS[name](case), writer)
        except (OSError, asyncio.CancelledError):  # the caller has left
            raise
        except Exception as error:
            self._errors.append(f"{name} of {key}: {error!r}")
            raise

    async def _forwarded(self, service: str, asked: Message) -> Message:
        idle = self._idle.setdefault(service, [])
        pair = idle.pop() if idle else None
        if pair is None or pair[0].at_eof() or pair[1].is_closing():
            host, port = service.split(":")
            pair = await asyncio.open_connection(host, port, limit=LARGE)
        reader, writer = pair
        try:
            writer.write(asked.head + asked.body)
            came = await message(reader)
        except BaseException:
            writer.transport.abort()
            raise
        if b"connection: close" in came.head.lower():
            writer.close()
        else:
            idle.append(pair)
        return came


async def _played(steps: object, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection is over once these steps were made."""
    for step in steps:
        if isinstance(step, float):
            await asyncio.sleep(step)
        elif isinstance(step, bytes):
            if writer.is_closing():
                raise ConnectionResetError("the caller has left")
            writer.write(step)
            await writer.drain()
        elif step is End.RESET:
            linger = struct.pack("ii", 1, 0)
            line = writer.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return True
        else:
            if step is End.SHUT and not writer.is_closing():
                writer.write_eof()
                await asyncio.sleep(PAUSE)
            return True
    return False


@contextmanager
def attacked(
    sandbox: Sandbox,
    piece: Piece,
    weights: Mapping[str, float],
    make: Callable[..., ck.Client],
    **options: Any,
) -> Iterator[tuple[Chaos, ck.Client]]:
    """The proxy before a sandbox, and a client that asks through it without waiting long."""
    chance = f"{piece.seed}/{piece.part}/{piece.number}"
    with (
        Chaos(sandbox.base_url, sandbox.outgoing_url, weights=weights, chance=chance) as chaos,
        make(
            chaos.base_url,
            chaos.outgoing_url,
            sandbox.access_key,
            str(sandbox.secret_key),
            dialect=sandbox.dialect,
            **{"sleep": lambda _: None, **options},
        ) as client,
    ):
        yield chaos, client
    piece.count("requests", sum(chaos.counts.values()))
    piece.count("faults", sum(chaos.counts.values()) - chaos.counts["plain"])
