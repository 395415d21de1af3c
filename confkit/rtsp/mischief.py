"""What makes a healthy demo camera a faulty one: a small function each."""

from __future__ import annotations

import re
import secrets
import ssl
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from .address import parse_address
from .h26x import LAYOUTS, join_nals, split_nals
from .message import Request, Response
from .picture import Loop
from .serving import Guard
from .session import answer
from .settings import Settings
from .viewer import Camera, describe_loop, packetise_loop

Change = Callable[[Camera], Camera]

_SDP = ("Content-Type", "application/sdp")
_NO_PACKETS: list[list[bytes]] = [[]]
_SILENCE = Loop("pcmu", 50, 1, (b"\xff" * 160,) * 50)

# Settings


def with_login(settings: Settings) -> Settings:
    """Return settings with a login, admin and admin where none is given."""
    known = replace(settings, login_name="admin", login_password="admin")  # noqa: S106 - published
    return settings if settings.login else known


def with_other_login(settings: Settings) -> Settings:
    """Return settings with a password that nobody knows."""
    return replace(with_login(settings), login_password=secrets.token_urlsafe())


def with_certificate(settings: Settings) -> Settings:
    """Return settings with TLS and a certificate that nobody trusts."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("worthless.pem"))
    return replace(settings, tls=context)


# Answers


def says(method: str, status: int, *headers: tuple[str, str]) -> Change:
    """Return what makes a camera answer a method with this status, once the login is right."""
    return partial(_replaces, method, answer(status, *headers))


def describes(body: bytes, kind: str = "application/sdp") -> Change:
    """Return what makes a camera send something else in place of its description."""
    return partial(_replaces, "DESCRIBE", answer(200, ("Content-Type", kind), body=body))


def describes_half(camera: Camera) -> Camera:
    """Cut the description inside its media line."""
    whole = camera.description
    return describes(whole[: whole.index(b"m=") + 9])(camera)


def is_locked(camera: Camera) -> Camera:
    """Refuse everybody; the words are free by the RFC, and makers have their own."""
    refusal = replace(answer(403), reason="Account Locked")
    return replace(_replaces("DESCRIBE", refusal, camera), guard=None)


def asks_for_windows_logins(camera: Camera) -> Camera:
    """Offer the schemes of Windows servers only."""
    offers = ("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", "NTLM")
    return replace(says("DESCRIBE", 401, *offers)(camera), guard=None)


def redirects_for_ever(camera: Camera) -> Camera:
    """Redirect to the same address."""
    return says("DESCRIBE", 302, ("Location", camera.url))(camera)


def has_moved(camera: Camera) -> Camera:
    """Redirect to the address with a slash at its end, and answer there."""
    away = answer(302, ("Location", camera.url + "/"))

    def instead(request: Request) -> Response | None:
        return away if request.method == "DESCRIBE" and not request.url.endswith("/") else None

    return replace(camera, instead=instead)


def names_private_base(camera: Camera) -> Camera:
    """Describe the camera with the address that it has behind its router."""
    base = f"rtsp://192.168.1.64:554{parse_address(camera.url).path}/"
    described = answer(200, ("Content-Base", base), _SDP, body=camera.description)
    return _replaces("DESCRIBE", described, camera)


def forgets_nonces(camera: Camera) -> Camera:
    """Let the first nonce be outdated as soon as it is used."""

    class Forgetful(Guard):
        def challenges(self, now: float, *, stale: bool = False) -> list[str]:
            return super().challenges(now if stale else now - self.nonce_seconds, stale=stale)

    guard = camera.guard
    if guard:
        guard = Forgetful(guard.login, guard.realm, guard.algorithms, guard.key)
    return replace(camera, guard=guard)


# Media


def plays(**changes: object) -> Change:
    """Return what changes these fields of a camera."""

    def changed(camera: Camera) -> Camera:
        return replace(camera, **changes)  # type: ignore[arg-type]

    return changed


def plays_nothing(**changes: object) -> Change:
    """Return what lets a camera accept PLAY and send no packet."""
    return plays(payloads=_NO_PACKETS, **changes)


def plays_no_keyframe(camera: Camera) -> Camera:
    """Leave the keyframes out."""
    interval = camera.loop.keyframe_frames
    if interval == 1:
        raise ValueError("A camera without keyframes needs h264 or h265 and a longer interval.")
    rest = [group if number % interval else [] for number, group in enumerate(camera.payloads)]
    return replace(camera, payloads=rest)


def plays_scrambled(camera: Camera) -> Camera:
    """Scramble the pictures and leave the parameter sets, as encrypting cameras do."""
    if camera.loop.codec not in LAYOUTS:
        raise ValueError("A camera that scrambles its pictures needs h264 or h265.")
    layout = LAYOUTS[camera.loop.codec]

    def scrambled(nal: bytes) -> bytes:
        if layout.type_of(nal) in layout.parameter_sets:
            return nal
        body = nal[layout.header :]
        return nal[: layout.header] + bytes(byte ^ 0x5A | 1 for byte in body)  # no start code

    frames = tuple(join_nals(map(scrambled, split_nals(frame))) for frame in camera.loop.frames)
    return replace(camera, payloads=packetise_loop(replace(camera.loop, frames=frames)))


def says_h264(camera: Camera) -> Camera:
    """Describe H.265 as H.264."""
    plain = re.sub(rb"a=fmtp:.*\r\n", b"", camera.description)
    return replace(camera, description=plain.replace(b" H265/", b" H264/"))


def plays_silence(camera: Camera) -> Camera:
    """Offer and play audio only."""
    description, payloads = describe_loop("audio", _SILENCE), packetise_loop(_SILENCE)
    return replace(camera, loop=_SILENCE, description=description, payloads=payloads)


def _replaces(method: str, response: Response, camera: Camera) -> Camera:
    def instead(request: Request) -> Response | None:
        return response if request.method == method else None

    return replace(camera, instead=instead)
