"""Why a camera could not be pulled, as one exception with a verdict."""

from __future__ import annotations

import re
import ssl
from http import HTTPStatus

from ..secret import redact
from .message import Response
from .verdicts import VERDICTS

_STATUS_VERDICTS = {403: "forbidden", 404: "path_not_found", 453: "busy", 503: "busy"}
# Where a port was greeted with encryption, and has none.
PLAIN = "Write rtsp:// in place of rtsps://, or use the camera's port for rtsps (322 is usual)."
# A lock, not a block or a clock: an IP filter is `forbidden`.
_LOCK = re.compile(r"(?<![bc])lock|too many", re.IGNORECASE)
_KINDS = {
    b"HTTP/": "an HTTP server",
    b"<": "an HTTP server",
    b"SSH-": "an SSH server",
    b"220": "an FTP or mail server",
    b"RTSP/": "a faulty RTSP server",
}
# What a careless camera may repeat in its reason: digests, tokens, Basic logins.
_LONG_WORD = re.compile(r"[^\s=\"',;]{24,}")
_REASON_LENGTH = 80
_USUAL = {status.phrase for status in HTTPStatus}


class PullRefused(Exception):
    """A camera that cannot be pulled: `verdict` is a fixed name.

    `reason` is one sentence and `advice` the next step, where more is known than the verdict's own
    cause and advice.  `timed_out` is True when the camera was too slow instead of unwilling,
    `closed` when it closed the connection before it sent anything.  None of the texts holds a
    login.
    """

    def __init__(
        self,
        verdict: str,
        reason: str = "",
        *,
        advice: str = "",
        timed_out: bool = False,
        closed: bool = False,
    ) -> None:
        self.verdict = verdict
        self.reason = reason or VERDICTS[verdict].cause
        self.advice = advice or VERDICTS[verdict].advice
        self.timed_out = timed_out
        self.closed = closed
        super().__init__(f"{verdict}: {self.reason}")


def connection_refusal(error: OSError, *, encrypted: bool) -> PullRefused:
    """Return what a failed connection attempt means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "it cannot be verified"
        reason = f"The camera's certificate is not trusted: {why}."
        advice = "Give the certificate to trust (verify=FILE), or do without a check "
        advice += "(verify=False, --no-verify)."
        return PullRefused("tls_failed", reason, advice=advice)
    if isinstance(error, ConnectionRefusedError):
        return PullRefused("refused", "Nothing listens at the camera's port.")
    if isinstance(error, ssl.SSLError) or encrypted:
        reason = "The port does not answer with an encrypted connection."
        return PullRefused("tls_failed", reason, advice=PLAIN)
    if isinstance(error, TimeoutError):
        return PullRefused("connect_timeout", timed_out=True)
    if isinstance(error, ConnectionError):
        reason = "The camera closed the connection at once."
        return PullRefused("rtsp_silent", reason, closed=True)
    return PullRefused("unreachable")


def malformed_refusal(received: bytes) -> PullRefused:
    """Return what else it is that answers at the camera's port."""
    if received[:2] in (b"\x15\x03", b"\x16\x03"):
        return wants_tls()
    kind = next((name for start, name in _KINDS.items() if received.startswith(start)), None)
    return PullRefused("not_rtsp", f"What answers at this port is {kind or 'not an RTSP server'}.")


def wants_tls() -> PullRefused:
    """Return that a port was spoken to in plain text and wants encryption."""
    reason = "The port expects an encrypted connection (rtsps)."
    return PullRefused("tls_failed", reason, advice="Write rtsps:// in place of rtsp://.")


def status_refusal(method: str, response: Response, *secrets: str) -> PullRefused:
    """Return what a refusing status code means; `secrets` stay out of its reason."""
    status = response.status
    verdict = _STATUS_VERDICTS.get(status, "server_error")
    if status in (401, 403) and _LOCK.search(response.reason):
        verdict = "auth_locked"
    elif method == "DESCRIBE" and status in (400, 454):
        verdict = "path_not_found"
    elif method == "SETUP" and status == 461:
        verdict = "transport_refused"
    elif method in ("SETUP", "PLAY") and verdict == "server_error":
        verdict = "setup_play_failed"
    answer = f"{status} {shown(response.reason, *secrets)}".strip()
    return PullRefused(verdict, f"The camera answered {method} with {answer}.")


def shown(reason: str, *secrets: str) -> str:
    """Return a camera's own words as they may be shown: short, printable, nothing secret."""
    if reason in _USUAL:  # nearly always, and looking for secrets takes as long as an exchange
        return reason
    hidden = redact(reason, secrets)
    printable = "".join(letter if letter.isprintable() else " " for letter in hidden)
    return _LONG_WORD.sub("***", printable)[:_REASON_LENGTH].strip(" .")
