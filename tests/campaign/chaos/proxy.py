"""The proxy: two listeners and another host, on one thread."""

import asyncio
import importlib
import itertools
import random
import socket
import threading
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.serving import served

from .faults import FAULTS
from .line import Line
from .messages import Answered, Asked, held_in, read_answer, read_request

LARGE = 2**20  # bytes of a request's head
PLAIN = "plain"


class Chaos:
    """A proxy before a service; `weights` says how likely each fault is, and what is left to 1 is
    passed on as it is.

    What becomes of a request the n-th time that it is made (the same method, path and parameters,
    without token, digest, time and nonce) follows from `chance`, the request and n alone, however
    many threads ask. `counts` counts the faults played, and "plain"; `leaked` holds the requests
    that have brought a token or a digest to the other host to which "redirect" points, `strayed`
    all that came there. `late` is how many seconds the faults take that are too slow.
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
        unknown = sorted(set(weights) - set(FAULTS))
        if unknown:
            raise ValueError(f"no fault is called {', '.join(unknown)}; see FAULTS")
        if sum(weights.values()) > 1.000001:
            raise ValueError("the weights of the faults are more than 1 together")
        self.counts: Counter[str] = Counter()
        self.leaked: list[str] = []
        self.strayed: list[str] = []
        self._chance, self._late = chance, late
        self._broken: list[str] = []
        self._names = list(weights)
        self._bounds = list(itertools.accumulate(weights.values()))
        self._times: Counter[str] = Counter()
        self.secrets: set[str] = set()  # tokens and digests that came by
        self._services = [_place(base_url), _place(outgoing_url)]
        self._idle: dict[tuple[str, int], list[_Pair]] = {}
        self._listening = [_listener() for _ in range(3)]
        ports = [bound.getsockname()[1] for bound in self._listening]
        self.base_url, self.outgoing_url = (f"http://127.0.0.1:{port}" for port in ports[:2])
        self.elsewhere = f"http://localhost:{ports[2]}"
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=self._main, name="chaos", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._broken:
            raise AssertionError(f"faults that do not work: {self._broken[:3]}")

    def fate(self, key: str, time: int) -> tuple[str, random.Random]:
        """The name of what becomes of a request at this time, and the chance that it has."""
        chance = random.Random(f"{self._chance}/{key}/{time}")
        place = bisect(self._bounds, chance.random())
        return (self._names[place] if place < len(self._names) else PLAIN), chance

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with AsyncExitStack() as serving:
            for service, bound in zip([*self._services, None], self._listening, strict=True):
                answering = partial(self._connection, service)
                await serving.enter_async_context(
                    served(answering, sock=bound, limit=LARGE, backlog=1000)
                )
            self._ready.set()
            await self._stop.wait()
        for pair in itertools.chain.from_iterable(self._idle.values()):
            pair[1].transport.abort()
        await asyncio.sleep(0)

    async def _connection(
        self,
        service: tuple[str, int] | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        over = False
        while not over and (request := await read_request(reader)) is not None:
            if service is None:
                over = await self._elsewhere(request, writer)
            else:
                over = await self._pass(service, request, writer)

    async def _pass(
        self, service: tuple[str, int], request: Asked, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the connection is over once what is to become of the request has become of it."""
        self.secrets.update(request.secrets)
        key = request.key
        self._times[key] += 1
        name, chance = self.fate(key, self._times[key])
        self.counts[name] += 1

        async def answer() -> Answered:
            answered = await self._forward(service, request)
            if not answered.is_json:
                raise _PageError(answered)
            return answered

        line = Line(request, chance, self._late, self.elsewhere, writer, answer)
        try:
            if name == PLAIN:
                answered = await self._forward(service, request)
                await line.send(answered.head + answered.body)
            else:
                await FAULTS[name](line)
        except _PageError as error:  # fault enough: of it there is nothing to alter
            await line.send(error.page.head + error.page.body)
        except asyncio.IncompleteReadError:  # the service itself has dropped it
            line.reset()
        except (OSError, asyncio.CancelledError):  # the caller has left
            raise
        except Exception as error:
            self._broken.append(f"{name} of {key}: {error!r}")
            raise
        return line.over

    async def _forward(self, service: tuple[str, int], request: Asked) -> Answered:
        idle = self._idle.setdefault(service, [])
        while True:
            kept = bool(idle)
            reader, writer = (
                idle.pop() if kept else await asyncio.open_connection(*service, limit=LARGE)
            )
            if not (kept and (reader.at_eof() or writer.is_closing())):
                break
        try:
            writer.write(request.head + request.body)
            answered = await read_answer(reader)
        except BaseException:
            writer.transport.abort()
            raise
        if b"connection: close" in answered.head.lower():
            writer.close()
        else:
            idle.append((reader, writer))
        return answered

    async def _elsewhere(self, request: Asked, writer: asyncio.StreamWriter) -> bool:
        told = f"{request.head.decode('latin-1')}{request.body.decode('latin-1')}"
        self.strayed.append(told)
        if held_in(told, self.secrets) or request.secrets:
            self.leaked.append(told)
        body = b'{"ret": 0, "room_id": "1", "user_list": [], "data": {"total": 0, "items": []}}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        return False


class _PageError(Exception):
    """The service, told to, answered with something else than JSON."""

    def __init__(self, page: Answered) -> None:
        super().__init__()
        self.page = page


_Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def _listener() -> socket.socket:
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 80


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        factory: Callable[[], asyncio.AbstractEventLoop]
        factory = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        return None
    return factory
