"""The proxy between client and service that plays the faults of `chaos`: two listeners and another
host, a thread for each connection."""

import itertools
import json
import random
import socket
import threading
import time
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

import confkit as ck
from confkit.sandbox import Sandbox
from tests.ways import reset

from .chaos import FAULTS, INSTEAD, PAUSE, Case, End, steps
from .piece import Piece

PLAIN = "plain"
_SECRET = ("token", "digest")  # what names of parameters end with that hold one
_CHANGING = (*_SECRET, "timestamp", "random", "nonce")
_ANSWER = b'{"ret": 0, "room_id": "1", "user_list": [], "data": {"total": 0, "items": []}}'


def held_in(text: str, secrets: set[str]) -> bool:
    """Whether one of the secrets stands in a text, encoded or not."""
    plain = unquote(unquote(text))
    return any(secret in text or secret in plain for secret in secrets.copy())


def is_json(body: bytes) -> bool:
    """Whether it is an answer of the interface, and no page of a gateway."""
    try:
        return isinstance(json.loads(body), dict)
    except ValueError:
        return False


class _Asked(BaseHTTPRequestHandler):
    """A connection to one of the listeners; `service` is where it leads, if anywhere."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    chaos: "Chaos"
    service = ""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.chaos.answer(self, body)
            self.wfile.flush()
        except (OSError, HTTPException, ValueError):  # the caller has left, or the service has
            self.close_connection = True

    do_POST = do_GET

    def plain(self, status: int, body: bytes) -> None:
        """Writes an answer as it has to be."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def forwarded(self, body: bytes) -> tuple[int, bytes]:
        """What the service answers: status and body."""
        line = HTTPConnection(self.service)
        try:
            kind = self.headers.get("Content-Type", "")
            line.request(self.command, self.path, body or None, {"Content-Type": kind})
            came = line.getresponse()
            return came.status, came.read()
        finally:
            line.close()

    def play(self, name: str, case: Case) -> None:
        """Takes the steps of a fault."""
        for step in steps(name, case):
            if isinstance(step, float):
                self.wfile.flush()
                time.sleep(step)
            elif isinstance(step, bytes):
                self.wfile.write(step)
            else:
                self.close_connection = True
                self.wfile.flush()
                if step is End.RESET:
                    reset(self.connection)
                elif step is End.SHUT:
                    self.connection.shutdown(socket.SHUT_WR)
                    time.sleep(PAUSE)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1000

    def handle_error(self, *_: object) -> None:
        """A connection that was reset is no error."""


class Chaos:
    """A proxy before a service; `weights` says how likely each fault is, and what is left to 1 is
    passed on as it is.

    What becomes of a request the n-th time that it is made (the same path and parameters, without
    token, digest, time and nonce) follows from `chance`, the request and n alone, however many
    threads ask. `secrets` are the tokens and digests that came by, `strayed` all that came to the
    other host, and `leaked` what of that brought one. `late` is how many seconds the faults take
    that are too slow.
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
        self.strayed: list[str] = []
        self._chance, self._late = chance, late
        self.plays(weights)
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._errors: list[str] = []
        services = [urlsplit(url).netloc for url in (base_url, outgoing_url)]
        self._listening = [
            _Listener(("127.0.0.1", 0), type("Asked", (_Asked,), {"chaos": self, "service": one}))
            for one in (*services, "")
        ]
        ports = [one.server_port for one in self._listening]
        self.base_url, self.outgoing_url = (f"http://127.0.0.1:{port}" for port in ports[:2])
        self._elsewhere = f"http://localhost:{ports[2]}"

    def plays(self, weights: Mapping[str, float]) -> None:
        """Plays these faults from now on."""
        assert set(weights) <= set(FAULTS)
        self._names = [*weights, PLAIN]
        self._bounds = list(itertools.accumulate(weights.values()))

    def __enter__(self) -> Self:
        for one in self._listening:
            threading.Thread(target=one.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as ending:
            for one in self._listening:
                ending.callback(one.server_close)
                ending.callback(one.shutdown)
        assert not self._errors, f"faults that do not work: {self._errors[:3]}"

    def answer(self, asked: _Asked, body: bytes) -> None:
        """Does what is to become of a request."""
        path, _, query = asked.path.partition("?")
        fields = [
            one
            for text in (query, body.decode("latin-1"))
            for one in parse_qsl(text, keep_blank_values=True)
        ]
        if not asked.service:
            told = f"{asked.path} {asked.headers} {fields}"
            self.strayed.append(told)
            self.leaked += [told] * held_in(told, self.secrets)
            return asked.plain(200, _ANSWER)
        same = [one for one in fields if not one[0].lower().endswith(_CHANGING)]
        key = f"{path} {same}"
        with self._lock:
            self.secrets |= {
                value for name, value in fields if name.lower().endswith(_SECRET) and len(value) > 7
            }
            self._times[key] += 1
            chance = random.Random(f"{self._chance}/{key}/{self._times[key]}")
            name = self._names[bisect(self._bounds, chance.random())]
            self.counts[name] += 1
        status, came = (200, b"") if name in INSTEAD else asked.forwarded(body)
        if name == PLAIN or (name not in INSTEAD and not is_json(came)):
            return asked.plain(status, came)
        try:
            asked.play(name, Case(came, chance, self._late, f"{self._elsewhere}{asked.path}"))
        except OSError:  # the caller has left
            raise
        except Exception as error:
            self._errors.append(f"{name} of {key}: {error!r}")
            raise


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
    piece.count("faults", sum(chaos.counts.values()) - chaos.counts[PLAIN])
