"""`Sandbox`: the embedded service as its owner starts, steers and ends it."""

import asyncio
import atexit
import logging
import math
import time
from collections.abc import Callable, Collection, Coroutine
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from ..dialect import Dialect
from ..errors import ConfigError, ConfkitError, UserNotFound
from ..operations import B1
from ..rtsp.blocking import LoopThread
from ..secret import Secret
from .cameras.picture import decoded, need_av
from .cameras.ports import Listener
from .service import identity, server
from .service.app import App
from .service.faults import Fault
from .service.operations import create_device
from .service.state import DEVICE_SERVICE_STATES, DeviceServiceState, Refusal, Refused, Service
from .service.streams import Devices

if TYPE_CHECKING:
    from datetime import datetime
    from ssl import SSLContext

    import pandas as pd

    from ..client import Client
    from ..rtsp.report import Snapshot
    from .cameras.faults import CameraFault
    from .cameras.server import CameraServer
    from .service.streams import DeviceStream

RESULT_FIELDS, ITEM_KEYS = ("ret", "result"), ("camelCase", "snake_case")
DEMO_ACCESS_KEY = "demo_access"  # published: for loopback only
DEMO_SECRET_KEY = "demo_secret"  # noqa: S105  # see above

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger("confkit.sandbox")


def served(
    method: "Callable[Concatenate[Sandbox, P], Coroutine[Any, Any, T]]",
) -> "Callable[Concatenate[Sandbox, P], T]":
    """Carry a method of `Sandbox` out in the thread that serves, where its state lives; to its
    caller it is no coroutine."""

    @wraps(method)
    def called(self: "Sandbox", /, *values: P.args, **named: P.kwargs) -> T:
        thread = self._running()
        asked = method(self, *values, **named)
        del values, named  # a traceback would show passwords among them
        try:
            return thread.run(lambda: asked)
        except CancelledError:  # a forked child has no such thread
            raise ConfkitError(
                "The sandbox was closed meanwhile, or runs in another process."
            ) from None

    return called


class Sandbox:
    """The conferencing service, embedded: both interfaces on two ports of this machine.

    All of it is in memory. With a `seed` ids repeat exactly and the clock stands still but for
    `advance`. `token_lifetime` and `dial_timeout` are in seconds. A camera may take 4 s to open,
    less than clients wait for B1, and later on may send nothing for 10 s; `dial_timeout` sets both.
    Each answer waits `latency` seconds, as from a service that is far away or slow. The keys are
    the published demo keys on loopback and random ones beyond it, unless given. `result_field`
    ("ret" or "result") holds interface B's result code, and `item_keys` ("camelCase" or
    "snake_case") is the spelling of B3's items; a client reads both. `explain` logs what
    was wrong with each refused call; `refusals` keep the last of these texts anyway. `with` or
    `start()` starts it, once; `close()` ends it.
    """

    def __init__(
        self,
        *,
        seed: int | str | None = None,
        dialect: Dialect | None = None,
        result_field: str = "ret",
        item_keys: str = "camelCase",
        host: str = "127.0.0.1",
        port: int = 0,
        outgoing_port: int = 0,
        access_key: str | None = None,
        secret_key: str | Secret | None = None,
        token_lifetime: float = 3600.0,
        dial_timeout: float | None = None,
        latency: float = 0.0,
        clock: Callable[[], float] | None = None,
        explain: bool = False,
    ) -> None:
        secret = None if secret_key is None else Secret(secret_key)
        del secret_key  # a traceback shows the locals
        self._urls: tuple[str, ...] = ()
        self._thread: LoopThread | None = None
        self.closed = False  # whether it has been closed
        self._address, self._loopback = server.resolve(host)
        if seed is not None and not self._loopback:
            raise ConfigError(
                f"A seeded sandbox has predictable ids and keys, so it answers on loopback only, "
                f"not on {host!r}",
                "Leave out seed, or use host='127.0.0.1'.",
            )
        if "" in (access_key, secret):
            raise ConfigError("A key is empty", "Give a text, or leave it out.")
        patience = 1 if dial_timeout is None else dial_timeout
        if not (token_lifetime > 0 and patience > 0 and 0 <= latency < 3600):
            raise ConfigError(
                f"token_lifetime is {token_lifetime!r}, dial_timeout {dial_timeout!r} and latency "
                f"{latency!r}",
                "Each is in seconds: above 0, and latency from 0 to an hour.",
            )
        if result_field not in RESULT_FIELDS or item_keys not in ITEM_KEYS:
            raise ConfigError(
                f"result_field is {result_field!r} and item_keys {item_keys!r}",
                f"Give one of {', '.join(RESULT_FIELDS)}, and one of {', '.join(ITEM_KEYS)}.",
            )
        own = (DEMO_ACCESS_KEY, DEMO_SECRET_KEY) if self._loopback else identity.random_keys()
        self.seed = seed
        self.dialect = dialect or Dialect()
        self.access_key = access_key or own[0]
        self.secret_key = (secret or Secret(own[1])).reveal()
        ids = identity.Ids(seed)
        still = None if seed is None else lambda: identity.SEEDED_MOMENT
        self._service = Service(
            dialect=self.dialect,
            result_field=result_field,
            item_keys=item_keys,
            access_key=self.access_key,
            secret_key=self.secret_key,
            ids=ids,
            clock=clock or still or time.time,
            token_lifetime=token_lifetime,
            devices=Devices(dial_timeout, ids.chance),
            mcu=Listener(self._address),
            explain=explain,
        )
        self._ports = port, outgoing_port
        self._latency = latency
        self._opened = AsyncExitStack()
        self._aside = AsyncExitStack()  # for cameras, which end after those who watch them
        self._cameras: CameraServer | None = None
        self._one_starts = asyncio.Lock()

    # Beginning and end

    def start(self) -> Self:
        """Answer on both ports, and return the sandbox; ConfkitError: a port cannot be used."""
        if self._thread:
            return self
        self._not_closed()
        thread = LoopThread("confkit sandbox", server.new_loop)
        try:
            thread.run(self._open)
        except BaseException:
            thread.stop()
            raise
        self._thread = thread
        atexit.register(self.close)
        if not self._loopback:
            keys = "published demo" if self.secret_key == DEMO_SECRET_KEY else "own"
            text = (
                "The sandbox answers beyond this machine with %s keys, without encryption: %s, %s"
            )
            log.warning(text, keys, *self._urls)
        return self

    def close(self) -> None:
        """End the service, its cameras, streams and sockets; a second call does nothing."""
        thread, self._thread, self.closed = self._thread, None, True
        if thread:
            atexit.unregister(self.close)
            try:
                thread.run(self._opened.aclose)
            except CancelledError:
                pass  # in a forked child
            finally:
                thread.stop()

    async def _open(self) -> None:
        async with AsyncExitStack() as opened:
            bound = [opened.enter_context(server.bind(self._address, port)) for port in self._ports]
            self._aside = await opened.enter_async_context(AsyncExitStack())
            await opened.enter_async_context(self._service.running())
            for interface, each in zip("AB", bound, strict=True):
                app = App(interface, self._service, self._latency)
                await opened.enter_async_context(server.serving(app, each, self._loopback))
            self._urls = tuple(map(server.url, bound))
            self._opened = opened.pop_all()

    def _not_closed(self) -> None:
        if self.closed:
            raise ConfkitError("This sandbox is closed; make a new one with Sandbox(...).")

    def _running(self) -> LoopThread:
        self._not_closed()
        if self._thread is None:
            raise ConfkitError("The sandbox is not started: use `with Sandbox()` or start().")
        return self._thread

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_reason: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "running" if self._thread else "not started"
        return f"<Sandbox {' and '.join(self._urls) or 'without address'}, {state}>"

    @property
    def refusals(self) -> list[Refusal]:
        """What was wrong with the last calls that were refused, the newest at the end: texts, each
        with `call` ("A3"), `ret` and `why`."""
        return list(self._service.refusals)

    @property
    def base_url(self) -> str:
        """The address of interface A."""
        return self._url(0)

    @property
    def outgoing_url(self) -> str:
        """The address of interface B."""
        return self._url(1)

    def _url(self, number: int) -> str:
        if not self._urls:
            self._running()
        return self._urls[number]

    def connect(self, **options: Any) -> "Client":
        """Return a client of this sandbox, in its dialect; `options` are those of `Client`."""
        from ..client import Client

        self._running()
        return Client(
            base_url=self.base_url,
            outgoing_url=self.outgoing_url,
            access_key=self.access_key,
            secret_key=self.secret_key,
            dialect=self.dialect,
            name="SANDBOX",
            sandbox=self,
            **options,
        )

    # People

    @served
    async def join(
        self,
        room_id: str,
        user_name: str,
        password: str | Secret | None = None,
        user_id: str | None = None,
    ) -> str:
        """Return the user id of a person who has joined; `password` is the room's host_password and
        makes a host. RoomJoinRefused: room unknown, closed, locked (for hosts too) or full, id
        taken, password wrong, licence expired or used up, no media server. ValueError: name or
        id is no text, or empty."""
        password = Secret(password) if password is not None else None
        return self._service.join(room_id, user_name, password, user_id)

    @served
    async def leave(self, room_id: str, user_id: str) -> None:
        """Take a person out of a room; UserNotFound where there is none."""
        self._service.existing(room_id)
        if not self._service.leave(room_id, user_id):
            raise UserNotFound(
                f"No person {user_id!r} is in room {room_id!r}; people() says who is, "
                "and a device leaves by B2."
            )

    @served
    async def people(self, room_id: str) -> list[dict[str, Any]]:
        """Return a room's people, each with user_id, user_name and host; devices are not people."""
        return [
            {"user_id": one.user_id, "user_name": one.user_name, "host": one.host}
            for one in self._service.existing(room_id).people.values()
        ]

    @served
    async def lock(self, room_id: str) -> None:
        """Lock a room: who is in it stays, nobody new can join."""
        self._service.existing(room_id).locked = True

    @served
    async def unlock(self, room_id: str) -> None:
        """Unlock a room."""
        self._service.existing(room_id).locked = False

    @served
    async def close_room(self, room_id: str) -> None:
        """Close a room for good, and remove everybody and every device from it."""
        await self._service.empty(self._service.existing(room_id), delete=False)

    # Cameras and their streams

    @served
    async def camera(
        self,
        path: str | None = None,
        login_name: str | None = None,
        login_password: str | Secret | None = None,
        codec: str = "h264",
        size: tuple[int, int] = (640, 360),
        fps: int = 15,
        keyframe_every: float = 1.0,
        auth: str = "digest",
        fault: "str | CameraFault | None" = None,
        *,
        name: str | None = None,
        transports: Collection[str] = ("tcp", "udp"),
        max_viewers: int | None = None,
        tls: "SSLContext | None" = None,
    ) -> str:
        """Return the address, without a login in it, of a new RTSP camera with a moving picture.

        It is on loopback, and open unless it has a login. `codec` is "h264", "h265" or "mjpeg",
        `size` in pixels, `keyframe_every` in seconds; `auth` is "digest" (SHA-256 and MD5),
        "sha-256" or "basic". `fault` makes it fail: a name of
        `camera_faults`, or a row like those. `name` stands in the
        picture in place of the path. More than `max_viewers` are answered 453. `tls`, a server's
        context with its certificate, makes it an rtsps camera. A value that makes no sense is a
        ValueError that says what does."""
        # A traceback shows locals.
        login_password = None if login_password is None else Secret(login_password)
        settings = {**locals()}
        del settings["self"], settings["path"], settings["fault"]
        async with self._one_starts:
            if self._cameras is None:
                need_av("cameras")
                from .cameras.server import CameraServer  # large: only when a camera is made

                self._cameras = await self._aside.enter_async_context(CameraServer())
        return await self._cameras.add(path, fault=fault, **settings)

    @staticmethod
    def camera_faults() -> "dict[str, CameraFault]":
        """Every fault that `camera` knows, by its name: the verdict of a preflight (which is
        another name for the first fault of that verdict), and what happens on the wire.

        The preflight knows more verdicts: these are the faults that people meet."""
        from .cameras.faults import FAULTS

        return dict(FAULTS)

    @served
    async def unplug(self, url: str | Secret) -> None:
        """Remove a camera: whoever watches it is cut off, and its address answers 404."""
        try:
            if self._cameras is None:
                raise LookupError
            await self._cameras.remove(Secret(url).reveal())
        except (LookupError, ValueError):
            raise ConfkitError("The sandbox has no camera at this address.") from None

    def snapshot(self, room_id: str, user_id: str) -> "Snapshot":
        """Return the newest keyframe of a device, as a picture that a notebook shows.

        Waits up to 10 s (`dial_timeout`) for the first one. UserNotFound: the room has no such
        device. ConfkitError: its stream is down (an old picture is not given), or does not
        decode."""
        return decoded(*self._keyframe(room_id, user_id))  # in the caller's thread

    @served
    async def _keyframe(self, room_id: str, user_id: str) -> tuple[str, bytes]:
        self._service.existing(room_id)
        held = self._service.devices.find(room_id, user_id)
        if held is None:
            raise UserNotFound(
                f"Room {room_id!r} has no device {user_id!r}; streams() says which there are."
            )
        return await held.keyframe()

    @served
    async def streams(self, room_id: str | None = None) -> "list[DeviceStream]":
        """Return how the streams of devices are, of a room or of all: state, packets, reconnects
        and the verdict of the last failure."""
        held = self._service.devices.held.values()
        return [one.status() for one in held if room_id in (None, one.device.room_id)]

    # A simulated building

    def simulate(
        self,
        rooms: int = 200,
        days: float = 30,
        *,
        every: float = 300,
        until: "datetime | str | float | None" = None,
        live: bool = False,
        speed: float = 1.0,
        seed: int | str | None = None,
        tz: str = "UTC",
        failures: float = 0.0,
        cameras: bool = False,
    ) -> "pd.DataFrame":
        """Return the samples of the past `days` days of a building of so many new rooms.

        One row per room and sample, by time: `time` (UTC), `room_id`, `users`, `people`, `devices`,
        `attendee_max` (missing: no cap), `ret`, typed as by `load_occupancy`. Samples lie `every`
        seconds apart, the last at `until`: a datetime, a text or epoch seconds, a wall-clock time
        of `tz` where it names no zone; now, by the sandbox's clock, unless given. As often as every
        five minutes a month of 200 rooms is 1.7 million rows. With `days=0` there is none, and
        `room_ids()` gives their numbers. Those who are in a meeting at `until` are in their rooms.
        With `live` they come and go from then on, at `speed` simulated minutes a second, until
        `stop_simulation` or `close`; the sandbox's clock is left alone.

        Meetings come in series and singly, in working hours of `tz`, on the hour and the half, most
        of them small. A few rooms are always full, a few are never used, one of these but by a
        camera: a real one with `cameras`, else taken out at the last midnight. `failures` is the
        share of calls that failed, whose values are missing. `building.toml` beside this holds what
        is assumed; holidays are not known. All repeats with the sandbox's seed, the meetings alone
        with `seed`.

        ConfigError: an argument makes no sense. ConfkitError: the licence or the media server lets
        nobody in."""
        self._running()
        from .simulation import Simulation  # loads pandas

        ids = self._service.ids.further()
        simulation = Simulation(
            self._service, ids, rooms, days, every, until, speed, seed, tz, failures, cameras
        )
        self._carry(simulation.furnish)
        if cameras and simulation.camera_room:
            url = self.camera(name="Left behind", size=(320, 180), fps=5)
            self._leave_behind(simulation.camera_room, ids.user_id(), url)
        if live:
            self._carry(lambda: self._service.simulate(simulation.come_and_go()))
        return simulation.samples()

    @served
    async def stop_simulation(self) -> None:
        """Let nobody come or go by itself any more; who is in a room stays there."""
        await self._service.stop_simulations()

    @served
    async def room_ids(self) -> list[str]:
        """Return the numbers of all rooms, in the order in which they were made."""
        return list(self._service.rooms)

    # Machinery

    @served
    async def stop_mcu(self) -> None:
        """Stop the media server: A5 answers 410, and A7 417 for the rooms that it served."""
        await self._service.mcu.stop()

    @served
    async def start_mcu(self) -> None:
        """Start the media server again, on the port that it had before where that is free."""
        try:
            await self._service.mcu.start()
        except OSError:
            self._service.mcu.port = 0
            await self._service.mcu.start()

    @served
    async def unassign_mcu(self, room_id: str) -> None:
        """Take the media server from a room: A7 answers 428 until A5 or a join."""
        self._service.existing(room_id).mcu = False

    @served
    async def licence(
        self,
        seats: float | None = None,
        expired: bool | None = None,
        peer_to_peer: bool | None = None,
    ) -> None:
        """Set what is given. `seats` counts people and devices of all rooms, `math.inf` is any
        number: when all are used A5 answers 411. Expired: 405 from A2 and A5. Without
        peer-to-peer: 701 from A2 with room_mode 3 or 4. ValueError: a value is of the wrong
        kind."""
        is_number = isinstance(seats, int | float) and not isinstance(seats, bool)
        if seats is not None and not (is_number and seats >= 0):
            raise ValueError(f"seats is {seats!r}; give a number from 0, or math.inf")
        for name, value in (("expired", expired), ("peer_to_peer", peer_to_peer)):
            if not isinstance(value, bool | None):
                raise ValueError(f"{name} is {value!r}; give True or False")
        given = {"seats": seats, "expired": expired, "peer_to_peer": peer_to_peer}
        known = vars(self._service.licence)
        known.update((name, value) for name, value in given.items() if value is not None)

    @served
    async def device_service(self, state: DeviceServiceState) -> None:
        """Set the service behind interface B to "running", "stopped" (302, 303, 304) or "hanging"
        (310)."""
        if state not in DEVICE_SERVICE_STATES:
            raise ValueError(
                f"The device service is {', '.join(DEVICE_SERVICE_STATES)}, not {state!r}."
            )
        self._service.device_service = state

    # Faults, time, counters

    @served
    async def fault(
        self,
        path: str,
        *,
        ret: int | None = None,
        http: int | None = None,
        body: str | bytes | None = None,
        delay: float | None = None,
        drop: bool = False,
        times: int | None = None,
        after: bool = False,
    ) -> None:
        """Make the next `times` calls of an operation's path fail, or all until `clear_faults`.

        `ret` is a result code, `http` an HTTP status, `body` is sent as it is, `delay` is in
        seconds, `drop` closes the connection without an answer; `delay` alone answers as usual,
        later. `after` carries the operation out first, so that its answer is lost. Several faults
        of one path follow one another. An unknown path is a ValueError that lists the paths."""
        lasts = math.inf if times is None else times
        self._service.faults.add(Fault(path, ret, http, body, delay, drop, after, lasts))

    @served
    async def clear_faults(self) -> None:
        """Remove all faults."""
        self._service.faults.clear()

    @served
    async def advance(self, seconds: float) -> None:
        """Move the sandbox's clock, by which tokens expire, on by so many seconds."""
        self._service.ahead += seconds

    @served
    async def now(self) -> float:
        """Return the sandbox's time in epoch seconds."""
        return self._service.now()

    @served
    async def count(self, path: str | None = None) -> int:
        """Return the number of requests that have come, refused ones too, of one path or of all."""
        counts = self._service.counts
        return counts.total() if path is None else counts[path]

    @served
    async def _carry(self, function: Callable[..., T], *values: Any) -> T:
        return function(*values)

    @served
    async def _leave_behind(self, room_id: str, user_id: str, url: str) -> None:
        """Bring a camera into a room."""
        device = dict.fromkeys((*B1.required, *B1.optional))
        device |= {"roomId": room_id, "userId": user_id, "userName": "Camera", "userAddress": url}
        try:
            await create_device(self._service, device)
        except Refused as refused:
            raise ConfkitError(f"The camera could not be imported: {refused}.") from None
