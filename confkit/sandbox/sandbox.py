"""`Sandbox`: start, control and stop the embedded service."""

import atexit
import json
import math
import os
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from ..dialect import Dialect
from ..errors import ConfigError, ConfkitError, RoomNotFound, UserNotFound
from ..operations import B1, OPERATIONS
from ..rtsp.errors import VERDICTS
from ..secret import Secret
from .server import Server
from .signatures import same
from .state import Fault, Ids, Refusal, Room, RoomJoinRefused, Service, listen

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from ..client import Client
    from ..rtsp.report import Snapshot
    from .cameras.faults import CameraFault
    from .cameras.server import CameraServer
    from .devices import DeviceStream

DEMO_ACCESS_KEY = "demo_access"  # published: for loopback, where a sandbox listens
DEMO_SECRET_KEY = "demo_secret"  # noqa: S105  # see above
MOST_SECONDS = 1e10  # some 300 years


class Sandbox:
    """The conferencing service, embedded: both interfaces on two ports of this machine, or on one
    if `port` and `outgoing_port` are the same.

    Its state is in memory; `with` or `start()` starts it, once, `close()` stops it. Its clock is
    this machine's until `advance` or `simulate` moves it, and clients of the sandbox use its time.
    With a `seed` IDs are reproducible. A camera may take 4 s to open, less than clients wait for
    B1, and later send nothing for 10 s; `dial_timeout` (seconds) sets both. It listens on loopback
    alone, and its keys are the published demo keys, unless given. `result_field` ("ret" or
    "result") is the name of interface B's result code, `item_keys` ("camelCase" or "snake_case")
    the spelling of B3's items; a client reads both. `explain` logs why calls are refused (see
    `refusals`).
    """

    def __init__(
        self,
        *,
        seed: int | str | None = None,
        dialect: Dialect | None = None,
        result_field: str = "ret",
        item_keys: str = "camelCase",
        port: int = 0,
        outgoing_port: int = 0,
        access_key: str | None = None,
        secret_key: str | Secret | None = None,
        dial_timeout: float | None = None,
        explain: bool = False,
    ) -> None:
        self.closed = False  # whether it has been closed
        self._process = 0  # in which it runs
        self.base_url = self.outgoing_url = ""  # of interfaces A and B, once started
        secret_key = Secret(secret_key or "")  # a traceback shows the locals
        _check_choice("result_field", result_field, "ret", "result")
        _check_choice("item_keys", item_keys, "camelCase", "snake_case")
        if not (0 <= port < 65536 and 0 <= outgoing_port < 65536):
            raise ConfigError(f"ports are {port} and {outgoing_port}", "Give them from 0 to 65535.")
        self.seed, self.dialect = seed, Dialect.of(dialect or Dialect())
        self.access_key = access_key or DEMO_ACCESS_KEY
        self.secret_key = secret_key.reveal() or DEMO_SECRET_KEY
        keys = (self.access_key, self.secret_key)
        self._service = Service(
            *keys, Ids(seed), self.dialect, result_field, item_keys, dial_timeout, explain
        )
        self._ports = (port, outgoing_port)
        self._resources = ExitStack()
        self._ended = threading.Event()  # ends simulations
        self._simulations = 0

    # Start and stop

    def start(self) -> Self:
        """Listen on both ports, and return the sandbox; ConfkitError: a port cannot be used."""
        if self._process or self.closed:
            self._check_running()
            return self
        with ExitStack() as resources:
            port, outgoing_port = self._ports
            ports = [port] if port == outgoing_port != 0 else [port, outgoing_port]
            sockets = [resources.enter_context(listen(number)) for number in ports]
            urls = ["http://{}:{}".format(*item.getsockname()) for item in sockets]
            self._service.start_mcu()
            resources.callback(self._service.stop_mcu)
            resources.callback(Server(self._service, sockets).close)
            self.base_url, self.outgoing_url = urls[0], urls[-1]
            self._resources = resources.pop_all()
        self._process = os.getpid()
        atexit.register(self.close)
        return self

    def close(self) -> None:
        """Stop the service, its cameras, streams and sockets; does nothing if repeated, or in a
        forked child."""
        was_closed, self.closed = self.closed, True
        if was_closed or self._process != os.getpid():
            return
        atexit.unregister(self.close)
        self._ended.set()
        with self._service.lock:
            devices = self._service.devices()
        for device in devices:
            device.removed.set()
        self._resources.close()
        for device in devices:
            device.thread.join(1.0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "running" if self._process else "not started"
        return f"<Sandbox {self.base_url} {self.outgoing_url}, {state}>"

    def _check_running(self) -> None:
        if not self._process and not self.closed:
            raise ConfkitError("This sandbox is not started: use `with Sandbox()` or start().")
        if self.closed or self._process != os.getpid():
            state = "closed" if self.closed else "in another process"
            raise ConfkitError(f"This sandbox is {state}; create a new one with Sandbox(...).")

    @contextmanager
    def _locked(self) -> Iterator[Service]:
        self._check_running()
        with self._service.lock:
            yield self._service

    @contextmanager
    def _room(self, room_id: str) -> Iterator[Room]:
        with self._locked() as service:
            if room_id not in service.rooms:
                raise RoomNotFound(f"The sandbox has no room {room_id!r}: create it first.")
            yield service.rooms[room_id]

    def connect(self, **options: Any) -> "Client":
        """Return a client of this sandbox, in its dialect; `options` are those of `Client`."""
        from ..client import Client

        self._check_running()
        service = (self.base_url, self.outgoing_url, self.access_key, self.secret_key)
        return Client(*service, dialect=self.dialect, name="SANDBOX", sandbox=self, **options)

    # Rooms and people

    def room_ids(self) -> list[str]:
        """Return the IDs of all rooms, in the order of creation."""
        with self._locked() as service:
            return list(service.rooms)

    def join(
        self,
        room_id: str,
        user_name: str,
        password: str | Secret | None = None,
        user_id: str | None = None,
    ) -> str:
        """Let a person join a room, and return the user ID; a password must be its host_password.
        RoomJoinRefused: room unknown, closed, locked (even for hosts) or full, ID taken, password
        wrong, licence expired or used up, no media server. ValueError: name or ID is not text."""
        if not all(isinstance(t, str) and t.strip() for t in (user_name, user_id or "-")):
            raise ValueError("a user has non-empty texts as name and ID")
        password = Secret(password or "")  # a traceback shows the locals
        with self._locked() as service:
            room = service.rooms.get(room_id)
            why = service.obstacle(room) or "the licence has expired" * service.expired
            # Any password is wrong in a room that has none (assumed).
            right = Secret((room and room.fields["host_password"]) or "")
            if password and not same(password.reveal(), right.reveal()):
                why = why or "the host password is wrong"
            if room and user_id and service.knows_user(room, user_id):
                why = why or f"the user id {user_id!r} is taken"
            if why or room is None:
                raise RoomJoinRefused(f"{user_name!r} cannot join room {room_id!r}: {why}.")
            user_id = user_id or service.ids.user_id()
            room.people[user_id] = user_name
            room.has_mcu = True
            return user_id

    def leave(self, room_id: str, user_id: str) -> None:
        """Remove a person from a room; UserNotFound."""
        with self._room(room_id) as room:
            if not room.people.pop(user_id, None):
                raise UserNotFound(f"No person {user_id!r} is in {room_id!r}; B2 removes a device.")

    def lock(self, room_id: str) -> None:
        """Lock a room: its users stay, nobody new can join."""
        with self._room(room_id) as room:
            room.locked = True

    def unlock(self, room_id: str) -> None:
        """Unlock a room."""
        with self._room(room_id) as room:
            room.locked = False

    def close_room(self, room_id: str) -> None:
        """Close a room for good, and remove everybody and every device from it."""
        with self._room(room_id) as room:
            room.close()

    # Cameras and their streams

    @cached_property
    def _cameras(self) -> "CameraServer":
        from .cameras.server import CameraServer  # large: only when a camera is made

        return self._resources.enter_context(CameraServer())

    def camera(
        self,
        path: str | None = None,
        login_name: str | None = None,
        login_password: str | Secret | None = None,
        codec: str = "h264",
        size: tuple[int, int] = (640, 360),
        fps: int = 15,
        auth: str = "digest",
        fault: str | None = None,
        *,
        name: str | None = None,
        transports: Collection[str] = ("tcp", "udp"),
    ) -> str:
        """Create an RTSP camera with a moving picture, and return its address without the login.

        It is on loopback, and open unless it has a login. `codec` is "h264", "h265" or "mjpeg",
        `size` in pixels; `auth` is "digest" (SHA-256 and MD5), "sha-256", "md5" or "basic". `fault`
        makes it fail: a name of `camera_faults`. `name` is shown in the picture instead of the
        path. ValueError: an invalid value; the text names the valid ones."""
        login_password = Secret(login_password or "")  # a traceback shows the locals
        with self._locked():
            cameras = self._cameras
        look: dict[str, Any] = {"codec": codec, "size": tuple(size), "fps": fps, "name": name}
        look |= {"login_name": login_name, "login_password": login_password, "auth": auth}
        return cameras.add(path, fault=fault, transports=transports, **look)

    @staticmethod
    def camera_faults() -> "dict[str, CameraFault]":
        """Return the common faults that `camera` can have, by name: the verdict of a preflight, and
        what happens on the wire."""
        from .cameras.faults import FAULTS

        return dict(FAULTS)

    def unplug(self, url: str | Secret) -> None:
        """Remove a camera: its viewers are disconnected, and its address answers 404."""
        with self._locked():
            cameras = self._cameras
        try:
            cameras.remove(Secret(url).reveal())
        except (LookupError, ValueError):
            raise ConfkitError(
                "The sandbox has no camera at this address: pass what camera() returned."
            ) from None

    def snapshot(self, room_id: str, user_id: str) -> "Snapshot":
        """Return the newest keyframe of a device, as a picture that a notebook shows; wait up to
        10 s (`dial_timeout`) for the first. UserNotFound: the room has no such device.
        ConfkitError: its stream is down (no old picture is returned), or does not decode."""
        with self._room(room_id) as room:
            device = room.device(user_id)
        if device is None:
            raise UserNotFound(f"Room {room_id!r} has no device {user_id!r}; streams() lists them.")
        from ..rtsp.report import Snapshot
        from .cameras.camera import need_av

        need_av("pictures")
        try:
            return Snapshot.of(*device.keyframe())
        except ValueError as error:
            raise ConfkitError(f"{error} {VERDICTS['no_picture']['advice']}") from None

    def streams(self, room_id: str | None = None) -> "list[DeviceStream]":
        """Return the streams of the devices of a room, or of all: state, reconnects and the verdict
        of the last failure."""
        with self._locked() as service:
            return [d.status() for d in service.devices(room_id) if d.opened.done()]

    # A simulated building

    def simulate(
        self,
        rooms: int = 200,
        days: float = 30,
        *,
        every: float = 300,
        until: "datetime | str | float | None" = None,
        live: bool = False,
        seed: int | str | None = None,
        tz: str = "UTC",
        failures: float = 0.0,
        cameras: bool = False,
    ) -> "pd.DataFrame":
        """Create a building of new rooms, and return the samples of its past `days` days.

        A row for each room and sample, by time: `time` (UTC), `room_id`, `users`, `people`,
        `devices`, `attendee_max` (missing: no cap), `ret`, with the types of `load_occupancy`.
        Samples are `every` seconds apart, the last at `until`: a datetime, a text or epoch seconds,
        without a time zone in `tz`; default: now. The sandbox's clock continues from it, and people
        in a meeting at that time are in their rooms. With `live` people come and go from then on,
        until `close`, and the clock runs a minute per second.

        Meetings are in working hours of `tz`, most of them small. A few rooms are always full, a
        few are never used, one of these only by a camera: a real one with `cameras`, otherwise
        removed at the last midnight. `failures` is the share of failed calls, whose values are
        missing. See `simulation.py` for the assumptions; holidays are ignored. Meetings are
        reproducible with the sandbox's seed or with `seed`.

        ConfigError: `until` or `tz` is invalid, or the building is too large."""
        self._check_running()
        from . import simulation  # loads pandas

        simulation.check_size(rooms, days, every)
        moment = simulation.parse_moment(self.now() if until is None else until, tz)
        self._simulations += 1
        ids = Ids(None if self.seed is None else f"{self.seed}/{self._simulations}")
        seed = ids.nonce() if seed is None else seed
        building = simulation.Building(rooms, seed, tz)
        with self._locked() as service:
            occupied = simulation.Simulation(service, ids, building, moment)
            service.move_clock(moment, simulation.PACE if live else 1.0)
        if cameras and building.camera_room is not None:
            values = (occupied.room_ids[building.camera_room], ids.user_id(), "Camera")
            url = self.camera(name="Left behind", size=(320, 180), fps=5)
            with self.connect() as client:
                client.call(B1, **dict(zip(B1.required, (*values, url), strict=True)))
        if live:
            threading.Thread(target=occupied.run, args=(self._ended,), daemon=True).start()
        return occupied.samples(days, every, failures, cameras)

    # Machinery

    def stop_mcu(self) -> None:
        """Stop the media server: A5 answers 410, A7 417 for the rooms that it served."""
        with self._locked() as service:
            service.stop_mcu()

    def start_mcu(self) -> None:
        """Start the media server again, on its former port."""
        with self._locked() as service:
            service.start_mcu()

    def unassign_mcu(self, room_id: str) -> None:
        """Unassign a room's media server: A7 answers 428 until A5 or a join."""
        with self._room(room_id) as room:
            room.has_mcu = False

    def licence(
        self,
        seats: float | None = None,
        expired: bool | None = None,
        peer_to_peer: bool | None = None,
    ) -> None:
        """Change the licence; None keeps a setting. `seats` are for people and devices of all rooms
        (`math.inf`: unlimited): when all are used A5 answers 411. Expired: 405 from A2 and A5.
        Without peer-to-peer: 701 from A2 with room_mode 3 or 4."""
        if seats is not None and not seats >= 0:
            raise ConfigError(f"seats is {seats!r}", "Give a number from 0 to math.inf.")
        settings = {"seats": seats, "expired": expired, "peer_to_peer": peer_to_peer}
        with self._locked() as service:
            vars(service).update((k, v) for k, v in settings.items() if v is not None)

    def device_service(self, state: str) -> None:
        """Set the service behind interface B to "running", "stopped" (302, 303, 304) or "hanging"
        (310); ConfigError: another state."""
        _check_choice("device_service", state, "running", "stopped", "hanging")
        with self._locked() as service:
            service.device_service = state

    # Faults, counters, time

    def fault(
        self,
        path: str,
        *,
        ret: int | None = None,
        http: int | None = None,
        body: str | bytes | Mapping[str, Any] | None = None,
        delay: float | None = None,
        drop: bool = False,
        times: int | None = None,
        after: bool = False,
    ) -> None:
        """Make the next `times` calls of an operation fail, or all until `clear_faults`.

        `path` is its path or its name ("A3"). `ret` is a result code, `http` an HTTP status, `body`
        is sent as it is, a dict as JSON; `delay` is in seconds, `drop` closes the connection
        without a response; `delay` alone delays the normal response. `after` performs the operation
        first, so that its response is lost. Several faults of one operation follow one another; one
        without `times` ends when the next is set. ValueError: an unknown path, which lists all, or
        another wrong value."""
        path = _path(path)
        body = json.dumps(body) if isinstance(body, Mapping) else body
        limit = math.inf if times is None else times
        kinds = (ret is not None) + (body is not None) + drop
        is_valid = isinstance(body, str | bytes | None) and http in (None, *range(200, 600))
        is_valid = is_valid and 0 <= (delay or 0) <= MOST_SECONDS and limit >= 1
        if not is_valid or kinds > 1 or (drop and http) or (kinds, http, delay) == (0, None, None):
            raise ValueError(
                "A fault needs one of ret, body and drop, or http (200 to 599) or delay (seconds); "
                "http goes with ret and body, delay with all; times is at least 1."
            )
        with self._locked() as service:
            waiting = [item for item in service.faults.get(path, []) if item.times < math.inf]
            fault = Fault(ret, http, body, delay or 0, drop, after, limit)
            service.faults[path] = [*waiting, fault]

    def clear_faults(self) -> None:
        """Remove all faults."""
        with self._locked() as service:
            service.faults.clear()

    def count(self, path: str | None = None) -> int:
        """Return the number of requests received, including refused ones: of all, or of one
        operation by its path or name ("A3"). ValueError: an unknown path; the text lists all."""
        with self._locked() as service:
            return service.counts.total() if path is None else service.counts[_path(path)]

    @property
    def refusals(self) -> list[Refusal]:
        """The last refused calls, the newest at the end, each with `call` ("A3"), `ret` and `why`;
        `str()` of a refusal is one line."""
        return list(self._service.refusals)

    def advance(self, seconds: float) -> None:
        """Advance the sandbox's clock, by which tokens expire."""
        if not abs(seconds) <= MOST_SECONDS:
            raise ConfigError(f"seconds is {seconds!r}", f"Give at most {MOST_SECONDS:g}.")
        with self._locked() as service:
            service.moment += seconds

    def now(self) -> float:
        """Return the sandbox's time in epoch seconds."""
        return self._service.now()


def _check_choice(name: str, value: str, *choices: str) -> None:
    if value not in choices:
        raise ConfigError(f"{name} is {value!r}", f"Use one of {', '.join(choices)}.")


def _path(name: str) -> str:
    paths = {key: operation.path for key, operation in OPERATIONS.items()}
    if name not in paths and name not in paths.values():
        known = ", ".join(f"{key} ({path})" for key, path in paths.items())
        raise ValueError(f"No operation has the path or name {name!r}; use one of {known}.")
    return paths.get(name, name)
