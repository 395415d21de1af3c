"""Faults of cameras: what people meet, each as a row.

On the wire is what an RFC has or real devices send, and no mark by which a client could know the
fault.  A camera may have a row of one's own, too.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_urlsafe

from ...rtsp.address import Address
from ...rtsp.h26x import LAYOUTS, join_nals, split_nals
from ...rtsp.message import Response
from ...rtsp.sdp import ENCODINGS
from .camera import Camera, Settings, packetise_loop
from .ports import Opener, refusing, talking, unanswering
from .session import answer

Change = Callable[[Camera], object]


@dataclass(frozen=True)
class CameraFault:
    """The verdict of a preflight of such a camera, and what is on the wire.

    The other fields say how it differs from a healthy one; a `port` is all that there is of it.
    """

    verdict: str
    wire: str
    settings: Callable[[Settings], Settings] = field(default=lambda settings: settings, repr=False)
    camera: Change = field(default=lambda _camera: None, repr=False)
    address: Callable[[Address], Address] = field(default=lambda address: address, repr=False)
    port: Opener | None = field(default=None, repr=False)


def find_fault(fault: str | CameraFault | None) -> CameraFault:
    """Return the fault of that name, or the first with that verdict; raises ValueError for another.

    None is no fault, and a row is itself.
    """
    if isinstance(fault, CameraFault):
        return fault
    if fault is None:
        return CameraFault("ok", "")
    for name, row in sorted(FAULTS.items(), key=lambda item: item[0] != fault):
        if fault in (name, row.verdict):
            return row
    known = ", ".join(FAULTS)
    raise ValueError(f"There is no such fault; camera_faults() explains them: {known}.")


def with_login(settings: Settings) -> Settings:
    """Return settings with a login, admin and admin where none is given."""
    known = replace(settings, login_name="admin", login_password="admin")  # noqa: S106 - published
    return settings if settings.login else known


def with_certificate(settings: Settings) -> Settings:
    """Return settings with TLS and a certificate that nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("worthless.pem"))
    return replace(settings, tls=context)


def answers(method: str, response: Response) -> Change:
    """Return what makes a camera give another answer to a method, once the login is right."""

    def change(camera: Camera) -> None:
        camera.instead = lambda request: response if request.method == method else None

    return change


def is_locked(camera: Camera) -> None:
    """Refuse everybody; the words are free by the RFC, and makers have their own."""
    answers("DESCRIBE", replace(answer(403), reason="Account Locked"))(camera)
    camera.guard = None


def says_mpeg4(camera: Camera) -> None:
    """Describe the stream as MPEG-4 Part 2."""
    encoding = ENCODINGS[camera.loop.codec].encode()
    camera.description = camera.description.replace(encoding, b"MP4V-ES")


def plays_nothing(camera: Camera) -> None:
    """Accept PLAY and send no packet."""
    camera.payloads = [[]]


def drops(camera: Camera) -> None:
    """Accept PLAY, and close the connection."""
    plays_nothing(camera)
    camera.closes_after = "PLAY"


def plays_no_keyframe(camera: Camera) -> None:
    """Leave the keyframes out."""
    interval = camera.loop.keyframe_frames
    if interval == 1:
        raise ValueError("A camera without keyframes needs h264 or h265 and a longer interval.")
    camera.payloads[::interval] = [[] for _ in camera.payloads[::interval]]


def plays_scrambled(camera: Camera) -> None:
    """Scramble the pictures and leave the parameter sets, as encrypting cameras do."""
    layout = LAYOUTS.get(camera.loop.codec)
    if layout is None:
        raise ValueError("A camera that scrambles its pictures needs h264 or h265.")

    def scrambled(nal: bytes) -> bytes:
        kept = len(nal) if layout.type_of(nal) in layout.parameter_sets else layout.header
        return nal[:kept] + bytes(byte ^ 0x5A | 1 for byte in nal[kept:])  # no start code

    frames = tuple(join_nals(map(scrambled, split_nals(frame))) for frame in camera.loop.frames)
    camera.payloads = packetise_loop(replace(camera.loop, frames=frames))


_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\nServer: lighttpd/1.4.59\r\nContent-Type: text/html\r\n"
    b"Content-Length: 50\r\nConnection: close\r\n\r\n<html><body><h1>400 Bad Request</h1></body>"
    b"</html>"
)

FAULTS = {
    # The host and its port
    "dns_failed": CameraFault(
        "dns_failed",
        "Nothing but a name lookup: the host is camera.invalid, which has no address by RFC 6761.",
        address=partial(replace, host="camera.invalid"),
    ),
    "refused": CameraFault(
        "refused", "The SYN is answered with RST: nothing listens at this port.", port=refusing
    ),
    "connect_timeout": CameraFault(
        "connect_timeout",
        "The SYN stays unanswered, as behind a firewall: the port's queue is full (on Linux; other "
        "systems may refuse).",
        port=unanswering,
    ),
    "not_rtsp": CameraFault(
        "not_rtsp",
        "Answers whatever comes with HTTP/1.1 400 Bad Request, and closes: a web server.",
        port=partial(talking, words=_HTTP),
    ),
    "untrusted_certificate": CameraFault(
        "tls_failed",
        "A healthy camera with an rtsps address and a certificate that it has signed itself.",
        settings=with_certificate,
    ),
    "rtsp_silent": CameraFault(
        "rtsp_silent", "Accepts connections and never answers.", port=talking
    ),
    # The login and the description
    "auth_required": CameraFault(
        "auth_required",
        "Answers DESCRIBE with 401 until the login comes: the given one, or admin with admin.",
        settings=with_login,
    ),
    "auth_rejected": CameraFault(
        "auth_rejected",
        "Answers each login with 401, for nobody knows its password (without one: auth_required).",
        settings=lambda settings: replace(with_login(settings), login_password=token_urlsafe()),
    ),
    "locked": CameraFault(
        "auth_locked", "Answers DESCRIBE with 403 Account Locked.", camera=is_locked
    ),
    "wrong_path": CameraFault(
        "path_not_found",
        "A healthy camera whose address is wrong: DESCRIBE is answered with 404 Not Found.",
        address=lambda address: replace(address, path=address.path + "/sub"),
    ),
    "codec_unsupported": CameraFault(
        "codec_unsupported", "Describes MPEG-4 Part 2 (MP4V-ES).", camera=says_mpeg4
    ),
    # SETUP, PLAY and the media
    "busy": CameraFault(
        "busy",
        "Answers SETUP with 453 Not Enough Bandwidth.",
        settings=partial(replace, max_viewers=0),
    ),
    "udp_blocked": CameraFault(
        "udp_blocked",
        "Answers SETUP over TCP with 461; accepts UDP and PLAY, and no datagram arrives.",
        settings=partial(replace, transports=("udp",)),
        camera=plays_nothing,
    ),
    "no_media": CameraFault("no_media", "Accepts PLAY and sends no packet.", camera=plays_nothing),
    "no_keyframe": CameraFault(
        "no_keyframe",
        "Plays predicted pictures only, never a keyframe.",
        camera=plays_no_keyframe,
    ),
    "no_picture": CameraFault(
        "no_picture",
        "Plays keyframes of which only the parameter sets are readable, as encrypting cameras do.",
        camera=plays_scrambled,
    ),
    "dropped": CameraFault(
        "dropped",
        "Accepts PLAY and closes the connection.",
        camera=drops,
    ),
}
