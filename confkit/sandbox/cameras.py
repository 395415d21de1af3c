"""The part of `Sandbox` with cameras: those that it plays, and what comes from imported ones."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import ConfkitError
from ..secret import Secret
from . import pictures
from .life import Life
from .outgoing import create_device
from .service import Refused, Service
from .sockets import share

if TYPE_CHECKING:
    from ssl import SSLContext

    from ..rtsp.fault import CameraFault
    from ..rtsp.report import Snapshot
    from .holding import DeviceStream


class Cameras(Life):
    """A sandbox that can be given cameras."""

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

        Waits up to 10 s (`dial_timeout`) for the first one. UserNotFound: the room has no such
        device. ConfkitError: its stream is down (an old picture is not given), or does not
        decode."""
        codec, keyframe = self._run(self._running().keyframe(room_id, user_id))
        return pictures.picture(codec, keyframe)  # decoded in the caller's thread

    def streams(self, room_id: str | None = None) -> "list[DeviceStream]":
        """How the streams of the devices fare, of a room or of all: state, packets, reconnects and
        the verdict of the last failure."""
        return self._do(lambda service: service.streams(room_id))

    async def _add_camera(
        self, path: str | None, fault: str | None, settings: Mapping[str, Any]
    ) -> str:
        if self._cameras is None:
            pictures.need_av("cameras")
            from ..rtsp.camera import CameraServer  # large: only when a camera is made

            cameras = CameraServer(host="127.0.0.1", port=0, most=share(10, 500))
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

    def _left_behind(self, room_id: str, user_id: str) -> None:
        """Brings a camera of its own into a room."""
        device = {
            "roomId": room_id, "userId": user_id, "userName": "Camera",
            "userAddress": self.camera(name="Left behind", size=(320, 180), fps=5),
        }  # fmt: skip
        try:
            self._run(create_device(self._running(), device))
        except Refused as refused:
            raise ConfkitError(f"The camera could not be imported: {refused.why}.") from None
