"""The proxy between client and service that plays the faults of `chaos`, and another host."""

import itertools
import random
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

import confkit as ck
from confkit.operations import OPERATIONS, Operation
from confkit.sandbox import Sandbox
from tests.scripted import Reply, Scripted, scripted

from .chaos import FAULTS, REFUSING, UNHEARD, Case
from .piece import Piece

PLAIN = "plain"
_SECRET = ("token", "digest")  # what names of parameters end with that hold one
_CHANGING = (*_SECRET, "timestamp", "random", "nonce")


def held_in(text: str, secrets: set[str]) -> bool:
    """Whether one of the secrets stands in a text, encoded or not."""
    plain = unquote(unquote(text))
    return any(secret in text or secret in plain for secret in secrets.copy())


class Chaos:
    """What a proxy does with requests.

    What becomes of a request the n-th time that it is made (the same path and parameters, without
    token, digest, time and nonce) follows from `chance`, the request and n alone, however many
    threads ask. `secrets` are the tokens and digests that came by, `counts` the faults that were
    played. `late` is how many seconds the faults take that are too slow.
    """

    def __init__(self, sandbox: Sandbox, other: Scripted, chance: str, late: float) -> None:
        self.counts: Counter[str] = Counter()
        self.secrets: set[str] = set()
        self._services = {"A": sandbox.base_url, "B": sandbox.outgoing_url}
        self._other, self._chance, self._late = other, chance, late
        self._times: Counter[str] = Counter()
        self._lock = Lock()

    def plays(self, weights: Mapping[str, float]) -> None:
        """Plays these faults from now on, each as likely as this; the rest of 1 is passed on."""
        self._names = [*weights, PLAIN]
        self._bounds = list(itertools.accumulate(weights.values()))

    @property
    def strayed(self) -> list[str]:
        """All that came to the other host."""
        asked = zip(self._other.requests, self._other.headers, strict=False)
        return [f"{request} {headers}" for request, headers in asked]

    @property
    def leaked(self) -> list[str]:
        """What of that brought a secret."""
        return [told for told in self.strayed if held_in(told, self.secrets)]

    def answer(self, endpoint: Operation, query: Mapping[str, str]) -> Reply:
        """What is to become of a request."""
        own = [f"{n}={value}" for n, value in query.items() if not n.lower().endswith(_CHANGING)]
        key = f"{[endpoint.key, *own]}"
        with self._lock:
            self.secrets |= {
                value
                for name, value in query.items()
                if name.lower().endswith(_SECRET) and len(value) > 7
            }
            self._times[key] += 1
            chance = random.Random(f"{self._chance}/{key}/{self._times[key]}")
        name, asked = self._names[bisect(self._bounds, chance.random())], urlencode(query)
        elsewhere = self._other.base_url.replace("127.0.0.1", "localhost")
        try:
            came = Reply(b'{"ret": 0}')
            if name not in UNHEARD or (name not in REFUSING and chance.random() < 0.5):
                came = self._forwarded(endpoint, asked)
            if name != PLAIN and came.body.startswith(b"{"):  # it is no page of a gateway
                case = Case(came.body, chance, self._late, f"{elsewhere}{endpoint.path}?{asked}")
                came = FAULTS[name](case)
        except (OSError, HTTPException):  # the service has left
            came = Reply(drop=True)
        with self._lock:
            self.counts[name] += 1
        return came

    def _forwarded(self, endpoint: Operation, asked: str) -> Reply:
        line = HTTPConnection(urlsplit(self._services[endpoint.interface]).netloc)
        try:
            line.request("GET", f"{endpoint.path}?{asked}")
            came = line.getresponse()
            return Reply(came.read(), status=came.status)
        finally:
            line.close()


@contextmanager
def attacked(
    piece: Piece,
    sandbox: Sandbox,
    weights: Mapping[str, float],
    make: Callable[..., ck.Client] = ck.Client,
    late: float = 1.5,
    **options: Any,
) -> Iterator[tuple[Chaos, ck.Client]]:
    """The proxy before a sandbox, and a client that asks through it without waiting long."""
    with scripted({}, host="127.0.0.1") as other, scripted({}) as proxy:
        chance = f"{piece.seed}/{piece.part}/{piece.number}"
        chaos = Chaos(sandbox, other, chance, late)
        chaos.plays(weights)
        for one in OPERATIONS.values():
            proxy.script[one.path] = partial(chaos.answer, one)
        keys = (sandbox.access_key, str(sandbox.secret_key))
        own = {"dialect": sandbox.dialect, "sleep": lambda _: None, **options}
        with make(proxy.base_url, proxy.base_url, *keys, **own) as client:
            yield chaos, client
    piece.count("requests", chaos.counts.total())
    piece.count("faults", chaos.counts.total() - chaos.counts[PLAIN])
