"""How the public names of sandbox, runbook and course are driven."""

import os
import sys
import tempfile
from typing import Any
from unittest import mock

import confkit as ck
from confkit import course, runbook
from confkit.checklist import Checklist
from confkit.runbook.scenes import SCENES
from confkit.sandbox import RoomJoinRefused, Sandbox
from tests.secrets.drives import Drive, Due, listed
from tests.secrets.worlds import SMALL, World

VERDICTS = {"PASS", "FAIL", "UNKNOWN", "SKIP"}


def _other(world: World, **options: Any) -> Sandbox:
    return Sandbox(seed=1, secret_key=world.marks["profile's key"], **options)


def _started(world: World) -> str:
    with _other(world).start() as sandbox:
        return repr(sandbox)


def _joined(world: World) -> str:
    return world.sandbox.join(world.room_id, "Ada", password=world.marks["host_password"])


def _left(world: World) -> None:
    world.sandbox.leave(world.room_id, _joined(world))


def _not_joined(world: World) -> str:
    return world.sandbox.join(world.room_id, "Eve", password=world.marks["typed password"])


def _room(world: World) -> str:
    return ck.create_room(world.client, "Other", "ops", host_password=world.marks["host_password"])


def _faulty(world: World) -> Any:
    world.sandbox.fault("/rtc/room/get", body=world.marks.login(), times=1)
    return ck.get_room(world.client, world.room_id)


def _refused(world: World) -> list[str]:
    """What the sandbox says of refused calls, to a client with a wrong token and a wrong digest."""
    wrong = ck.signing.sign(world.marks["typed password"], "x", world.client.dialect)
    world.client.ask_once(ck.Request(ck.endpoints.A3, {"room_id": world.room_id}), wrong)
    digest = {"access_key": "marked access", "digest": wrong}
    world.client.ask_once(ck.Request(ck.endpoints.A1, digest))
    quoted = ck.wire.encode({"x": str(world.client.token())})
    world.client.ask_once(
        ck.Request(ck.endpoints.A3, {"room_id": world.room_id}), ck.secret.Secret(quoted)
    )
    return world.sandbox.refusals


def _simulated(world: World) -> Any:
    with _other(world) as sandbox:
        return sandbox.simulate(rooms=3, days=0.2)


def _unplugged(world: World) -> None:
    url = world.sandbox.camera(
        login_name="admin", login_password=world.marks["login_password"], **SMALL
    )
    world.sandbox.unplug(url)


def _camera(world: World) -> str:
    return world.sandbox.camera(
        login_name="admin", login_password=world.marks["login_password"], **SMALL
    )


def _snapshot(world: World) -> Any:
    return world.sandbox.snapshot(world.room_id, listed(world)[0].user_id)


SANDBOX: dict[str, Drive] = {
    "Sandbox.camera": _camera,
    "Sandbox.camera_faults": lambda w: w.sandbox.camera_faults(),
    "Sandbox.snapshot": _snapshot,
    "Sandbox.streams": lambda w: [w.sandbox.streams() for _ in listed(w)],
    "Sandbox.unplug": _unplugged,
    "ConfkitError.again": lambda w: ck.ConfkitError("x").again(),
    "DEMO_SECRET_KEY": lambda w: "published",
    "Sandbox.close": lambda w: _other(w).start().close(),
    "Sandbox.start": _started,
    "RoomJoinRefused": _not_joined,
    "Sandbox": lambda w: w.sandbox,
    "Sandbox.advance": lambda w: w.sandbox.advance(1),
    "Sandbox.clear_faults": lambda w: w.sandbox.clear_faults(),
    "Sandbox.close_room": lambda w: w.sandbox.close_room(_room(w)),
    "Sandbox.connect": lambda w: w.sandbox.connect(),
    "Sandbox.count": lambda w: w.sandbox.count(),
    "Sandbox.device_service": lambda w: w.sandbox.device_service("running"),
    "Sandbox.fault": _faulty,
    "Sandbox.is_credential": lambda w: w.sandbox.is_credential(w.client.token()),
    "Sandbox.join": _joined,
    "Sandbox.leave": _left,
    "Sandbox.licence": lambda w: w.sandbox.licence(seats=1000),
    "Sandbox.lock": lambda w: w.sandbox.lock(_room(w)),
    "Sandbox.now": lambda w: w.sandbox.now(),
    "Sandbox.people": lambda w: [w.sandbox.people(w.room_id) for _ in _joined(w)][:1],
    "Sandbox.room_ids": lambda w: w.sandbox.room_ids(),
    "Sandbox.simulate": _simulated,
    "Sandbox.start_mcu": lambda w: w.sandbox.start_mcu(),
    "Sandbox.stop_mcu": lambda w: (w.sandbox.stop_mcu(), w.sandbox.start_mcu()),
    "Sandbox.stop_simulation": lambda w: w.sandbox.stop_simulation(),
    "Sandbox.unassign_mcu": lambda w: w.sandbox.unassign_mcu(w.room_id),
    "Sandbox.unlock": lambda w: w.sandbox.unlock(_room(w)),
}
# Wrongly used: what stands in these errors' tracebacks.
SANDBOX_MISTAKES: dict[str, Drive] = {
    "a sandbox that cannot be": lambda w: _other(w, token_lifetime=-1),
    "a sandbox with a key beyond loopback": lambda w: _other(w, host="192.0.2.1").start(),
    "a camera that cannot be": lambda w: w.sandbox.camera(
        login_name="u", login_password=w.marks["login_password"], fps=-1
    ),
    "a closed sandbox": lambda w: _other(w).connect(),
    "calls that are refused": _refused,
}


def _book(world: World) -> runbook.Runbook:
    book = runbook.begin("marked", world.client)
    marks, device = world.marks, world.device

    def breaks() -> Any:
        return ck.import_device(world.client, "no-such", "d", "D", marks.login())

    steps = runbook.Steps(world.client)
    room = lambda: ck.get_room(world.client, world.room_id)  # noqa: E731
    book.show(steps.asked("the room", room, found=str))
    book.show(steps.asked("the device", lambda: device, found=str))
    book.show(steps.asked("an import", breaks))
    book.show(steps.refused("a wrong one", breaks, 423))
    book.show(steps.ready("a needed one", needs="an import"))
    book.show(steps.may_change(False, "delete the room"))
    judge = lambda device: ("FAIL", f"{device.user_address} is wrong", marks.login())  # noqa: E731
    book.show(steps.judged("its address", device, judge))
    book.add(
        steps.failed("a login", f"camera {marks.login()} refused it", f"Try {marks.login()}."),
        steps.unknown("another", f"login_password={marks['login_password']!r}", "x"),
        steps.skipped("a third", f'{{"host_password": "{marks["key"]}"}}'),
        steps.passed("a last", f"Authorization: Basic {marks['random']}"),
        steps.add(ck.Check("one more", "PASS", f"at {marks.login()}", "")),
        steps.told("its login", ("UNKNOWN", f"{marks.login()} was given")),
    )
    return book


def _ran(world: World, name: str, **inputs: Any) -> ck.Checklist:
    given = {"client": world.client, **inputs}
    return ck.Checklist(getattr(runbook, name)(**given))


def _month(world: World) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        ck.save_occupancy(world.sandbox.simulate(rooms=2, days=2, every=7200, seed=3), folder)
        return runbook.month(folder)


def _given(world: World, **variables: str) -> Any:
    with mock.patch.dict(os.environ, variables):
        return runbook.given("room", "")


def _password(world: World) -> Any:
    with mock.patch.dict(os.environ, {"CONFKIT_CAMERA_PASSWORD": world.marks["camera variable"]}):
        return runbook.camera_password("admin")


RUNBOOK: dict[str, Drive] = {
    "Runbook": lambda w: runbook.begin("marked", w.client),
    "begin": lambda w: runbook.begin("marked", w.client),
    "camera_password": _password,
    "find_room": lambda w: runbook.find_room(w.client, w.room_id),
    "find_rooms": lambda w: runbook.find_rooms(w.client, w.room_id),
    "given": lambda w: _given(w, CONFKIT_RUNBOOK_ROOM="r1"),
    **{name: lambda w: _book(w).checks
       for name in ("Runbook.add", "Runbook.show", "Steps", "Steps.add",
                    "Steps.asked", "Steps.failed", "Steps.judged", "Steps.may_change",
                    "Steps.passed", "Steps.ready", "Steps.refused", "Steps.skipped",
                    "Steps.told", "Steps.unknown")},
    "Runbook.passed": lambda w: _book(w).passed("the room"),
    "Runbook.scene": lambda w: runbook.begin("media-server-gone", w.client).scene("healthy"),
    "authentication_fails": lambda w: _ran(w, "authentication_fails"),
    "bulk_camera_import": lambda w: _ran(w, "bulk_camera_import", table=""),
    "camera_does_not_appear": lambda w: _ran(w, "camera_does_not_appear", room=w.room_id,
                                             device="marked", address=w.marks.login()),
    "capacity_review": lambda w: _ran(w, "capacity_review", recording=""),
    "connected": lambda w: runbook.connected(profile="sandbox"),
    "deployment_acceptance": lambda w: _ran(w, "deployment_acceptance"),
    "force_user_offline": lambda w: _ran(w, "force_user_offline", room=w.room_id, user="nobody"),
    "fullest": lambda w: runbook.fullest(w.client, _month(w)),
    "media_server_gone": lambda w: _ran(w, "media_server_gone", rooms=w.room_id),
    "month": _month,
    "nobody_can_join": lambda w: _ran(w, "nobody_can_join", room=w.room_id),
    "stray_devices": lambda w: _ran(w, "stray_devices", seconds=0.1),
    "to_set": lambda w: runbook.to_set("room", w.room_id),
    "Runbook.verdict": lambda w: _book(w).verdict(),
}  # fmt: skip
RUNBOOK_MISTAKES: dict[str, Drive] = {
    "an input that is a key": lambda w: _given(
        w, CONFKIT_RUNBOOK_ROOM=w.marks["secret_key"], CONFKIT_SECRET_KEY=w.marks["secret_key"]
    ),
    "an input with a login": lambda w: _given(w, CONFKIT_RUNBOOK_ROOM=w.marks.login()),
}


def _client(world: World) -> Checklist:
    """A client that prints all that it was given, which is what a beginner's does."""
    code = "import os, sys; print(dict(os.environ), sys.argv)"
    with mock.patch.dict(os.environ, {"CONFKIT_SECRET_KEY": world.marks["profile's key"]}):
        return course.check_client([sys.executable, "-S", "-c", code], only=["A3"])


def _answered(world: World) -> Any:
    return course.check("token", str(world.client.token()))


COURSE: dict[str, Drive] = {
    "Exercise": lambda w: course.exercises(),
    "Finding": _answered,
    "Progress": lambda w: course.progress(),
    "ask": lambda w: course.ask(w.client, "/rtc/room/get", room_id="1"),
    "check": _answered,
    "check_client": _client,
    "contract": lambda w: course.contract(),
    "exercises": lambda w: course.exercises(),
    "open_questions": lambda w: course.open_questions(),
    "picture": lambda w: course.picture("token"),
    "progress": lambda w: course.progress(),
    "skeleton": lambda w: course.skeleton("sh"),
    "vectors": lambda w: course.vectors(),
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
    **{
        name: lambda checks: {check.verdict for check in checks} == VERDICTS
        for name in RUNBOOK
        if name.startswith(("Runbook.", "Steps"))
        and name not in ("Runbook.passed", "Runbook.scene", "Runbook.verdict")
    },
    **{name.replace("-", "_"): lambda checks: len(checks) > 2 for name in SCENES},  # whatever is
}
