"""`Sandbox`: the embedded service as its owner steers it."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import ConfkitError
from ..masking import Secret
from . import people, pictures
from .faults import fault
from .life import Life
from .machinery import DEVICE_SERVICE_STATES, DeviceServiceState
from .service import Service

if TYPE_CHECKING:
    from ssl import SSLContext

    from ..client import Client
    from ..rtsp.fault import CameraFault
    from ..rtsp.report import Snapshot
    from .holding import DeviceStream


class Sandbox(Life):
    """The conferencing service, embedded: both interfaces on two ports of this machine.

    `path` is its SQLite file, None for memory only. With a `seed` ids repeat exactly and the clock
    stands still but for `advance`. `token_lifetime` and `dial_timeout` are in seconds; the latter
    is how long a camera may take to open and, later on, how long it may send nothing. The keys are
    the published demo keys on loopback and random ones beyond it, unless given. `explain` logs
    what was wrong with each refused call; `refusals` keeps the last of these texts anyway.
    `with` or `start()` starts it, once; `close()` ends it.
    """

    def connect(self, **options: Any) -> "Client":
        """A client of this sandbox, in its dialect; `options` are those of `Client`."""
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

    def join(
        self,
        room_id: str,
        user_name: str,
        password: str | None = None,
        user_id: str | None = None,
    ) -> str:
        """The user id of a person who has joined; `password` is the room's host_password and makes
        a host. RoomJoinRefused: room unknown, closed, locked (for hosts too) or full, id taken,
        password wrong, licence expired or used up, no media server."""
        password = None if password is None else Secret(password)
        return self._do(people.join, room_id, user_name, password, user_id)

    def leave(self, room_id: str, user_id: str) -> None:
        """Takes a person out of a room; UserNotFound where there is none."""
        self._do(people.leave, room_id, user_id)

    def people(self, room_id: str) -> list[dict[str, Any]]:
        """The people in a room, each with user_id, user_name and host; devices are not people."""
        return self._do(people.listed, room_id)

    def lock(self, room_id: str) -> None:
        """Locks a room: who is in it stays, nobody new can join."""
        self._do(people.lock, room_id, True)

    def unlock(self, room_id: str) -> None:
        """Unlocks a room."""
        self._do(people.lock, room_id, False)

    def close_room(self, room_id: str) -> None:
        """Closes a room for good and puts everybody and every device off."""
        self._run(people.close(self._running(), room_id))

    # Cameras

    def camera(
        self,
        path: str | None = None,
        login_name: str | None = None,
        login_password: str | None = None,
        codec: str = "h264",
        size: tuple[int, int] = (640, 360),
        fps: int = 15,
        keyframe_every: float = 1.0,
        auth: str = "digest",
        fault: str | None = None,
        *,
        name: str | None = None,
        transports: Collection[str] = ("tcp", "udp"),
        max_viewers: int | None = None,
        tls: "SSLContext | None" = None,
    ) -> str:
        """The address of a new RTSP camera with a moving test picture, without a login in it.

        It is on loopback, and open unless it has a login. `codec` is "h264", "h265" or "mjpeg",
        `size` in pixels, `keyframe_every` in seconds; `auth` is "digest" (SHA-256 and MD5),
        "sha-256" or "basic". `fault` makes it fail: see `camera_faults`. `name` stands in the
        picture in place of the path. More than `max_viewers` are answered 453. `tls`, a server's
        context with its certificate, makes it an rtsps camera. A value that makes no sense is a
        ValueError that says what does."""
        login_password = None if login_password is None else Secret(login_password)
        settings = {
            "login_name": login_name,
            "login_password": login_password,
            "codec": codec, "size": size, "fps": fps, "keyframe_every": keyframe_every,
            "auth": auth, "name": name, "transports": transports, "max_viewers": max_viewers,
            "tls": tls,
        }  # fmt: skip
        self._running()
        return self._run(self._add_camera(path, fault, settings))

    @staticmethod
    def camera_faults() -> "dict[str, CameraFault]":
        """Every fault that `camera` can have, by its name: the verdict of a preflight (which is
        another name for the first fault of that verdict), and what happens on the wire.

        "ok" is the verdict of cameras that play all the same and trip others up. Two verdicts never
        reach a wire (url_malformed, credentials_conflict), and service_cannot_reach takes two."""
        from ..rtsp.zoo import camera_faults

        return camera_faults()

    def unplug(self, url: str) -> None:
        """Takes a camera away: whoever watches it is cut off, and its address answers 404."""
        self._do(self._remove_camera, url)

    def snapshot(self, room_id: str, user_id: str) -> "Snapshot":
        """The newest keyframe of a device, as a picture that a notebook shows.

        Waits up to `dial_timeout` for the first one. UserNotFound: the room has no such device.
        ConfkitError: its stream is down (an old picture is not given), or does not decode."""
        codec, keyframe = self._run(self._running().keyframe(room_id, user_id))
        return pictures.picture(codec, keyframe)  # decoded in the caller's thread

    def streams(self, room_id: str | None = None) -> "list[DeviceStream]":
        """How the streams of the devices fare, of a room or of all: state, packets, reconnects and
        the verdict of the last failure."""
        return self._do(lambda service: service.streams(room_id))

    # Machinery

    def stop_mcu(self) -> None:
        """Stops the media server: A5 answers 410, and A7 417 for the rooms that it served."""
        self._run(self._running().mcu.stop())

    def start_mcu(self) -> None:
        """Starts the media server again."""
        self._run(self._running().mcu.start())

    def unassign_mcu(self, room_id: str) -> None:
        """Takes the media server from a room: A7 answers 428 until A5 or a join."""
        self._do(people.unassign_mcu, room_id)

    def licence(
        self,
        seats: float | None = None,
        expired: bool | None = None,
        peer_to_peer: bool | None = None,
    ) -> None:
        """Sets what is given. `seats` counts people and devices of all rooms, `math.inf` is any
        number: when all are used A5 answers 411. Expired: 405 from A2 and A5. Without
        peer-to-peer: 701 from A2 with room_mode 3 or 4."""
        given = {"seats": seats, "expired": expired, "peer_to_peer": peer_to_peer}
        self._do(lambda service: service.licence.change(given))

    def device_service(self, state: DeviceServiceState) -> None:
        """Sets the service behind interface B to "running", "stopped" (302, 303, 304) or "hanging"
        (310)."""
        if state not in DEVICE_SERVICE_STATES:
            raise ValueError(
                f"The device service is {', '.join(DEVICE_SERVICE_STATES)}, not {state!r}."
            )
        self._do(lambda service: setattr(service, "device_service", state))

    # Faults, time, counters

    def fault(
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
        """Makes the next `times` calls of an operation's path fail, or all until `clear_faults`.

        `ret` is a result code, `http` an HTTP status, `body` is sent as it is, `delay` is in
        seconds, `drop` closes the connection without an answer; `delay` alone answers as usual,
        later. `after` carries the operation out first, so that its answer is lost. Several faults
        of one path follow one another. An unknown path is a ValueError that lists the paths."""
        made = fault(ret, http, body, delay, drop, after)
        self._do(lambda _: self._faults.add(path, made, times))

    def clear_faults(self) -> None:
        """Forgets all faults."""
        self._do(lambda _: self._faults.clear())

    def advance(self, seconds: float) -> None:
        """Moves the sandbox's clock, by which tokens expire, on by so many seconds."""
        self._do(lambda service: service.clock.advance(seconds))

    def now(self) -> float:
        """The sandbox's time in epoch seconds."""
        return self._running().clock()

    def count(self, path: str | None = None) -> int:
        """The number of requests that have come, refused ones too, of one path or of all."""
        self._running()
        return self._counts[path] if path is not None else sum(self._counts.copy().values())

    async def _add_camera(
        self, path: str | None, fault: str | None, settings: Mapping[str, Any]
    ) -> str:
        if self._cameras is None:
            pictures.need_av("cameras")
            from ..rtsp.camera import CameraServer  # large: only when a camera is made

            cameras = CameraServer(host="127.0.0.1", port=0)
            await cameras.start()
            self._cameras = cameras
        return await self._cameras.add(path, fault=fault, **settings)

    def _remove_camera(self, _: Service, url: str) -> None:
        try:
            if self._cameras is None:
                raise LookupError
            self._cameras.remove(url)
        except LookupError:
            raise ConfkitError("The sandbox has no camera at this address.") from None
