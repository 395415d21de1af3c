"""How each public name of `confkit` is driven beyond a call of it, and what comes of that."""

import io
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest import mock

import confkit as ck
from confkit import profiles
from confkit.deployment import service_answers
from confkit.endpoints import A2, A3, A6, B1, B3, Endpoint
from confkit.errors import codes
from tests.secrets.given import (
    Drive,
    by_name,
    created,
    device,
    imported,
    listed,
    samples,
    swept,
    table,
)
from tests.secrets.worlds import World

Due = type[BaseException] | Callable[[Any], bool]
NOBODY = {"body": '{"ret": 0, "user_list": []}'}  # of A6


def _recorded(world: World) -> ck.Recorded:
    folder = world.folder / f"occupancy{world.chance.randrange(10**9)}"
    return ck.Recorder(folder).record(world.client, [world.room_id], sweeps=1)


def _asked(world: World) -> Any:
    with mock.patch("sys.stdin", io.StringIO(world.marks["typed password"] + "\n")):
        return ck.ask_secret("password: ")


def _probe(world: World, failed: int = 1, **changes: str) -> ck.Probe:
    keys = {**world.keys, **changes}
    return ck.probe_dialect(**keys, max_failed_logins=failed, sleep=lambda _: None)


def _profiled(world: World) -> Any:
    """A probe's dialect in a profile, which keeps its key and shows it nowhere."""
    keys = {name: world.keys[name] for name in ("base_url", "outgoing_url", "access_key")}
    profiles.save("marked", {**keys, "secret_key": world.marks["profile's key"]})
    return profiles.load("marked") and _probe(world).save("marked")


@contextmanager
def wrong_key(world: World) -> Any:
    """The client with another key, which is refused where the service is well."""
    client = world.client
    other = ck.secret.Secret(world.marks["profile's key"])
    client._token.held = None
    kept, client.secret_key = client.secret_key, other
    try:
        yield client
    finally:
        client.secret_key, client._token.held = kept, None


def faulty(
    act: Callable[[World, ck.Device], Any], *faults: tuple[Endpoint, dict[str, Any]]
) -> Drive:
    """What is done with a device of the room while the real service has these faults."""

    def run(world: World) -> Any:
        given = device(world)
        for endpoint, options in faults if world.sandbox else ():
            world.sandbox.fault(endpoint.path, **options)
        try:
            return act(world, given)
        finally:
            if world.sandbox:
                world.sandbox.clear_faults()

    return run


def answered(code: int, endpoint: Endpoint) -> Drive:
    """The error of a code that an operation answers, with secrets in its text."""

    def ask(world: World) -> Any:
        password = world.marks["login_password"]
        members = {"ret": code, "msg": f"login {password} {world.marks.login()}"}
        answer = ck.wire.Answer(200, "", ck.wire.compact(members).encode(), (password,))
        raise ck.wire._outcome(endpoint, answer, world.client.dialect)

    return ask


def _changed(world: World, **options: Any) -> ck.Client:
    return ck.connect(**{**world.keys, **options})


def _read_only(world: World) -> Any:
    with _changed(world, read_only=True) as client:
        return ck.create_room(client, "t", "ops", host_password=world.marks["host_password"])


def _try(world: World, **more: Any) -> ck.Report:
    return ck.preflight(world.with_login, timeout=8, **more)


def _removed(world: World) -> Any:
    gone = imported(world) if world.well else world.device
    return ck.remove_device(world.client, world.room_id, gone.user_id)


def _people(world: World) -> list[ck.RoomUser]:
    """Who is in the room, a device among them where all is well."""
    device(world)
    return ck.get_room_users(world.client, world.room_id)


def again(world: World, given: ck.Device) -> ck.Device:
    """The device, imported again."""
    return ck.reimport_device(world.client, given)


# Things that are there, or come of a call.
THINGS: dict[str, Drive] = {
    "Call": lambda w: w.client.calls,
    "Checklist": lambda w: ck.doctor(w.client, timeout=10),
    "Client": lambda w: w.client,
    "Device": lambda w: w.device,
    "Dialect": lambda w: ck.Dialect(hash="md5"),
    "Evidence": lambda w: list(_probe(w).evidence),
    "Explanation": lambda w: ck.explain(602),
    "Failure": lambda w: swept(w).failures,
    "Probe": _probe,
    "Recorded": _recorded,
    "Report": _try,
    "Room": lambda w: ck.Room(room_id="1", host_password=w.marks["host_password"]),
    "Sweep": swept,
}
# What these do is to fail, so that they are driven to it, wherever that is.
ERRORS: dict[str, Drive] = {
    **{
        code.error: answered(code.ret, B1 if code.interface == "B" else A3)
        for code in reversed(codes())
    },
    "ApiError": answered(700, A3),
    "ConfigError": lambda w: _changed(w, base_url=f"http://u:{w.marks['password in base_url']}@h"),
    "ConfkitError": lambda w: ck.get_room(w.client, "no-such"),
    "NotInRoom": faulty(lambda w, _: imported(w, verify=True, patience=0.1), (A6, NOBODY)),
    "OutcomeUnknown": faulty(
        lambda w, _: ck.create_room(w.client, "t", "ops", host_password=w.marks["host_password"]),
        (A2, {"drop": True}),
    ),
    "Unsettled": faulty(lambda w, _: created(w), (A2, {"ret": 503, "after": True})),
    "UnsettledTimeout": faulty(lambda w, _: created(w), (A2, {"ret": 504, "after": True})),
    "PreflightFailed": lambda w: imported(
        w, preflight=True, login_password=w.marks["login_password"]
    ),
    "ProtocolError": faulty(
        lambda w, _: ck.list_devices(w.client), (B3, {"body": "<html>login_password=hidden"})
    ),
    "ReadOnlyError": _read_only,
    "RecordingError": lambda w: ck.save_occupancy(
        samples(w), w.file("notes.bin", w.marks.login()) / "x"
    ),
    "ReimportFailed": faulty(again, (B1, {"ret": 426})),
    "ReimportUnknown": faulty(again, (B1, {"drop": True}), (B3, {"drop": True})),
    "TableError": lambda w: ck.import_devices(
        w.client, table(w, user_address=w.marks.login(), login_name="", user_name="")
    ),
    "TransportError": lambda w: ck.get_room(_changed(w, base_url="http://127.0.0.1:9"), "1"),
    "TransportTimeout": lambda w: ck.get_room(_changed(w, timeout=(1.0, 0.000001)), "1"),
}
DRIVES: dict[str, Drive] = {
    **by_name(ck, THINGS),
    **ERRORS,
    "Client.close": lambda w: _changed(w).close(),
    "ConfkitError.again": lambda w: [failure.error for failure in swept(w).failures],
    "Dialect.parse": lambda w: ck.Dialect.parse("hash=md5"),
    "Probe.save": _profiled,
    "Recorder.record": _recorded,
    "ask_secret": _asked,
    "connect": lambda w: _changed(w),
    "delete_room": lambda w: ck.delete_room(w.client, created(w) if w.well else "1"),
    "get_room_users": _people,
    "import_device": imported,
    "list_devices": listed,
    "probe_dialect": _probe,
    "remove_device": _removed,
    "stray_devices": faulty(lambda w, _: ck.stray_devices(w.client), (A6, NOBODY)),
}

# Beyond the names: secrets given in the wrong place or form, and keys that are refused.
MISTAKES: dict[str, Drive] = {}
# What comes of each where all is well: the class of an error, or what is to hold of the result.
DUE: dict[str, Due] = {
    **{name: getattr(ck, name) for name in ERRORS},
    "ConfkitError": ck.RoomNotFound,
    "import_devices": lambda frame: {*frame["outcome"]} == {"imported"},
    "remove_devices": lambda frame: {*frame["outcome"]} == {"removed"},
}


def mistake(due: Due) -> Callable[[Drive], Drive]:
    """Puts a drive on the list, with what comes of it where all is well."""

    def listed(drive: Drive) -> Drive:
        MISTAKES[drive.__name__], DUE[drive.__name__] = drive, due
        return drive

    return listed


def verdict(name: str) -> Due:
    """A report with this verdict."""
    return lambda report: report.verdict == name


@mistake(ck.AuthenticationFailed)
def keys_are_refused(world: World) -> Any:
    with wrong_key(world) as client:
        return ck.get_room(client, world.room_id)


@mistake(lambda probe: "refused" in str(probe))
def probed_with_refused_keys(world: World) -> Any:
    return _probe(world, failed=2, secret_key=world.marks["profile's key"])


@mistake(lambda found: not found.ok and "401" in str(found))
def a_doctor_with_refused_keys(world: World) -> Any:
    with wrong_key(world) as client:
        return ck.doctor(client, timeout=10)


@mistake(ck.ConfigError)
def a_key_as_an_address(world: World) -> Any:
    return _changed(world, base_url=world.marks["secret_key"])


@mistake(ck.ParameterError)
def a_password_given_twice(world: World) -> Any:
    return imported(world, options={"login_password": world.marks["login_password"]})


@mistake(ck.ParameterError)
def an_option_that_cannot_travel(world: World) -> Any:
    return imported(world, options={"login_password": world.marks["login_password"], "zoom": {1}})


@mistake(ck.ConfigError)
def a_timeout_that_cannot_be(world: World) -> Any:
    return _changed(world, timeout=-1)


@mistake(verdict("auth_rejected"))
def a_camera_with_another_password(world: World) -> Any:
    return ck.preflight(world.address, "admin", world.marks["login_password"], timeout=8)


@mistake(ck.JoinFailed)
def an_import_that_cannot_join(world: World) -> Any:
    return imported(world, login_password=world.marks["login_password"])


@mistake(ck.ParameterError)
def an_address_that_is_wrong(world: World) -> Any:
    return ck.import_device(world.client, "1", "d", "D", world.broken)


@mistake(verdict("url_malformed"))
def a_preflight_of_no_address(world: World) -> Any:
    return ck.preflight(world.broken, timeout=2)


@mistake(verdict("credentials_conflict"))
def a_device_with_two_passwords(world: World) -> Any:
    return a_device_that_is_not_there(
        world, login_name="admin", login_password=world.marks["login_password"]
    )


@mistake(verdict("not_imported"))
def a_device_that_is_not_there(world: World, **more: Any) -> Any:
    login = world.with_login
    return ck.diagnose_device(world.client, world.room_id, "nobody", login, timeout=8, **more)


@mistake(lambda checks: checks.ok)
def both_interfaces_asked(world: World) -> Any:
    return service_answers(world.client)


@mistake(lambda frame: {*frame["outcome"]} == {"preflight failed"})
def a_table_whose_login_fails(world: World) -> Any:
    path = table(world, login_password=world.marks["login_password"])
    return ck.import_devices(world.client, path, progress=False)


# Those that differ by what a service answers: the others are driven where all is well.
ASKING = {
    "create_room", "delete_room", "doctor", "force_offline", "get_mcu", "get_room",
    "get_room_users", "import_device", "import_devices", "list_devices", "probe_dialect",
    "reimport_device", "remove_device", "stray_devices", "sweep", "Client.ask_once",
    "Client.send_many",
}  # fmt: skip
TALKING = [*sorted(ASKING), "Client.token", "Room.read", "Device"]  # which read what came before
HOSTILE_DRIVES = {**{name: DRIVES[name] for name in TALKING}, **MISTAKES}
