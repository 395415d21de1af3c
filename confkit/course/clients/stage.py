"""Where a client is tried: one service with its rooms, and what a run did to it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import codes
from ...endpoints import ENDPOINTS
from ...rooms import create_room
from . import judging
from .dialects import Service, environment
from .judging import Wrong
from .operations import OPERATIONS
from .running import Run, Runner

if TYPE_CHECKING:
    from ...client import Client
    from ...sandbox import Sandbox

HANGS = 3  # after so many runs that had to be ended no further one is made
_KEPT = 200  # refusals, and remarks, that the sandbox keeps
LOGIN = {"login_name": "admin", "login_password": 'p"w\\&+=%41 #'}


class GaveUp(Wrong):
    """Too many runs had to be ended; the others are not made."""


class Cameras:
    """Two cameras that all stages share: an open one, and one with a login."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._urls: dict[str, str] = {}
        self._lock = threading.Lock()

    @property
    def open(self) -> str:
        """The address of the open one."""
        return self._url("open")

    @property
    def locked(self) -> str:
        """The address of the one with a login."""
        return self._url("locked", *LOGIN.values())

    def _url(self, path: str, *login: str) -> str:
        with self._lock:  # stages ask at the same time
            if path not in self._urls:
                name, password = login or (None, None)
                self._urls[path] = self._sandbox.camera(
                    path, name, password, size=(160, 120), fps=5
                )
            return self._urls[path]


class Stage:
    """A running service, what the client under test is told of it, and our own client beside it."""

    def __init__(
        self, service: Service, sandbox: Sandbox, client: Client, cameras: Cameras, tries: Tries
    ) -> None:
        self.service, self.sandbox, self.client = service, sandbox, client
        self.cameras = cameras
        self._tries = tries
        self._counts: dict[str, int] = {}
        self._before: tuple[Sequence[str], Sequence[str]] = [], []
        self.operation = ""
        self.seconds = 0.0

    def room(self, topic: str = "Weekly sync", **fields: Any) -> str:
        """The number of a new room."""
        return create_room(self.client, topic, owner_id="ops", **fields)

    def ask(
        self,
        operation: str,
        *,
        environ: dict[str, str] | None = None,
        timeout: int = 10,
        **arguments: str,
    ) -> dict[str, Any]:
        """What the client prints when it is asked this. Wrong, Missing: see `judging.answer`."""
        assert operation in OPERATIONS  # noqa: S101  # or the contract would not tell of it
        self.operation = operation
        self._before = self.sandbox.refusals, self.sandbox.remarks
        self._counts = {key: self.sandbox.count(end.path) for key, end in ENDPOINTS.items()}
        given = {**environment(self.sandbox, timeout), **(environ or {})}
        words = [operation, *(f"{name}={value}" for name, value in arguments.items())]
        run = self._tries.run(words, given)
        self.seconds = run.seconds
        secrets = (str(self.sandbox.secret_key), given["CONFKIT_SECRET_KEY"])
        return judging.answer(run, tuple(filter(None, secrets)), self.sandbox.is_credential)

    def sent(self, key: str) -> int:
        """How many requests of this row of the interface the last run made."""
        return self.sandbox.count(ENDPOINTS[key].path) - self._counts[key]

    def succeeds(self, said: dict[str, Any], **members: Any) -> None:
        """Wrong unless the client reports success with these members."""
        if said["ret"] != 0:
            raise Wrong(self._not_success(said))
        told = judging.difference(members, said)
        if told and (refusal := self._refusal()):
            raise Wrong(f"it reports success where the call failed ({refusal})")
        if told:
            raise Wrong(told + self._spelling(told))
        row = OPERATIONS[self.operation].row
        if row and not self.sent(row):
            raise Wrong(f"it reports success, and no request of {row} reached the service")
        if odd := _new(self._before[1], self.sandbox.remarks):
            empty = "; what is not given is not to be sent" * odd[0].endswith("came empty")
            raise Wrong(odd[0] + empty)

    def fails(self, said: dict[str, Any], ret: int | None, count: str = "success") -> None:
        """Wrong unless the client reports this result code, None: that no answer came."""
        if said["ret"] == ret:
            return
        key = OPERATIONS[self.operation].row
        came = "no answer of the interface came"
        if ret is not None:
            meaning = codes.lookup(ret, ENDPOINTS[key].interface)[0].meaning
            came = f"the service answered {ret} ({meaning})"
        if said["ret"] == 0:
            raise Wrong(f"it reports {count} where the call failed: {came}")
        reported = "no answer" if said["ret"] is None else f"ret {said['ret']}"
        more = f" ({refusal})" if ret is None and (refusal := self._refusal()) else ""
        raise Wrong(f"it reports {reported}, and {came}{more}")

    def _not_success(self, said: dict[str, Any]) -> str:
        if refusal := self._refusal():
            return f"the service refused it. {refusal}"
        reported = f"ret {judging.shown(said['ret'])}: {judging.shown(said['error'])}"
        if not any(self.sent(key) for key in ENDPOINTS):
            return f"no request reached the service; it reports {reported}"
        told = f"the service answered with success, and it reports {reported}"
        row = OPERATIONS[self.operation].row
        if row.startswith("B") and self.service.dialect.result_field == "result":
            told += ". Interface B of this service has its code in result (CONFKIT_RESULT_FIELD)"
        return told

    def _spelling(self, told: str) -> str:
        snake = self.service.dialect.item_keys == "snake_case"
        if OPERATIONS[self.operation].row == "B3" and "items[" in told and snake:
            return ". The items of this service have snake_case names (CONFKIT_ITEM_KEYS)"
        return ""

    def _refusal(self) -> str:
        """What was wrong with the run's last refused call, as the service saw it."""
        new = _new(self._before[0], self.sandbox.refusals)
        if not new:
            return ""
        # With a colon behind them `mask` would take what follows for a digest or a token.
        return new[-1].replace(" digest: ", " digest, ").replace(" token: ", " token, ")


def _new(before: Sequence[str], now: Sequence[str]) -> Sequence[str]:
    """What was added to one of the sandbox's lists, which drops the oldest where it is full."""
    return now[len(before) :] if len(now) < _KEPT else now


class Tries:
    """The runs of all stages: they share one runner and one patience."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._ended = 0

    def run(self, words: list[str], environment: dict[str, str]) -> Run:
        """One run. GaveUp: too many have had to be ended before."""
        if self._ended >= HANGS:
            raise GaveUp(f"not tried, as {HANGS} runs before it had to be ended")
        run = self._runner.run(words, environment)
        self._ended += bool(run.ended)
        return run


Trial = Callable[[Stage], None]


def compact(value: Any) -> str:
    """JSON without blanks, as an argument of a run."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
