"""The fault zoo: demo cameras that fail, each as a camera, a network or a host does.

On the wire is what an RFC has or real devices send, and no mark by which a client could know the
fault.  `url_malformed` and `credentials_conflict` are not here, for they never reach a wire, and
neither is `service_cannot_reach`, which takes two wires.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from . import mischief
from .fault import CameraFault, Fault
from .hosts import HOST_FAULTS
from .mischief import describes, plays, plays_nothing, says


def find_fault(name: str | None) -> Fault:
    """Return the fault of that name, or the first with that verdict; raises ValueError for another.

    None is no fault.
    """
    if name is None:
        return Fault()
    named = [fault for key, fault in FAULTS.items() if key == name]
    named += [fault for fault in FAULTS.values() if fault.verdict == name != "ok"]
    if not named:
        known = ", ".join(FAULTS)
        raise ValueError(f"There is no such fault; camera_faults() explains them: {known}.")
    return named[0]


def camera_faults() -> dict[str, CameraFault]:
    """Return each fault by its name, with its verdict and what is on the wire."""
    return {name: CameraFault(fault.verdict, fault.wire) for name, fault in FAULTS.items()}


_LOGIN_PAGE = b"<!DOCTYPE html>\n<html><head><title>Login</title></head><body></body></html>\n"

FAULTS = {
    **HOST_FAULTS,
    # The login
    "auth_required": Fault(
        "auth_required",
        "Answers DESCRIBE with 401 until the login comes: the given one, or admin with admin.",
        settings=mischief.with_login,
    ),
    "auth_rejected": Fault(
        "auth_rejected",
        "Answers each login with 401, for nobody knows its password (without one: auth_required).",
        settings=mischief.with_other_login,
    ),
    "auth_unsupported": Fault(
        "auth_unsupported",
        "Answers DESCRIBE with 401, and offers Negotiate and NTLM only (without a login: "
        "auth_required).",
        camera=mischief.asks_for_windows_logins,
    ),
    "locked": Fault(
        "auth_locked", "Answers DESCRIBE with 403 Account Locked.", camera=mischief.is_locked
    ),
    "forbidden": Fault(
        "forbidden", "Answers DESCRIBE with 403 Forbidden.", camera=says("DESCRIBE", 403)
    ),
    "stale_nonce": Fault(
        "ok",
        "Plays, but takes the first nonce for outdated: 401 with stale=true, once. Its login is "
        "admin with admin unless given.",
        settings=mischief.with_login,
        camera=mischief.forgets_nonces,
    ),
    "closes_after_401": Fault(
        "ok",
        "Plays, but closes the connection after each 401. Its login is admin with admin unless "
        "given.",
        settings=mischief.with_login,
        camera=plays(closes_after="401"),
    ),
    # The description
    "wrong_path": Fault(
        "path_not_found",
        "A healthy camera whose address is wrong: DESCRIBE is answered with 404 Not Found.",
        address=lambda address: replace(address, path=address.path + "/sub"),
    ),
    "wrong_path_400": Fault(
        "path_not_found",
        "Answers DESCRIBE with 400 Bad Request, as some cameras do for an unknown path.",
        camera=says("DESCRIBE", 400),
    ),
    "wrong_path_454": Fault(
        "path_not_found",
        "Answers DESCRIBE with 454 Session Not Found, as some cameras do for an unknown path.",
        camera=says("DESCRIBE", 454),
    ),
    "redirected": Fault(
        "redirected",
        "Answers DESCRIBE with 302 and a Location that does the same, for ever.",
        camera=mischief.redirects_for_ever,
    ),
    "moved": Fault(
        "redirected",
        "Answers DESCRIBE with 302 and a Location that plays (report.ok is True).",
        camera=mischief.has_moved,
    ),
    "private_base": Fault(
        "ok",
        "Plays, but its Content-Base names 192.168.1.64: requests must stay on the connection.",
        camera=mischief.names_private_base,
    ),
    "server_error": Fault(
        "server_error",
        "Answers DESCRIBE with 500 Internal Server Error.",
        camera=says("DESCRIBE", 500),
    ),
    "sdp_invalid": Fault(
        "sdp_invalid",
        "Answers DESCRIBE with 200 and a description that ends in the middle of its media line.",
        camera=mischief.describes_half,
    ),
    "sdp_empty": Fault(
        "sdp_invalid", "Answers DESCRIBE with 200 and no description.", camera=describes(b"")
    ),
    "sdp_html": Fault(
        "sdp_invalid",
        "Answers DESCRIBE with 200 and the HTML of a login page.",
        camera=describes(_LOGIN_PAGE, "text/html"),
    ),
    "no_video": Fault(
        "no_video", "Describes and plays audio (PCMU) only.", camera=mischief.plays_silence
    ),
    "codec_unsupported": Fault(
        "codec_unsupported",
        "Describes and plays MPEG-4 Part 2 (MP4V-ES).",
        settings=partial(replace, codec="mpeg4"),
    ),
    # SETUP and PLAY
    "busy": Fault(
        "busy", "Answers SETUP with 453 Not Enough Bandwidth.", camera=plays(max_viewers=0)
    ),
    "busy_503": Fault(
        "busy", "Answers DESCRIBE with 503 Service Unavailable.", camera=says("DESCRIBE", 503)
    ),
    "transport_refused": Fault(
        "transport_refused",
        "Answers every SETUP with 461 Unsupported Transport.",
        camera=plays(transports=frozenset()),
    ),
    "setup_refused": Fault(
        "setup_play_failed",
        "Answers SETUP with 500 Internal Server Error.",
        camera=says("SETUP", 500),
    ),
    "play_refused": Fault(
        "setup_play_failed",
        "Answers PLAY with 455 Method Not Valid in This State.",
        camera=says("PLAY", 455),
    ),
    # Media
    "udp_blocked": Fault(
        "udp_blocked",
        "Answers SETUP over TCP with 461; accepts UDP and PLAY, and no datagram arrives.",
        camera=plays_nothing(transports=frozenset({"udp"})),
    ),
    "no_media": Fault("no_media", "Accepts PLAY and sends no packet.", camera=plays_nothing()),
    "no_keyframe": Fault(
        "no_keyframe",
        "Plays predicted pictures only, never a keyframe.",
        camera=mischief.plays_no_keyframe,
    ),
    "no_picture": Fault(
        "no_picture",
        "Plays keyframes of which only the parameter sets are readable, as encrypting cameras do.",
        camera=mischief.plays_scrambled,
    ),
    "wrong_codec": Fault(
        "no_picture",
        "Describes H.264 and plays H.265.",
        settings=partial(replace, codec="h265"),
        camera=mischief.says_h264,
    ),
    "dropped": Fault(
        "dropped",
        "Accepts PLAY and closes the connection.",
        camera=plays_nothing(closes_after="PLAY"),
    ),
    "dropped_later": Fault(
        "dropped",
        "Accepts PLAY and closes the connection after half a second of predicted pictures.",
        camera=lambda camera: replace(
            mischief.plays_no_keyframe(camera), closes_after="PLAY", closes_in=0.5
        ),
    ),
}
