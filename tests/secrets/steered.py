"""How the public names of sandbox, runbook and course are driven beyond a call of them."""

import os
import sys
from typing import Any
from unittest import mock

import confkit as ck
from confkit import course, runbook, sandbox
from confkit.runbook import library
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.secrets.drives import Due
from tests.secrets.given import Drive, by_name, created, listed
from tests.secrets.worlds import SMALL, World

VERDICTS = {"PASS", "FAIL", "UNKNOWN", "SKIP"}


def _other(world: World, **options: Any) -> Sandbox:
    return Sandbox(seed=1, secret_key=world.marks["profile's key"], **options)


def _started(world: World) -> str:
    with _other(world).start() as started:
        return repr(started)


def _simulated(world: World) -> Any:
    with _other(world) as other:
        return other.simulate(rooms=3, days=0.2)


def _joined(world: World, password: str = "host_password") -> str:
    return world.sandbox.join(world.room_id, "Ada", password=world.marks[password])


def _faulty(world: World) -> Any:
    world.sandbox.fault("/rtc/room/get", body=world.marks.login(), times=1)
    return ck.get_room(world.client, world.room_id)


def refused(world: World) -> list[str]:
    """What the sandbox says of refused calls, to a client with a wrong token and a wrong digest."""
    client, room = world.client, ck.Request(ck.endpoints.A3, {"room_id": world.room_id})
    wrong = ck.signing.sign(world.marks["typed password"], "x", client.dialect)
    client.ask_once(room, wrong)
    login = {"access_key": "marked access", "digest": wrong}
    client.ask_once(ck.Request(ck.endpoints.A1, login))
    client.ask_once(room, ck.secret.Secret(ck.wire.encode({"x": str(client.token())})))
    return world.sandbox.refusals


def _camera(world: World, **more: Any) -> str:
    password = world.marks["login_password"]
    return world.sandbox.camera(login_name="admin", login_password=password, **{**SMALL, **more})


SANDBOX: dict[str, Drive] = {
    **by_name(sandbox, {"Sandbox": lambda w: w.sandbox}),
    "DEMO_SECRET_KEY": lambda w: "published",
    "ConfkitError.again": lambda w: ck.ConfkitError("x").again(),
    "RoomJoinRefused": lambda w: _joined(w, "typed password"),
    "Sandbox.camera": _camera,
    "Sandbox.close": lambda w: _other(w).start().close(),
    "Sandbox.close_room": lambda w: w.sandbox.close_room(created(w)),
    "Sandbox.fault": _faulty,
    "Sandbox.is_credential": lambda w: w.sandbox.is_credential(w.client.token()),
    "Sandbox.leave": lambda w: w.sandbox.leave(w.room_id, _joined(w)),
    "Sandbox.lock": lambda w: w.sandbox.lock(created(w)),
    "Sandbox.people": lambda w: [w.sandbox.people(w.room_id) for _ in _joined(w)][:1],
    "Sandbox.simulate": _simulated,
    "Sandbox.start": _started,
    "Sandbox.stop_mcu": lambda w: (w.sandbox.stop_mcu(), w.sandbox.start_mcu()),
    "Sandbox.streams": lambda w: [w.sandbox.streams() for _ in listed(w)],
    "Sandbox.unplug": lambda w: w.sandbox.unplug(_camera(w)),
}
# Wrongly used: what stands in these errors' tracebacks.
SANDBOX_MISTAKES: dict[str, Drive] = {
    "a sandbox that cannot be": lambda w: _other(w, token_lifetime=-1),
    "a sandbox with a key beyond loopback": lambda w: _other(w, host="192.0.2.1").start(),
    "a camera that cannot be": lambda w: _camera(w, fps=-1),
    "a closed sandbox": lambda w: _other(w).connect(),
    "calls that are refused": refused,
}


def _book(world: World) -> runbook.Runbook:
    book, marks = runbook.begin("marked", world.client), world.marks

    def breaks() -> Any:
        return ck.import_device(world.client, "no-such", "d", "D", marks.login())

    def judge(judged: ck.Device) -> tuple[Any, str, str]:
        return "FAIL", f"{judged.user_address} is wrong", marks.login()

    book.show(runbook.asked("the room", lambda: ck.get_room(world.client, world.room_id), str))
    book.show(runbook.asked("the device", lambda: world.device, judge))
    book.show(runbook.asked("an import", breaks))
    book.show(runbook.may_change(world.client, False, "delete the room"))
    for found in (
        f"camera {marks.login()} refused it",
        f"login_password={marks['login_password']!r}",
        f'{{"host_password": "{marks["key"]}"}}',
        f"Authorization: Basic {marks['random']}",
    ):
        book.add(ck.Check("a login", "UNKNOWN", found, f"Try {marks.login()}."))
    return book


def _given(world: World, name: str = "room", **variables: str) -> Any:
    with mock.patch.dict(os.environ, variables):
        return runbook.camera_password("admin") if name == "password" else runbook.given(name, "")


_RUNBOOKS = [one.name for one in library.stored()]
_BOOKED = ("Runbook.add", "Runbook.show", "asked", "may_change")
RUNBOOK: dict[str, Drive] = {
    **by_name(runbook, {"Runbook": lambda w: runbook.begin("media-server-gone", w.client)}),
    **dict.fromkeys(_BOOKED, lambda w: _book(w).checks),
    "Runbook.passed": lambda w: _book(w).passed("the room"),
    "Runbook.scene": lambda w: runbook.begin("media-server-gone", w.client).scene("healthy"),
    "Runbook.verdict": lambda w: _book(w).verdict(),
    "camera_does_not_appear": lambda w: ck.Checklist(
        runbook.camera_does_not_appear(w.client, w.room_id, "marked", address=w.marks.login())
    ),
    "camera_password": lambda w: _given(
        w, "password", CONFKIT_CAMERA_PASSWORD=w.marks["camera variable"]
    ),
    "connected": lambda w: runbook.connected(profile="sandbox"),
    "given": lambda w: _given(w, CONFKIT_RUNBOOK_ROOM="r1"),
}
RUNBOOK_MISTAKES: dict[str, Drive] = {
    "an input that is a key": lambda w: _given(
        w, CONFKIT_RUNBOOK_ROOM=w.marks["secret_key"], CONFKIT_SECRET_KEY=w.marks["secret_key"]
    ),
    "an input with a login": lambda w: _given(w, CONFKIT_RUNBOOK_ROOM=w.marks.login()),
}


def _client(world: World) -> ck.Checklist:
    """A client that prints all that it was given, which is what a beginner's does."""
    code = "import os, sys; print(dict(os.environ), sys.argv)"
    with mock.patch.dict(os.environ, {"CONFKIT_SECRET_KEY": world.marks["profile's key"]}):
        return course.check_client([sys.executable, "-S", "-c", code], only=["A3"])


COURSE: dict[str, Drive] = {
    **by_name(
        course,
        {
            "Exercise": lambda w: course.exercises(),
            "Finding": lambda w: course.check("token", str(w.client.token())),
            "Progress": lambda w: course.progress(),
        },
    ),
    "ask": lambda w: course.ask(w.client, "/rtc/room/get", room_id="1"),
    "check_client": _client,
}
# What comes of these where all is well, beyond that something comes.
DUE: dict[str, Due] = {
    "check_client": lambda checks: not checks.ok,  # a client that prints its key is wrong
    "RoomJoinRefused": RoomJoinRefused,
    "Runbook.verdict": lambda checks: checks.verdict == "FAIL",
    "Sandbox.fault": ck.ProtocolError,
    "a camera that cannot be": ValueError,
    "a closed sandbox": ck.ConfkitError,
    "a sandbox that cannot be": ck.ConfigError,
    "a sandbox with a key beyond loopback": ck.ConfigError,
    "an input that is a key": ck.ConfigError,
    "an input with a login": ck.ConfigError,
    **dict.fromkeys(_BOOKED, lambda checks: {check.verdict for check in checks} == VERDICTS),
    **{name.replace("-", "_"): lambda checks: len(checks) > 0 for name in _RUNBOOKS},  # whatever is
}
