"""`Sandbox`: the embedded service as its owner steers it."""

from collections.abc import Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import ConfkitError
from ..masking import Secret
from . import people
from .faults import fault
from .life import Life
from .machinery import DEVICE_SERVICE_STATES, DeviceServiceState
from .service import Service

if TYPE_CHECKING:
    from ..client import Client


def _set_licence(given: Mapping[str, Any], service: Service) -> None:
    for name, value in given.items():
        if value is not None:
            setattr(service.licence, name, value)


class Sandbox(Life):
    """The conferencing service, embedded: both interfaces on two ports of this machine.

    `path` is its SQLite file, None for memory only. With a `seed` ids repeat exactly and the clock
    stands still but for `advance`. `token_lifetime` and `dial_timeout` are in seconds. The keys are
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
        **options: Any,
    ) -> str:
        """The address of a new RTSP camera with a moving test picture, without a login in it.

        Cameras are on loopback always. `options` are those of `CameraServer.add`: codec, size, fps,
        keyframe_every, auth, name."""
        login_password = None if login_password is None else Secret(login_password)
        login = {"login_name": login_name, "login_password": login_password}
        self._running()
        return self._run(self._add_camera(path, {**login, **options}))

    def unplug(self, url: str) -> None:
        """Takes a camera away; whoever watches it is cut off."""
        self._do(self._remove_camera, url)

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
        self._do(partial(_set_licence, given))

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
        return self._do(people.now)

    def count(self, path: str | None = None) -> int:
        """The number of requests that have come, refused ones too, of one path or of all."""
        self._running()
        return self._counts[path] if path is not None else sum(self._counts.copy().values())

    async def _add_camera(self, path: str | None, options: Mapping[str, Any]) -> str:
        if self._cameras is None:
            if find_spec("av") is None:
                raise ConfkitError(
                    "cameras need av (PyAV); run: pip install 'confkit-notebooks[lab]'"
                )
            from ..rtsp.camera import CameraServer  # large: only when a camera is made

            cameras = CameraServer(host="127.0.0.1", port=0)
            await cameras.start()
            self._cameras = cameras
        return await self._cameras.add(path, **options)

    def _remove_camera(self, _: Service, url: str) -> None:
        try:
            if self._cameras is None:
                raise LookupError
            self._cameras.remove(url)
        except LookupError:
            raise ConfkitError("The sandbox has no camera at this address.") from None
