"""A client in one service: each run of it, and whether what came of it is what a row wants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from threading import Event
from typing import Any, NamedTuple

from ...checklist import Verdict
from ...devices import import_device
from ...dialect import Dialect
from ...endpoints import ENDPOINTS
from ...errors import lookup
from ...rooms import create_room, delete_room
from ...sandbox import Sandbox
from .judging import Missing, Wrong, difference, printed, shown
from .rows import AWKWARD, CAMERA, LOCKED, LOGIN, MADE, ROOM, USER, Ask, Row, held
from .running import Run, run
from .services import OPERATIONS, Service, own_environment, settings

HANGS = 3  # after so many runs that had to be ended no further one is made
PATIENCE = 4.0  # seconds above CONFKIT_TIMEOUT and what the client takes for a call anyway
_IN_RESULT = "Interface B of this service has its code in result (CONFKIT_RESULT_FIELD)."
_IN_SNAKE_CASE = "The items of this service have snake_case names (CONFKIT_ITEM_KEYS)."


class Outcome(NamedTuple):
    """What a row was in one service."""

    service: str
    verdict: Verdict
    found: str = ""
    advice: str = ""


class Tries:
    """The runs of a command in all services; `stop` ends those that go on."""

    def __init__(self, command: Sequence[str], limit: float) -> None:
        self._command, self._limit = command, limit
        self._hung = 0
        self.stop = Event()

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> Run:
        """Run the command with these words. Wrong: too many runs had to be ended before."""
        if self._hung >= HANGS:
            raise Wrong(f"not tried, as {HANGS} runs before it had to be ended")
        made = run([*self._command, *words], environment, self._limit, self.stop)
        if self.stop.is_set():
            raise KeyboardInterrupt
        self._hung += bool(made.ended)
        return made


class Stage:
    """A running service, and the client under test in it."""

    def __init__(self, service: Service, sandbox: Sandbox, tries: Tries) -> None:
        self._service, self._sandbox, self._tries = service, sandbox, tries
        self._ours = sandbox.connect()
        self._cameras: dict[str, str] = {}
        self._seconds = 0.0  # of the last run
        self._environment = {
            **own_environment(),
            **settings(service.dialect),
            "CONFKIT_BASE_URL": sandbox.base_url,
            "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
            "CONFKIT_ACCESS_KEY": service.access_key,
            "CONFKIT_SECRET_KEY": service.secret_key,
            "CONFKIT_TIMEOUT": "10",
        }

    def tried(self, row: Row) -> Outcome:
        """Return what the client makes of a row."""
        self._prepare(row.scene)
        for ask in row.asks:
            where = f"{self._service.name}, {ask.operation}"
            try:
                self._ask(ask)
            except Missing:
                found = f"it does not know {ask.operation}"
                return Outcome(self._service.name, "UNKNOWN", found)
            except Wrong as wrong:
                found, advice = f"{where}: {wrong.found}", wrong.advice
                advice = ask.advice if advice is None else advice
                return Outcome(self._service.name, "FAIL", found, advice)
        return Outcome(self._service.name, "PASS")

    def _prepare(self, scene: Sequence[str]) -> None:
        sandbox, ours = self._sandbox, self._ours
        for room in sandbox.room_ids():
            delete_room(ours, room)
        if "room" in scene:
            create_room(ours, "Weekly sync", owner_id="ops", attendee_max=25, room_extend_id=ROOM)
        if "people" in scene:
            sandbox.join(ROOM, "Ada", user_id=USER)
            sandbox.join(ROOM, AWKWARD)
        if "device" in scene:
            camera = self._filled(LOCKED)
            import_device(ours, ROOM, "cam 1/a", AWKWARD, camera, options=LOGIN)
        if "closed" in scene:
            sandbox.close_room(ROOM)

    def _filled(self, value: Any) -> Any:
        """A value with the cameras' addresses and the number of the room that was made in it."""
        text = json.dumps(value)
        if MADE in text:
            text = text.replace(MADE, next(iter(self._sandbox.room_ids()), "no room"))
        for name, login in ((CAMERA, {}), (LOCKED, LOGIN)):
            if name in text and name not in self._cameras:
                self._cameras[name] = self._sandbox.camera(
                    None,
                    login.get("login_name"),
                    login.get("login_password"),
                    size=(160, 120),
                    fps=5,
                )
            text = text.replace(name, self._cameras.get(name, ""))
        return json.loads(text)

    def _ask(self, ask: Ask) -> None:
        """Run the client once. Wrong, Missing: what it did is not what is wanted."""
        key, sandbox = OPERATIONS[ask.operation], self._sandbox
        environment = {**self._environment, **ask.environ}
        given = [f"{name}={value}" for name, value in self._filled(ask.given).items()]
        before = {name: sandbox.count(end.path) for name, end in ENDPOINTS.items()}
        refusals, remarks, usual = sandbox.refusals, sandbox.remarks, self._seconds
        if ask.fault:
            sandbox.fault(ENDPOINTS[key].path, **ask.fault)
        try:
            made = self._tries.run([ask.operation, *given], environment)
        finally:
            sandbox.clear_faults()
        self._seconds = made.seconds
        secrets = (self._service.secret_key, environment["CONFKIT_SECRET_KEY"])
        said = printed(made, secrets, sandbox.is_credential)
        sent = {name: sandbox.count(end.path) - before[name] for name, end in ENDPOINTS.items()}
        refusal = sandbox.refusals[-1] if sandbox.refusals != refusals else ""
        refusal *= not refusal.endswith("a fault on demand")
        # With a colon behind them `mask` would take what follows for a digest or a token.
        refusal = refusal.replace(" digest: ", " digest, ").replace(" token: ", " token, ")
        wanted = ask.answer(self._ours) if callable(ask.answer) else self._filled(ask.answer)
        _judge(ask, wanted, said, sent, refusal, self._service.dialect)
        if sandbox.remarks != remarks:
            odd = sandbox.remarks[-1]
            advice = "What is not given is not to be sent."
            raise Wrong(odd, advice if odd.endswith("came empty") else None)
        timeout = ask.environ.get("CONFKIT_TIMEOUT")
        if timeout and made.seconds > usual + float(timeout) + PATIENCE:
            raise Wrong(f"it waited for more than {PATIENCE:g} seconds beyond CONFKIT_TIMEOUT")
        if ask.leaves:
            there = held(self._ours, sorted(sandbox.room_ids()), sandbox.people)
            if found := difference(ask.leaves, there):
                raise Wrong(f"it reports success, and in the service {found}")


def _judge(
    ask: Ask,
    wanted: Any,
    said: Mapping[str, Any],
    sent: Mapping[str, int],
    refusal: str,
    dialect: Dialect,
) -> None:
    """Wrong unless the client says what is wanted, after so many requests."""
    key, ret, success = OPERATIONS[ask.operation], said["ret"], isinstance(wanted, Mapping)
    users = said.get("user_list")
    reported = f"{len(users)} users" if isinstance(users, list) else "success"
    if ret != 0:
        reported = f"ret {shown(ret)}: {shown(said['error'])}"
    refused = f"the service refused it. {refusal}"
    if not sent.get(key, 1):
        nowhere = f"it reports {reported}, and no request of {key} reached the service"
        raise Wrong(refused if refusal and ret != 0 else nowhere, "")
    for name, least, most, what in ask.sent:
        if not least <= sent[name] <= most:
            raise Wrong(what.format("once" if sent[name] == 1 else f"{sent[name]} times"))
    if success and ret != 0 and refusal:
        raise Wrong(refused)
    if success and ret != 0:
        older = key.startswith("B") and dialect.result_field == "result"
        raise Wrong(f"it reports {reported}, and the call succeeded", _IN_RESULT if older else None)
    if success:
        found = ask.vector.mistakes(said) if ask.vector else difference(wanted, said)
        if found and refusal:
            raise Wrong(f"it reports success where the call failed ({refusal})")
        if found:
            older = "items[" in found and dialect.item_keys == "snake_case"
            raise Wrong(found, _IN_SNAKE_CASE if older else None)
        return
    meaning = lookup(wanted, ENDPOINTS[key].interface)[0].meaning if wanted else ""
    came = f"the service answered {wanted} ({meaning})"
    if wanted is None:
        came = f"no answer of the interface came{f' ({refusal})' if refusal else ''}"
    if ret == 0:
        raise Wrong(f"it reports {reported} where the call failed: {came}")
    if ret != wanted:
        raise Wrong(f"it reports {reported}, and {came}")
    if ask.means not in said["error"].lower():
        error = shown(said["error"])
        raise Wrong(f"it calls {ret} of interface {key[0]} {error}; there it means {meaning}")
