"""Common faults of cameras, one row each.

The traffic follows an RFC or real devices, and has no mark by which a client could recognise it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from typing import Any

from ...rtsp.address import Address
from ...rtsp.auth import Login
from ...rtsp.sdp import ENCODINGS
from .camera import Camera

Change = Callable[[Camera], Camera]


@dataclass(frozen=True)
class CameraFault:
    """The verdict of a preflight of such a camera, and what is on the wire.

    `camera` and `address` change a healthy camera and its address, at a port that is open until the
    stack is closed.
    """

    verdict: str
    wire: str
    camera: Change = field(default=lambda camera: camera, repr=False)
    address: Callable[[Address, ExitStack], Address] = field(
        default=lambda address, _: address, repr=False
    )
    scrambled: bool = False


def _with(**changes: Any) -> Change:
    return lambda camera: replace(camera, **changes)


def _without_frames(**changes: Any) -> Change:
    return lambda camera: replace(camera, loop=replace(camera.loop, payloads=((),)), **changes)


def _without_keyframes(camera: Camera) -> Camera:
    interval = camera.loop.keyframe_frames
    payloads = [group if n % interval else () for n, group in enumerate(camera.loop.payloads)]
    return replace(camera, loop=replace(camera.loop, payloads=tuple(payloads)))


def _as_mpeg4(camera: Camera) -> Camera:
    encoding = ENCODINGS[camera.loop.codec].encode()
    return replace(camera, description=camera.description.replace(encoding, b"MP4V-ES"))


def _refusing(address: Address, opened: ExitStack) -> Address:
    """Return the address with a reserved port, at which nothing listens."""
    bound = opened.enter_context(socket.socket())
    bound.bind(("127.0.0.1", 0))
    return replace(address, port=bound.getsockname()[1])


def _unanswering(address: Address, opened: ExitStack) -> Address:
    """Return the address with a port whose queue is full: Linux then drops every further SYN."""
    listener = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
    for _ in range(2):  # one fills the queue, one to be sure
        caller = opened.enter_context(socket.socket())
        caller.setblocking(False)
        caller.connect_ex(listener.getsockname())
    return replace(address, port=listener.getsockname()[1])


_HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

# The host and its port; the login and the description; SETUP, PLAY and the media.
_ROWS = (
    CameraFault(
        "dns_failed",
        "Only a name look-up: the host is camera.invalid, which has no address by RFC 6761.",
        address=lambda address, _: replace(address, host="camera.invalid"),
    ),
    CameraFault(
        "refused", "The SYN is answered with RST: nothing listens at this port.", address=_refusing
    ),
    CameraFault(
        "connect_timeout",
        "The SYN stays unanswered, as behind a firewall: the port's queue is full (on Linux; other "
        "systems may refuse).",
        address=_unanswering,
    ),
    CameraFault(
        "not_rtsp",
        "Answers any request with HTTP/1.1 400 Bad Request, and closes: a web server.",
        _with(raw_answer=_HTTP),
    ),
    CameraFault("rtsp_silent", "Accepts connections and never answers.", _with(raw_answer=b"")),
    CameraFault(
        "auth_required",
        "Answers DESCRIBE with 401 without the login: the camera's own, or admin with admin.",
        lambda camera: replace(camera, login=camera.login or Login("admin", "admin")),
    ),
    CameraFault(
        "auth_rejected",
        "Answers any login with 401, as its password is unknown (without a login: auth_required).",
        _with(login=Login("admin", token_urlsafe())),
    ),
    # The RFC leaves the reason of a 403 open, and manufacturers use their own.
    CameraFault(
        "auth_locked",
        "Answers DESCRIBE with 403 Account Locked.",
        _with(login=None, refusals={"DESCRIBE": "403 Account Locked"}),
    ),
    CameraFault(
        "path_not_found",
        "A healthy camera whose address is wrong: DESCRIBE is answered with 404 Not Found.",
        address=lambda address, _: replace(address, path=address.path + "/sub"),
    ),
    CameraFault("codec_unsupported", "Describes MPEG-4 Part 2 (MP4V-ES).", _as_mpeg4),
    CameraFault(
        "busy",
        "Answers SETUP with 453 Not Enough Bandwidth.",
        _with(refusals={"SETUP": "453 Not Enough Bandwidth"}),
    ),
    CameraFault(
        "udp_blocked",
        "Answers SETUP over TCP with 461; accepts UDP and PLAY, and no datagram arrives.",
        _without_frames(transports=("udp",)),
    ),
    CameraFault("no_media", "Accepts PLAY and sends no packet.", _without_frames()),
    CameraFault(
        "no_keyframe", "Plays predicted pictures only, never a keyframe.", _without_keyframes
    ),
    CameraFault(
        "no_picture",
        "Plays keyframes of which only the parameter sets are readable, as encrypting cameras do.",
        scrambled=True,
    ),
    CameraFault(
        "dropped",
        "Accepts PLAY and closes the connection.",
        _without_frames(closes_after="PLAY"),
    ),
)
_NAMES = {"auth_locked": "locked", "path_not_found": "wrong_path"}
FAULTS = {_NAMES.get(row.verdict, row.verdict): row for row in _ROWS}
