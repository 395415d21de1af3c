"""The checker: somebody's client, row by row, in three services. Each trial of a row has a service
of its own, so no trial can spoil another."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

from ...checklist import Check, Checklist
from ...devices import import_device, list_devices
from ...endpoints import ENDPOINTS
from ...errors import ConfigError
from ...many.progress import Show, progress_shown
from ...rooms import create_room, get_mcu, get_room
from ...sandbox import Sandbox
from ...text import counted
from .judging import Missing, Wrong, difference, judge, printed
from .rows import KINDS, OPERATIONS, SERVICES, Ask, Row, Service, chosen, mistake, settings, vectors
from .running import Command

LIMIT = 30.0  # seconds a run may take unless another limit is given
AT_ONCE = 2  # rows that are tried at the same time
PATIENCE = 4.0  # seconds above CONFKIT_TIMEOUT and what the client takes for a call anyway
ROOM = "00123"  # the room that is there where a row's scene has one
ADA = "c0ffee00-0000-4000-8000-000000000007"
LOGIN = {"login_name": "admin", "login_password": 'p"w\\&+=%41 #'}
AWKWARD = 'Café 会议 🚀 "q" \\ 50% + a&b=c %41 #1'


def check_client(
    command: Sequence[str],
    *,
    only: Sequence[str] = (),
    limit: float = LIMIT,
    progress: bool | Show | None = False,
    each: Callable[[Check], object] | None = None,
) -> Checklist:
    """Return what a client in any language gets right (PASS), wrong (FAIL) or does not know
    (UNKNOWN), a check for each row of the contract.

    `command` starts it; the operation and its arguments are added (see `course.contract()`).
    It runs against three services on this machine with keys of their own, once or twice a row and
    service; a run of more than `limit` seconds is ended, with all that it started. `only` names
    rows, `progress` is that of `sweep`, and `each` is called with every check when it is done.
    ConfigError: the command cannot be started, or a row is unknown.
    """
    if isinstance(command, str) or not command:
        raise ConfigError(
            "the command is a list of words, such as ['java', 'Client.java']",
            "In a terminal: confkit course check -- java Client.java",
        )
    if not limit > 0:
        raise ConfigError(f"limit is {limit!r}", "It is a number of seconds above 0.")
    client, rows = Command(command, limit), chosen(tuple(only))
    with (
        progress_shown(progress, len(rows), "rows") as step,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        try:  # from the first on: whatever is under way ends with the call
            checks = [pool.submit(_checked, client, row) for row in rows]
            left = set(checks)
            while left:  # in short spells, so that Windows sees Ctrl-C
                done, left = wait(left, timeout=0.5, return_when=FIRST_COMPLETED)
                for check in done:
                    step()
                    if each:
                        each(check.result())
        finally:
            client.stop.set()
            pool.shutdown(cancel_futures=True)
    return Checklist(check.result() for check in checks)


def _checked(client: Command, row: Row) -> Check:
    """The check of a row: the worst one, of the first service that had it."""
    services = SERVICES if row.everywhere else SERVICES[:1]
    checks = [_tried(client, row, service) for service in services]
    right = sum(check.verdict == "PASS" for check in checks)
    if right == len(checks):
        return replace(checks[0], found=f"right in {counted(right, 'service')}")
    worst = min(checks, key=lambda check: ("FAIL", "UNKNOWN", "PASS").index(check.verdict))
    share = f" ({right} of {len(checks)} services right)" * (len(checks) > 1)
    return replace(worst, found=worst.found + share)


def _tried(client: Command, row: Row, service: Service) -> Check:
    """What a client makes of a row in a service that is started for it."""
    name, service_is = f"{row.name}, {row.title}", service.dialect.changes().items()
    usual = f"This service has {', '.join(f'{key}={value}' for key, value in service_is)}."
    with Sandbox(
        seed=7,
        dialect=service.dialect,
        access_key=service.access_key,
        secret_key=service.secret_key,
    ) as sandbox:
        trial = _Trial(client, service, sandbox)
        trial.prepare(row.scene)
        for ask in row.asks:
            try:
                trial.make(ask)
            except Missing:
                return Check(name, "UNKNOWN", f"it does not know {ask.operation}")
            except Wrong as wrong:
                found = f"{service.name}, {ask.operation}: {wrong.found}"
                advice = wrong.advice or ask.advice or usual * bool(service_is)
                return Check(name, "FAIL", found, advice)
    return Check(name, "PASS", "right")


class _Trial:
    """A running service, and the client under test in it."""

    def __init__(self, client: Command, service: Service, sandbox: Sandbox) -> None:
        self._client, self._sandbox, self._ours = client, sandbox, sandbox.connect()
        self._seconds = 0.0  # of the last run
        self._environment = {
            **{name: text for name, text in os.environ.items() if "CONFKIT_" not in name},
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            "LC_ALL": "C.UTF-8",
            **settings(service.dialect),
            "CONFKIT_BASE_URL": sandbox.base_url,
            "CONFKIT_OUTGOING_URL": sandbox.outgoing_url,
            "CONFKIT_ACCESS_KEY": service.access_key,
            "CONFKIT_SECRET_KEY": service.secret_key,
            "CONFKIT_TIMEOUT": "10",
        }
        small = partial(sandbox.camera, size=(160, 120), fps=5)
        self._known: dict[str, Callable[[], str]] = {  # what stands in <...> in a row
            "<awkward>": lambda: AWKWARD,
            "<Ada>": lambda: ADA,
            "<login>": lambda: json.dumps(LOGIN, separators=(",", ":")),
            "<media server>": lambda: get_mcu(self._ours, ROOM),
            "<new room>": lambda: next(iter(sandbox.room_ids()), "no room"),
            "<open camera>": cache(small),
            "<locked camera>": cache(partial(small, None, *LOGIN.values())),
        }

    def prepare(self, scene: Sequence[str]) -> None:
        """Make what is there before."""
        sandbox, ours = self._sandbox, self._ours
        if "room" in scene:
            create_room(ours, "Weekly sync", owner_id="ops", attendee_max=25, room_extend_id=ROOM)
        if "people" in scene:
            sandbox.join(ROOM, "Ada", user_id=ADA)
            sandbox.join(ROOM, AWKWARD)
        if "device" in scene:
            camera = self._known["<locked camera>"]()
            import_device(ours, ROOM, "cam 1/a", AWKWARD, camera, options=LOGIN)
        if "closed" in scene:
            sandbox.close_room(ROOM)

    def make(self, ask: Ask) -> None:
        """Run the client once. Wrong, Missing: what it did is not what is wanted."""
        sandbox, key = self._sandbox, OPERATIONS[ask.operation]
        given, environ = ask.given, ask.environ
        vector: dict[str, str] = {}
        if ask.vector is not None:
            vector = vectors()["vectors"][ask.vector]
            given = {name: vector[name] for name in ("random", "key")}
            named = ("access_key", "secret_key", "hash", "signature")
            environ = {f"CONFKIT_{name.upper()}": vector[name] for name in named}
        environment = {**self._environment, **environ}
        words = [f"{name}={value}" for name, value in self._filled(given).items()]
        before, refusals, remarks = self._requests(), sandbox.refusals, sandbox.remarks
        if ask.fault:
            sandbox.fault(ENDPOINTS[key].path, **ask.fault)
        run = self._client.run([ask.operation, *words], environment)
        sandbox.clear_faults()
        usual, self._seconds = self._seconds, run.seconds
        secrets = [each["CONFKIT_SECRET_KEY"] for each in (environment, self._environment)]
        said = printed(run, secrets, sandbox.is_credential)
        refusal = sandbox.refusals[-1] if sandbox.refusals != refusals else ""
        refusal *= not refusal.endswith("a fault on demand")
        # With a colon behind them `mask` would take what follows for a digest or a token.
        refusal = refusal.replace(" digest: ", " digest, ").replace(" token: ", " token, ")
        judge(ask, self._filled(ask.answer), said, self._requests() - before, refusal)
        for kind in KINDS if vector else ():
            if found := mistake(vector, kind, said.get(kind)):
                raise Wrong(found)
        if sandbox.remarks != remarks:
            advice = "Send what is given, whole and percent-encoded, and nothing else."
            raise Wrong(sandbox.remarks[-1], advice)
        timeout = environ.get("CONFKIT_TIMEOUT")
        if timeout and run.seconds > usual + float(timeout) + PATIENCE:
            raise Wrong(f"it waited for more than {PATIENCE:g} seconds beyond CONFKIT_TIMEOUT")
        if ask.leaves and (found := difference(self._filled(ask.leaves), self._left())):
            raise Wrong(f"it reports success, and in the service {found}")

    def _requests(self) -> Counter[str]:
        return Counter({name: self._sandbox.count(end.path) for name, end in ENDPOINTS.items()})

    def _filled(self, value: Any) -> Any:
        """The value of a row with what it stands for in the place of each <...>."""
        text = json.dumps(value)
        for name, known in self._known.items():
            if f'"{name}"' in text:
                text = text.replace(f'"{name}"', json.dumps(known()))
        return json.loads(text)

    def _left(self) -> dict[str, Any]:
        """What the service holds: its rooms, and the people and devices that are in them."""
        rooms = sorted(self._sandbox.room_ids())
        return {
            "rooms": [asdict(get_room(self._ours, room)) for room in rooms],
            "people": [person for room in rooms for person in self._sandbox.people(room)],
            "devices": [asdict(device) for device in list_devices(self._ours)],
        }
