"""Why a camera does not play: the verdicts, and the exception that carries one."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ..secret import redact
from ..text import one_line

# The usual `cause` of each verdict and the next step (`advice`), one sentence each.
VERDICTS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("verdicts.toml").read_text("utf-8")
)
_BY_STATUS = {403: "forbidden", 404: "path_not_found", 453: "busy", 503: "busy"}
# "lock", not "block" or "clock": an IP filter is `forbidden`.
_LOCK = re.compile(r"(?<![bc])lock|too many", re.IGNORECASE)
_SERVERS = {
    b"HTTP/": "an HTTP server",
    b"<": "an HTTP server",
    b"SSH-": "an SSH server",
    b"RTSP/": "a faulty RTSP server",
}
_TLS_RECORDS = (b"\x15\x03", b"\x16\x03")  # an alert, a handshake
# A careless camera may repeat these in its reason: digests, tokens, Basic logins.
_LONG_WORD = re.compile(r"[^\s=\"',;]{24,}")
CHECK_LOGIN = "Check name and password: some cameras answer a wrong one like this."
_MAX_REASON = 80  # characters


class RtspError(Exception):
    """A camera does not play; `verdict` is a fixed name.

    `reason` is one sentence and `advice` the next step, by default the verdict's cause and advice.
    `timed_out`: the camera was too slow, and refused nothing; `unread`: it closed the connection
    before it read the last request. No text contains a login.
    """

    unread = False

    def __init__(
        self, verdict: str, reason: str = "", *, advice: str = "", timed_out: bool = False
    ) -> None:
        self.verdict = verdict
        self.reason = reason or VERDICTS[verdict]["cause"]
        self.advice = advice or VERDICTS[verdict]["advice"]
        self.timed_out = timed_out
        super().__init__(f"{verdict}: {self.reason}")


def status_error(method: str, status: int, reason: str) -> RtspError:
    """Return the error for a status code; the reason must be `printable`."""
    verdict, advice = _BY_STATUS.get(status, "server_error"), ""
    if status in (401, 403) and _LOCK.search(reason):
        verdict = "auth_locked"
    elif method == "DESCRIBE" and status in (400, 454):
        verdict = "path_not_found"
    elif method == "SETUP" and status == 461:
        verdict = "transport_refused"
    elif method in ("SETUP", "PLAY") and verdict == "server_error":
        verdict = "setup_play_failed"
    if status == 503:
        advice = "Check that the camera's source or encoder has started, and restart it if not (a "
        advice += f"server answers 503 for that, too). {VERDICTS['busy']['advice']}"
    answer = f"{status} {reason}".strip()
    return RtspError(verdict, f"The camera answered {method} with {answer}.", advice=advice)


def not_rtsp(received: bytes) -> RtspError:
    """Return the error that names the other kind of server at the camera's port."""
    if received.startswith(_TLS_RECORDS):
        return tls_expected()
    server = next((name for start, name in _SERVERS.items() if received.startswith(start)), None)
    return RtspError("not_rtsp", f"The server at this port is {server or 'not an RTSP server'}.")


def tls_expected() -> RtspError:
    """Return the error for plain text sent to a port that expects TLS."""
    reason = "The port expects an encrypted connection (rtsps)."
    return RtspError("tls_failed", reason, advice="Use rtsps:// instead of rtsp://.")


def printable(text: str, *secrets: str) -> str:
    """Return a camera's text made safe to show: short, printable, secrets masked."""
    masked = _LONG_WORD.sub("***", one_line(redact(text, secrets)))
    return masked[:_MAX_REASON].strip(" .")
