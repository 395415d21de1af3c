"""What a preflight can find: a fixed name for each verdict, with its cause and the next step."""

from __future__ import annotations

from typing import NamedTuple


class Verdict(NamedTuple):
    """The usual cause of a verdict and what to do about it, one sentence each."""

    cause: str
    advice: str


_ONE_CONNECTION = (
    "some cameras allow one connection only, so close other players and look whether the service "
    "already holds this camera"
)

# The names are for code and stay as they are; the sentences are for people and may change.
VERDICTS = {
    "ok": Verdict(
        "The camera plays.",
        "Import it; the service dials the camera itself, so its own network must reach it too.",
    ),
    "url_malformed": Verdict(
        "The address is not a well-formed RTSP address.",
        "Write it as rtsp://host:554/path, and give the login in its own fields.",
    ),
    "credentials_conflict": Verdict(
        "The login in the address is not the one in the fields.",
        "Give the login once, best in its own fields, and take it out of the address.",
    ),
    "dns_failed": Verdict(
        "The camera's host name has no address.",
        "Check the spelling of the host, or use its IP address.",
    ),
    "unreachable": Verdict(
        "There is no way to the camera's host from here.",
        "Check the address, that the camera is on, and the route or VPN to its network.",
    ),
    "refused": Verdict(
        "The camera's host refuses connections to this port.",
        "Check the port (554 and 8554 are usual) and that RTSP is switched on in the camera.",
    ),
    "connect_timeout": Verdict(
        "The camera's host does not answer.",
        "Check that the camera is on, its address and port, and the firewalls on the way.",
    ),
    "not_rtsp": Verdict(
        "What answers at this port does not speak RTSP.",
        "Check the port: 554 and 8554 are usual for RTSP, 80 is the camera's web page.",
    ),
    "tls_failed": Verdict(
        "No trusted encrypted connection came about.",
        "Use the scheme that the port expects (rtsp or rtsps), and a certificate that is trusted "
        "here.",
    ),
    "rtsp_silent": Verdict(
        "The connection is open, but no RTSP answer comes.",
        f"Check the port, and restart the camera if it hangs; {_ONE_CONNECTION}.",
    ),
    "auth_required": Verdict(
        "The camera asks for a login and none was given.",
        "Give the login (name and password) of a camera user who may watch.",
    ),
    "auth_rejected": Verdict(
        "The camera does not accept this login.",
        "Check name and password in the camera's web page before trying again: after a few wrong "
        "logins some cameras lock the address out for half an hour, for right logins too.",
    ),
    "auth_unsupported": Verdict(
        "The camera offers no way to log in that is known here.",
        "Switch the camera's RTSP authentication to Digest (or Basic).",
    ),
    "auth_locked": Verdict(
        "The camera has locked the login or this address out.",
        "Wait (half an hour is usual) or unlock it in the camera's web page; do not try again "
        "before.",
    ),
    "forbidden": Verdict(
        "The camera forbids this.",
        "Allow this user to watch live video in the camera, and this address in its IP filter.",
    ),
    "path_not_found": Verdict(
        "The camera has no stream at this path.",
        "Take the path from the camera's manual, such as /Streaming/Channels/101 (Hikvision), "
        "/cam/realmonitor?channel=1&subtype=0 (Dahua), /h264Preview_01_main (Reolink) or /stream1.",
    ),
    "redirected": Verdict(
        "The camera redirects to another address.",
        "Take the stream's address from the camera's web page, and try that one.",
    ),
    "busy": Verdict(
        "The camera serves as many viewers as it can.",
        f"Free a connection and try again: {_ONE_CONNECTION}.",
    ),
    "server_error": Verdict(
        "The camera answered with an error of its own.",
        "Restart the camera, and look up the code with its maker if it stays.",
    ),
    "sdp_invalid": Verdict(
        "The camera's description of its stream cannot be read.",
        "Check the path, then restart or update the camera: what it sends is no session "
        "description.",
    ),
    "no_video": Verdict(
        "The stream holds no video.",
        "Choose the path of a video stream, and switch video on in the camera.",
    ),
    "codec_unsupported": Verdict(
        "The stream's video codec is not supported.",
        "Set the camera's video to H.264 (or H.265 or MJPEG).",
    ),
    "transport_refused": Verdict(
        "The camera refuses the transport.",
        "Allow RTP over RTSP (TCP) in the camera, or try the other transport.",
    ),
    "setup_play_failed": Verdict(
        "The camera described its stream but does not play it.",
        f"Restart the camera and try another of its streams; {_ONE_CONNECTION}.",
    ),
    "udp_blocked": Verdict(
        "The camera accepted to play over UDP, and no packet arrives.",
        "Allow UDP from the camera in the firewalls on the way, or switch RTP over TCP on in the "
        "camera.",
    ),
    "no_media": Verdict(
        "The camera accepted to play, and no packet arrives.",
        "Restart the camera: its encoder has stalled; look whether its own web page shows a "
        "picture.",
    ),
    "no_keyframe": Verdict(
        "Packets arrive, but no keyframe among them.",
        "Set the keyframe (I-frame) interval of the camera to 1 or 2 seconds, or allow more time.",
    ),
    "no_picture": Verdict(
        "What the camera sends does not decode.",
        "Restart the camera and check its codec settings: the stream is broken or of another codec "
        "than announced.",
    ),
    "dropped": Verdict(
        "The camera closed the connection soon after it began to play.",
        f"Look for a limit of viewers or a restart of the camera; {_ONE_CONNECTION}.",
    ),
    "service_cannot_reach": Verdict(
        "The camera plays from here, but the service does not bring it into the room.",
        "Run the preflight on the service's own host: the service dials the camera from its own "
        "network.",
    ),
}
