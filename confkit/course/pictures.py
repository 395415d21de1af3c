"""The course's pictures: the service, the order of calls, a token, a room's life, RTSP."""

from __future__ import annotations

from ..errors import ConfigError
from .drawing import Arrow, Box, Picture

_SERVICE = Picture(
    "Your client calls interface A (port 8080) for logins, rooms and people, and interface B "
    "(port 8050) for cameras. Both belong to one service, with its rooms. A media server (MCU) "
    "carries sound and picture: A names its address, people's apps connect to it, and the service "
    "opens the cameras' streams.",
    760, 330,
    (
        Box(10, 95, 140, 120, "Your client\nknows access key\nand secret key", "ours"),
        Box(290, 20, 205, 290, "", "end"),
        Box(290, 24, 205, 24, "The service", "none"),
        Box(310, 58, 165, 70, "Interface A\nlogin, rooms, people\nport 8080", "a"),
        Box(310, 148, 165, 66, "Interface B\ncameras and such\nport 8050", "b"),
        Box(310, 234, 165, 62, "Rooms\nid, topic, caps, status"),
        Box(590, 40, 150, 52, "People's apps\njoin by themselves"),
        Box(590, 132, 150, 66, "Media server\n(MCU)\nsound and picture", "media"),
        Box(590, 240, 150, 52, "Camera\nRTSP address"),
    ),
    (
        Arrow(150, 130, 308, 95, "GET, token in URL", -4, -16),
        Arrow(150, 180, 308, 183, "GET or POST", 0, 18),
        Arrow(477, 95, 588, 152, "names it", 26, -8, dashed=True),
        Arrow(477, 190, 588, 262, "opens it", 24, 20, dashed=True),
        Arrow(665, 94, 665, 130, "", dashed=True),
        Arrow(665, 238, 665, 200, "", dashed=True),
    ),
)  # fmt: skip

_LANES = {"you": 80, "A": 250, "B": 400, "mcu": 540, "camera": 670}
_HEADS = (
    ("you", "Your client", "ours"), ("A", "Interface A", "a"), ("B", "Interface B", "b"),
    ("mcu", "Media server", "media"), ("camera", "Camera", "plain"),
)  # fmt: skip


def _call(row: int, of: str, to: str, text: str, dashed: bool = False) -> Arrow:
    y = 88 + 34 * row
    return Arrow(_LANES[of], y, _LANES[to], y, text, dashed=dashed)


_CALLS = Picture(
    "In order: A1 log in (random and key come back), make the token, A2 create a room (room_id "
    "comes back), A5 ask for the media server's address, people's apps join there, A6 list who is "
    "in, B1 import a camera (the service opens its stream), B3 list cameras, B2 remove the camera, "
    "A7 force somebody offline, A4 delete the room.",
    750, 490,
    (
        *(Box(_LANES[lane] - 60, 14, 120, 34, name, fill) for lane, name, fill in _HEADS),
        *(Box(_LANES[lane] - 0.5, 48, 1, 425, "", "end") for lane, *_ in _HEADS),
    ),
    (
        _call(0, "you", "A", "A1 log in: digest"), _call(1, "A", "you", "random, key", True),
        _call(2, "you", "A", "A2 create room"), _call(3, "A", "you", "room_id", True),
        _call(4, "you", "A", "A5 media server?"),
        Arrow(720, 258, 545, 258, "apps join", 0, -6, dashed=True),
        _call(6, "you", "A", "A6 who is in?"), _call(7, "you", "B", "B1 import camera"),
        Arrow(670, 343, 405, 343, "RTSP stream", 0, -6, dashed=True),
        _call(8, "you", "B", "B3 list cameras"), _call(9, "you", "B", "B2 remove camera"),
        _call(10, "you", "A", "A7 force offline"), _call(11, "you", "A", "A4 delete room"),
    ),
)  # fmt: skip

_TOKEN = Picture(
    "random and key of A1, joined by a colon, are the message; the secret key is the HMAC's key; "
    "SHA-1 gives 20 bytes; written as 40 lowercase hex digits; base64 makes 56 characters that end "
    "in ==; in a URL each = travels as %3D.",
    760, 190,
    (
        Box(15, 25, 120, 52, "random:key\nmessage", "a"),
        Box(15, 110, 120, 52, "secret key\nHMAC's key", "ours"),
        Box(195, 68, 105, 52, "HMAC-SHA1\n20 bytes"),
        Box(345, 68, 105, 52, "hex text\n40 characters"),
        Box(495, 68, 105, 52, "base64\n56 characters", "b"),
        Box(645, 68, 105, 52, "in the URL\n= becomes %3D"),
    ),
    (
        Arrow(135, 51, 193, 84), Arrow(135, 136, 193, 106), Arrow(300, 94, 343, 94),
        Arrow(450, 94, 493, 94), Arrow(600, 94, 643, 94),
    ),
)  # fmt: skip

_LIFE = Picture(
    "A new room is scheduled (0); with somebody in it, opening (1); when the last one leaves, "
    "scheduled again. A lock makes it locked (2), unlocking leads back. Closed (3) is for good. "
    "Deleted, from any state, it is unknown: 404.",
    760, 250,
    (
        Box(20, 95, 125, 52, "scheduled\nroom_status 0"),
        Box(270, 95, 125, 52, "opening\nroom_status 1", "a"),
        Box(520, 20, 125, 52, "locked\nroom_status 2", "b"),
        Box(520, 95, 125, 52, "closed\nroom_status 3", "end"),
        Box(270, 188, 125, 48, "404\nroom not found"),
    ),
    (
        Arrow(147, 110, 268, 110, "somebody joins"),
        Arrow(268, 133, 147, 133, "the last leaves", 0, 17),
        Arrow(397, 105, 518, 52, "lock", -16, -8), Arrow(518, 66, 397, 117, "unlock", 26, 20),
        Arrow(397, 135, 518, 128, "close", 10, 18),
        Arrow(332, 149, 332, 186, "A4 delete, from any state", 90, 4),
    ),
)  # fmt: skip


def _said(row: int, text: str, back: bool = False) -> Arrow:
    y, ends = 84 + 30 * row, (592, 168) if back else (168, 592)
    return Arrow(ends[0], y, ends[1], y, text, dashed=back)


_RTSP = Picture(
    "On one connection, each request and its answer: OPTIONS, 200 and the methods; DESCRIBE, 401 "
    "and a nonce; DESCRIBE with the login's digest, 200 and the SDP, which names the codec; SETUP "
    "over TCP or UDP, 200 and a session; PLAY, 200 and packets up to a keyframe; TEARDOWN, 200.",
    760, 470,
    (
        Box(108, 14, 120, 34, "Service, or you", "ours"), Box(532, 14, 120, 34, "Camera"),
        Box(167.5, 48, 1, 410, "", "end"), Box(591.5, 48, 1, 410, "", "end"),
    ),
    (
        _said(0, "OPTIONS: what can you do?"), _said(1, "200, a list of methods", True),
        _said(2, "DESCRIBE: what do you play?"), _said(3, "401, a nonce: who are you?", True),
        _said(4, "DESCRIBE, with the login's digest"), _said(5, "200, SDP: H.264 video", True),
        _said(6, "SETUP: over TCP, or over UDP"), _said(7, "200, a session's number", True),
        _said(8, "PLAY"), _said(9, "200", True),
        _said(10, "packets (RTP), until a keyframe is whole", True), _said(11, "TEARDOWN"),
        _said(12, "200", True),
    ),
)  # fmt: skip

_PICTURES = {
    "service": _SERVICE, "calls": _CALLS, "token": _TOKEN, "room-life": _LIFE, "rtsp": _RTSP,
}  # fmt: skip


def picture(name: str) -> Picture:
    """A picture of the course: service, calls, token, room-life, rtsp; ConfigError for another."""
    if name not in _PICTURES:
        raise ConfigError("the course has no such picture", f"There are {', '.join(_PICTURES)}.")
    return _PICTURES[name]
