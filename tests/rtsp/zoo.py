"""The fault zoo: the shipped faults of cameras, and rare ones that the preflight names, too.

`url_malformed` and `credentials_conflict` are not here, for they never reach a wire, and neither is
`service_cannot_reach`, which takes two wires.
"""

import asyncio
import re
from dataclasses import replace
from functools import partial

from confkit.rtsp.address import parse_address
from confkit.sandbox.cameras.faults import (
    FAULTS,
    CameraFault,
    answers,
    plays,
    plays_no_keyframe,
    with_login,
)
from confkit.sandbox.cameras.ports import Caller, Listener, talking
from confkit.sandbox.cameras.serving import Guard
from confkit.sandbox.cameras.session import answer

_NO_SSH = b"Invalid SSH identification string.\r\n"
_TELNET = b"\xff\xfd\x01\xff\xfd\x1f\xff\xfb\x01\xff\xfb\x03\r\n(none) login: "
_TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x0a"  # fatal, unexpected message
_SLOW = b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN\r\n\r\n"
_LOGIN_PAGE = b"<!DOCTYPE html>\n<html><head><title>Login</title></head><body></body></html>\n"
_WINDOWS = ("WWW-Authenticate", "Negotiate"), ("WWW-Authenticate", "NTLM")
_AUDIO = (
    b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=audio\r\nt=0 0\r\nm=audio 0 RTP/AVP 0\r\n"
    b"a=rtpmap:0 PCMU/8000\r\na=control:track1\r\n"
)


def says(method, status, *headers):
    """What makes a camera answer a method with this status, once the login is right."""
    return answers(method, answer(status, *headers))


def describes(body, kind="application/sdp"):
    """What makes a camera send something else in place of its description."""
    return answers("DESCRIBE", answer(200, ("Content-Type", kind), body=body))


def describes_half(camera):
    """Cuts the description inside its media line."""
    whole = camera.description
    return describes(whole[: whole.index(b"m=") + 9])(camera)


def redirects_for_ever(camera):
    """Redirects to the same address."""
    return says("DESCRIBE", 302, ("Location", camera.url))(camera)


def has_moved(camera):
    """Redirects to the address with a slash at its end, and answers there."""
    away = answer(302, ("Location", camera.url + "/"))

    def instead(request):
        return away if request.method == "DESCRIBE" and not request.url.endswith("/") else None

    return replace(camera, instead=instead)


def names_private_base(camera):
    """Describes the camera with the address that it has behind its router."""
    base = f"rtsp://192.168.1.64:554{parse_address(camera.url).path}/"
    described = answer(
        200, ("Content-Base", base), ("Content-Type", "application/sdp"), body=camera.description
    )
    return answers("DESCRIBE", described)(camera)


def forgets_nonces(camera):
    """Lets the first nonce be outdated as soon as it is used."""

    class Forgetful(Guard):
        def challenges(self, now, *, stale=False):
            return super().challenges(now if stale else now - self.nonce_seconds, stale=stale)

    guard = camera.guard
    return replace(camera, guard=Forgetful(guard.login, guard.realm, guard.algorithms, guard.key))


def says_h264(camera):
    """Describes H.265 as H.264."""
    plain = re.sub(rb"a=fmtp:.*\r\n", b"", camera.description)
    return replace(camera, description=plain.replace(b" H265/", b" H264/"))


def greets(greeting, answer=b"", *, closes=True, pause=0.0):
    """What opens a port that greets, and answers what comes: at a byte each `pause` seconds."""

    class Greeter(Caller):
        def connection_made(self, transport):
            super().connection_made(transport)
            transport.write(greeting)
            if closes and not answer:
                transport.close()

        def data_received(self, _data):
            if answer and not hasattr(self, "task"):
                self.task = asyncio.create_task(self.drip())

        def connection_lost(self, exc):
            super().connection_lost(exc)
            if hasattr(self, "task"):
                self.task.cancel()

        async def drip(self):
            for start in range(0, len(answer), size := 1 if pause else len(answer)):
                self.transport.write(answer[start : start + size])
                await asyncio.sleep(pause)
            self.transport.close()

    async def opened(host):
        listener = Listener(host, Greeter)
        await listener.start()
        return listener

    return opened


RARE = {
    "unreachable": CameraFault(
        "unreachable",
        "Nothing: the host is a broadcast address of this machine, to which no system connects.",
        address=partial(replace, host="127.255.255.255"),
    ),
    "ssh_port": CameraFault(
        "not_rtsp",
        "Greets with SSH-2.0-OpenSSH, and closes after the first request.",
        port=greets(b"SSH-2.0-OpenSSH_8.4\r\n", _NO_SSH),
    ),
    "telnet_port": CameraFault(
        "not_rtsp",
        "Greets with the options and the login prompt of a telnet server.",
        port=greets(_TELNET, closes=False),
    ),
    "plain_port": CameraFault(
        "tls_failed",
        "A healthy camera without TLS whose address says rtsps: its answer to a TLS hello is RTSP.",
        address=partial(replace, scheme="rtsps"),
    ),
    "tls_port": CameraFault(
        "tls_failed",
        "A port for TLS whose address says rtsp: answers with a TLS alert, and closes.",
        port=talking(_TLS_ALERT),
    ),
    "closes_at_once": CameraFault(
        "rtsp_silent", "Accepts connections and closes them at once.", port=greets(b"")
    ),
    "drip": CameraFault(
        "rtsp_silent",
        "Answers OPTIONS rightly, at one byte a second.",
        port=greets(b"", _SLOW, pause=1.0),
    ),
    "auth_unsupported": CameraFault(
        "auth_unsupported",
        "Answers DESCRIBE with 401, and offers Negotiate and NTLM only (without a login: "
        "auth_required).",
        camera=lambda camera: replace(says("DESCRIBE", 401, *_WINDOWS)(camera), guard=None),
    ),
    "forbidden": CameraFault(
        "forbidden", "Answers DESCRIBE with 403 Forbidden.", camera=says("DESCRIBE", 403)
    ),
    "stale_nonce": CameraFault(
        "ok",
        "Plays, but takes the first nonce for outdated: 401 with stale=true, once.",
        settings=with_login,
        camera=forgets_nonces,
    ),
    "closes_after_401": CameraFault(
        "ok",
        "Plays, but closes the connection after each 401.",
        settings=with_login,
        camera=plays(closes_after="401"),
    ),
    "wrong_path_400": CameraFault(
        "path_not_found",
        "Answers DESCRIBE with 400 Bad Request, as some cameras do for an unknown path.",
        camera=says("DESCRIBE", 400),
    ),
    "wrong_path_454": CameraFault(
        "path_not_found",
        "Answers DESCRIBE with 454 Session Not Found, as some cameras do for an unknown path.",
        camera=says("DESCRIBE", 454),
    ),
    "redirected": CameraFault(
        "redirected",
        "Answers DESCRIBE with 302 and a Location that does the same, for ever.",
        camera=redirects_for_ever,
    ),
    "moved": CameraFault(
        "redirected",
        "Answers DESCRIBE with 302 and a Location that plays (report.ok is True).",
        camera=has_moved,
    ),
    "private_base": CameraFault(
        "ok",
        "Plays, but its Content-Base names 192.168.1.64: requests must stay on the connection.",
        camera=names_private_base,
    ),
    "server_error": CameraFault(
        "server_error",
        "Answers DESCRIBE with 500 Internal Server Error.",
        camera=says("DESCRIBE", 500),
    ),
    "sdp_invalid": CameraFault(
        "sdp_invalid",
        "Answers DESCRIBE with 200 and a description that ends in the middle of its media line.",
        camera=describes_half,
    ),
    "sdp_empty": CameraFault(
        "sdp_invalid", "Answers DESCRIBE with 200 and no description.", camera=describes(b"")
    ),
    "sdp_html": CameraFault(
        "sdp_invalid",
        "Answers DESCRIBE with 200 and the HTML of a login page.",
        camera=describes(_LOGIN_PAGE, "text/html"),
    ),
    "no_video": CameraFault("no_video", "Describes audio (PCMU) only.", camera=describes(_AUDIO)),
    "busy_503": CameraFault(
        "busy", "Answers DESCRIBE with 503 Service Unavailable.", camera=says("DESCRIBE", 503)
    ),
    "transport_refused": CameraFault(
        "transport_refused",
        "Answers every SETUP with 461 Unsupported Transport.",
        camera=plays(transports=frozenset()),
    ),
    "setup_refused": CameraFault(
        "setup_play_failed",
        "Answers SETUP with 500 Internal Server Error.",
        camera=says("SETUP", 500),
    ),
    "play_refused": CameraFault(
        "setup_play_failed",
        "Answers PLAY with 455 Method Not Valid in This State.",
        camera=says("PLAY", 455),
    ),
    "wrong_codec": CameraFault(
        "no_picture",
        "Describes H.264 and plays H.265.",
        settings=partial(replace, codec="h265"),
        camera=says_h264,
    ),
    "dropped_later": CameraFault(
        "dropped",
        "Accepts PLAY and closes the connection after half a second of predicted pictures.",
        camera=lambda camera: replace(
            plays_no_keyframe(camera), closes_after="PLAY", closes_in=0.5
        ),
    ),
}
ZOO = FAULTS | RARE
