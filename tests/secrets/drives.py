"""How each public function and class of `confkit` is driven; the keys are its public names."""

import io
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from unittest import mock

import confkit as ck
from confkit.deployment import service_answers
from confkit.endpoints import A2, A3, A6, B1, B3, Endpoint
from confkit.errors import codes
from tests.secrets.worlds import World

Drive = Callable[[World], Any]
Due = type[BaseException] | Callable[[Any], bool]
NOBODY = {"body": '{"ret": 0, "user_list": []}'}  # of A6
LATER = "2026-06-03T10:15Z"


def imported(world: World, **more: Any) -> ck.Device:
    """A device in the room, with each secret that an import can hold."""
    options = {"options": {"assist_address": world.marks.login()}, "user_data": world.marks.login()}
    address, given = world.address, {"login_name": "admin"}
    given["login_password"] = world.marks["password in an address"]
    number = f"d{world.chance.randrange(10**9)}"
    _emptied(world)
    return ck.import_device(
        world.client, world.room_id, number, "Front door", address, **{**options, **given, **more}
    )


def _emptied(world: World) -> None:
    """Removes the room's devices where all is well: an address is in a room once."""
    for device in ck.list_devices(world.client, world.room_id) if world.well else ():
        ck.remove_device(world.client, device)


def listed(world: World) -> list[ck.Device]:
    """The room's devices, at least one of them."""
    if world.well and not ck.list_devices(world.client, world.room_id):
        imported(world)
    return ck.list_devices(world.client, world.room_id)


def table(world: World, **changes: str) -> str:
    """A table of cameras as people write it, with logins in it."""
    row = {
        "room_id": world.room_id,
        "user_id": f"t{world.chance.randrange(10**9)}",
        "user_name": "Hall",
        "user_address": world.address,
        "login_name": "admin",
        "login_password": world.marks["password in an address"],
        **changes,
    }
    import pandas as pd

    _emptied(world)
    return str(world.file("cameras.csv", pd.DataFrame([row]).to_csv(index=False)))


def swept(world: World) -> ck.Sweep:
    return ck.sweep(world.client, [world.room_id, "no-such"], progress=False)


def samples(world: World) -> Any:
    """Samples of a recording, in a folder, made without a service."""
    import pandas as pd

    time = pd.date_range("2026-06-01 08:00", periods=50, freq="5min", tz="UTC")
    frame = pd.DataFrame({"time": time, "room_id": world.room_id, "users": range(50)})
    frame = frame.assign(people=frame.users, devices=0, attendee_max=60, ret=0)
    kinds = dict.fromkeys(["users", "people", "devices", "attendee_max", "ret"], "Int64")
    return frame.astype({**kinds, "room_id": "str"})


def recorded(world: World) -> ck.Recorded:
    folder = world.folder / f"occupancy{world.chance.randrange(10**9)}"
    recorder = ck.Recorder(folder, sleep=lambda _: None)
    return recorder.record(world.client, [world.room_id], every=1, sweeps=1)


def _saved(world: World) -> Any:
    folder = world.folder / f"saved{world.chance.randrange(10**9)}"
    ck.save_occupancy(samples(world), folder)
    return folder


def _asked(world: World) -> Any:
    with mock.patch("sys.stdin", io.StringIO(world.marks["typed password"] + "\n")):
        return ck.ask_secret("password: ")


def _probe(world: World) -> ck.Probe:
    return ck.probe_dialect(**world.keys, max_failed_logins=1, sleep=lambda _: None)


def _profiled(world: World) -> Any:
    """A probe's dialect in a profile, which keeps its key and shows it nowhere."""
    from confkit import profiles

    keys = {name: world.keys[name] for name in ("base_url", "outgoing_url", "access_key")}
    profiles.save("marked", {**keys, "secret_key": world.marks["profile's key"]})
    return profiles.load("marked") and _probe(world).save("marked")


@contextmanager
def wrong_key(world: World) -> Any:
    """The client with another key, which is refused where the service is well."""
    world.client._token.held = None
    kept, world.client.secret_key = (
        world.client.secret_key,
        ck.secret.Secret(world.marks["profile's key"]),
    )
    try:
        yield world.client
    finally:
        world.client.secret_key, world.client._token.held = kept, None


def faulty(
    act: Callable[[World, list[ck.Device]], Any], *faults: tuple[Endpoint, dict[str, Any]]
) -> Drive:
    """What is done with the devices of the room while the real service has these faults."""

    def run(world: World) -> Any:
        devices = listed(world) if world.well else [world.device]
        for endpoint, options in faults if world.sandbox else ():
            world.sandbox.fault(endpoint.path, **options)
        try:
            return act(world, devices)
        finally:
            if world.sandbox:
                world.sandbox.clear_faults()

    return run


def refused(kind: type[ck.ApiError]) -> Drive:
    """The error of this class: of the first code that is of it, as a service would send it."""
    code = next(code for code in codes() if code.error == kind.__name__)
    return answered(code.ret, B1 if code.interface == "B" else A3)


def answered(code: int, endpoint: Endpoint) -> Drive:
    """The error of a code that an operation answers, with secrets in its text."""

    def ask(world: World) -> Any:
        detail = f"login {world.marks['login_password']} {world.marks.login()}"
        secrets = (world.marks["login_password"],)
        answer = ck.wire.Answer(
            200, "", ck.wire.compact({"ret": code, "msg": detail}).encode(), secrets
        )
        raise ck.wire._outcome(endpoint, answer, world.client.dialect)

    return ask


def _changed(world: World, **options: Any) -> ck.Client:
    return ck.connect(**{**world.keys, **options})


def _read_only(world: World) -> Any:
    with _changed(world, read_only=True) as client:
        return ck.create_room(client, "t", "ops", host_password=world.marks["host_password"])


def _created(world: World) -> str:
    return ck.create_room(
        world.client,
        "Stand-up",
        "ops",
        host_password=world.marks["host_password"],
        room_extend_id=f"x{world.chance.randrange(10**12)}",
    )


def _deleted(world: World) -> Any:
    return ck.delete_room(world.client, _created(world) if world.well else "1")


def _offline(world: World) -> Any:
    if world.sandbox:
        password = world.marks["host_password"]
        user_id = world.sandbox.join(world.room_id, "Ada", password=password)
        return ck.force_offline(world.client, world.room_id, user_id)
    return ck.force_offline(world.client, "1", "u1")


def _reimported(world: World, **changes: Any) -> Any:
    device = listed(world)[0] if world.well else world.device
    return ck.reimport_device(world.client, device)


def _removed(world: World) -> Any:
    device = imported(world) if world.well else world.device
    return ck.remove_device(
        world.client, world.room_id, device.user_id, world.with_login if not world.well else None
    )


def _record(world: World) -> ck.Device:
    return world.device


def _try(world: World) -> ck.Report:
    return ck.preflight(world.with_login, timeout=8)


def _diagnosed(world: World, **more: Any) -> ck.Report:
    found = listed(world)
    return ck.diagnose_device(world.client, world.room_id, found[0].user_id, timeout=8, **more)


def _people(world: World) -> list[ck.RoomUser]:
    """Who is in the room, a device among them where all is well."""
    if world.well:
        listed(world)
    return ck.get_room_users(world.client, world.room_id)


FUNCTIONS: dict[str, Drive] = {
    "ask_secret": _asked,
    "calls_frame": lambda w: ck.calls_frame(w.client.calls),
    "capacity_chart": lambda w: ck.capacity_chart(ck.capacity_report(samples(w))),
    "capacity_report": lambda w: ck.capacity_report(samples(w)),
    "connect": lambda w: _changed(w),
    "create_room": _created,
    "delete_room": _deleted,
    "devices_frame": lambda w: ck.devices_frame([w.device, *listed(w)]),
    "diagnose_device": _diagnosed,
    "doctor": lambda w: ck.doctor(w.client, w.room_id, timeout=10),
    "explain": lambda w: ck.explain(401, interface="B"),
    "force_offline": _offline,
    "get_mcu": lambda w: ck.get_mcu(w.client, w.room_id),
    "get_room": lambda w: ck.get_room(w.client, w.room_id),
    "get_room_users": _people,
    "import_device": imported,
    "import_devices": lambda w: ck.import_devices(w.client, table(w), progress=False, timeout=8),
    "known_rooms": lambda w: ck.known_rooms(w.client),
    "list_devices": listed,
    "load_occupancy": lambda w: ck.load_occupancy(_saved(w)),
    "meetings": lambda w: ck.meetings(samples(w)),
    "meetings_chart": lambda w: ck.meetings_chart(ck.meetings(samples(w)), w.room_id),
    "occupancy_chart": lambda w: ck.occupancy_chart(ck.occupancy_frame(swept(w))),
    "occupancy_curve": lambda w: ck.occupancy_curve(samples(w), w.room_id),
    "occupancy_frame": lambda w: ck.occupancy_frame(swept(w)),
    "occupancy_heatmap": lambda w: ck.occupancy_heatmap(samples(w)),
    "preflight": _try,
    "preflight_device": lambda w: ck.preflight_device(
        w.client, w.room_id, listed(w)[0].user_id, timeout=8
    ),
    "probe_dialect": _probe,
    "recorded_rooms": lambda w: ck.recorded_rooms(_saved(w)),
    "reimport_device": _reimported,
    "remove_device": _removed,
    "remove_devices": lambda w: ck.remove_devices(w.client, listed(w)),
    "rooms_frame": lambda w: ck.rooms_frame(ck.get_room(w.client, w.room_id)),
    "save_occupancy": lambda w: ck.save_occupancy(samples(w), w.folder / "again"),
    "stray_devices": faulty(lambda w, _: ck.stray_devices(w.client), (A6, NOBODY)),
    "sweep": swept,
    "users_frame": lambda w: ck.users_frame(
        [ck.RoomUser("Ada", "u1"), *ck.get_room_users(w.client, w.room_id)]
    ),
}

RECORDS: dict[str, Drive] = {
    "Call": lambda w: w.client.calls,
    "Check": lambda w: tuple(ck.doctor(w.client, timeout=10)),
    "Checklist": lambda w: ck.doctor(w.client, timeout=10),
    "Client": lambda w: w.client,
    "Client.ask_once": lambda w: w.client.ask_once(
        ck.Request(A3, {"room_id": w.room_id}), w.client.token()
    ),
    "Client.close": lambda w: _changed(w).close(),
    "Client.lent": lambda w: w.client.lent(),
    "Client.may_send": lambda w: w.client.may_send(A2),
    "Client.send": lambda w: w.client.send(ck.Request(A3, {"room_id": w.room_id})),
    "Client.send_many": lambda w: w.client.send_many(
        [ck.Request(A3, {"room_id": room_id}) for room_id in (w.room_id, "no-such")]
    ),
    "Client.token": lambda w: w.client.token(),
    "Device": _record,
    "Device.read": lambda w: ck.Device.read(
        {
            "roomId": "1",
            "userId": "d",
            "options": {"login_password": w.marks["login_password"]},
            "userAddress": w.marks.login(),
        }
    ),
    "Dialect": lambda w: ck.Dialect(),
    "Dialect.changes": lambda w: ck.Dialect(hash="md5").changes(),
    "Dialect.of": lambda w: ck.Dialect.of({"hash": "md5"}),
    "Dialect.parse": lambda w: ck.Dialect.parse("hash=md5"),
    "Evidence": lambda w: list(_probe(w).evidence),
    "Explanation": lambda w: ck.explain(602),
    "Failure": lambda w: swept(w).failures,
    "Probe": _probe,
    "Probe.save": _profiled,
    "Recorded": recorded,
    "Recorder": lambda w: ck.Recorder(w.folder),
    "Recorder.record": recorded,
    "Report": _try,
    "Report.facts": lambda w: _try(w).facts(),
    "Request": lambda w: ck.Request(A2, {"topic": "t", "host_password": w.marks["host_password"]}),
    "Room": lambda w: ck.Room(room_id="1", host_password=w.marks["host_password"]),
    "Room.read": lambda w: ck.Room.read(
        {"room_id": "1", "host_password": w.marks["host_password"]}, "1"
    ),
    "RoomUser": lambda w: ck.RoomUser("Ada", "u1"),
    "RoomUser.read": lambda w: ck.RoomUser.read({"user_name": "Ada", "user_id": "u1"}),
    "RoomUser.read_all": lambda w: ck.RoomUser.read_all(
        {"user_list": [{"user_name": "Ada", "user_id": "u1"}]}
    ),
    "Sweep": swept,
    "Sweep.frame": lambda w: swept(w).frame(),
}

# What these do is to fail, so that they are driven to it, wherever that is.
ERRORS: dict[str, Drive] = {
    **{name: refused(getattr(ck, name)) for name in {code.error: None for code in codes()}},
    "ApiError": answered(700, A3),
    "ConfigError": lambda w: _changed(
        w, base_url=f"http://u:{w.marks['password in base_url']}@host:8080"
    ),
    "ConfkitError": lambda w: ck.get_room(w.client, "no-such"),
    "ConfkitError.again": lambda w: [failure.error for failure in swept(w).failures],
    "NotInRoom": faulty(lambda w, _: imported(w, verify=True, patience=0.1), (A6, NOBODY)),
    "OutcomeUnknown": faulty(
        lambda w, _: ck.create_room(w.client, "t", "ops", host_password=w.marks["host_password"]),
        (A2, {"drop": True}),
    ),
    "Unsettled": faulty(lambda w, _: _created(w), (A2, {"ret": 503, "after": True})),
    "UnsettledTimeout": faulty(lambda w, _: _created(w), (A2, {"ret": 504, "after": True})),
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
    "ReimportFailed": faulty(
        lambda w, devices: ck.reimport_device(w.client, devices[0]), (B1, {"ret": 426})
    ),
    "ReimportUnknown": faulty(
        lambda w, devices: ck.reimport_device(w.client, devices[0]),
        (B1, {"drop": True}),
        (B3, {"drop": True}),
    ),
    "TableError": lambda w: ck.import_devices(
        w.client,
        table(w, user_address=w.marks.login(), login_name="", user_name=""),
        progress=False,
    ),
    "TransportError": lambda w: ck.get_room(
        _changed(w, base_url="http://127.0.0.1:9", outgoing_url="http://127.0.0.1:9"), "1"
    ),
    "TransportTimeout": lambda w: ck.get_room(_changed(w, timeout=(1.0, 0.000001)), "1"),
}

# Beyond the names: secrets given in the wrong place or form, and keys that are refused.
MISTAKES: dict[str, Drive] = {}
# What comes of each where all is well: the class of an error, or what is to hold of the result.
DUE: dict[str, Due] = {
    **{name: getattr(ck, name) for name in ERRORS if "." not in name},
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
    keys = {**world.keys, "secret_key": world.marks["profile's key"]}
    return ck.probe_dialect(**keys, max_failed_logins=2, sleep=lambda _: None)


@mistake(lambda found: not found.ok and "401" in str(found))
def a_doctor_with_refused_keys(world: World) -> Any:
    with wrong_key(world) as client:
        return ck.doctor(client, timeout=10)


@mistake(ck.ConfigError)
def a_key_as_an_address(world: World) -> Any:
    return _changed(world, base_url=world.marks["secret_key"])


@mistake(ck.ParameterError)
def a_secret_as_another_type(world: World) -> Any:
    return ck.import_device(
        world.client,
        world.room_id,
        "d",
        "D",
        world.address,
        login_name="admin",
        options={"login_password": world.marks["login_password"]},
        login_password=world.marks["typed password"],
    )


@mistake(ck.ParameterError)
def an_option_that_cannot_travel(world: World) -> Any:
    options = {"login_password": world.marks["login_password"], "zoom": {1}}
    return ck.import_device(world.client, "1", "d", "D", world.address, options=options)


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
    password = world.marks["password in an address"]
    return ck.import_device(world.client, "1", "d", "D", f"rtsp//admin:{password}@192.0.2.7/x")


@mistake(verdict("url_malformed"))
def a_preflight_of_no_address(world: World) -> Any:
    password = world.marks["password in an address"]
    return ck.preflight(f"rtsp:/admin:{password}@192.0.2.7/x", timeout=2)


@mistake(verdict("credentials_conflict"))
def a_device_with_two_passwords(world: World) -> Any:
    return ck.diagnose_device(
        world.client,
        world.room_id,
        "nobody",
        world.with_login,
        login_name="admin",
        login_password=world.marks["login_password"],
        timeout=8,
    )


@mistake(verdict("not_imported"))
def a_device_that_is_not_there(world: World) -> Any:
    return ck.diagnose_device(world.client, world.room_id, "nobody", world.with_login, timeout=8)


@mistake(lambda checks: checks.ok)
def both_interfaces_asked(world: World) -> Any:
    return service_answers(world.client)


@mistake(lambda frame: {*frame["outcome"]} == {"preflight failed"})
def a_table_whose_login_fails(world: World) -> Any:
    path = table(world, login_password=world.marks["login_password"])
    return ck.import_devices(world.client, path, progress=False, timeout=8)


DRIVES = {**FUNCTIONS, **RECORDS, **ERRORS}
# Those that differ by what a service answers: the others are driven where all is well.
TALKING = (
    "create_room", "delete_room", "doctor", "force_offline", "get_mcu", "get_room",
    "get_room_users", "import_device", "import_devices", "list_devices", "probe_dialect",
    "reimport_device", "remove_device", "stray_devices", "sweep", "Client.ask_once",
    "Client.send_many", "Client.token", "Room.read", "Device",
)  # fmt: skip
# The others read what has come before.
ASKING = {*TALKING} - {"Room.read", "Device", "Client.token"}
HOSTILE_DRIVES = {**{name: DRIVES[name] for name in TALKING}, **MISTAKES}
