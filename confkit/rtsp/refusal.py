"""Why a camera could not be pulled, as one exception with a verdict."""

from __future__ import annotations

import errno
import re
import ssl

from .message import MalformedMessage, Response

_STATUS_VERDICTS = {403: "forbidden", 404: "path_not_found", 453: "busy", 503: "busy"}


class PullRefused(Exception):
    """A camera that cannot be pulled: `verdict` is a fixed name, `reason` one sentence.

    `timed_out` is True when the camera was too slow instead of unwilling.  Neither text holds
    a login.
    """

    def __init__(self, verdict: str, reason: str, *, timed_out: bool = False) -> None:
        super().__init__(f"{verdict}: {reason}")
        self.verdict = verdict
        self.reason = reason
        self.timed_out = timed_out


def connection_refusal(error: OSError, *, encrypted: bool) -> PullRefused:
    """Return what a failed connection attempt means."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return PullRefused("tls_failed", "The camera's certificate is not trusted.")
    if isinstance(error, ConnectionRefusedError):
        return PullRefused("refused", "Nothing listens at the camera's port.")
    if isinstance(error, ssl.SSLError) or (encrypted and isinstance(error, ConnectionError)):
        return PullRefused("tls_failed", "The camera does not accept an encrypted connection.")
    if error.errno == errno.ETIMEDOUT:
        reason = "The camera's host does not answer."
        return PullRefused("connect_timeout", reason, timed_out=True)
    if isinstance(error, ConnectionError):
        return PullRefused("rtsp_silent", "The camera closed the connection at once.")
    return PullRefused("unreachable", "The camera's host cannot be reached.")


def malformed_refusal(error: MalformedMessage) -> PullRefused:
    """Return what else it is that answers at the camera's port."""
    received = error.received
    if received[:2] in (b"\x15\x03", b"\x16\x03"):
        return PullRefused("tls_failed", "The port expects an encrypted connection (rtsps).")
    known = {b"HTTP/": "an HTTP server", b"SSH-": "an SSH server", b"RTSP/": "a faulty RTSP server"}
    kind = next((name for start, name in known.items() if received.startswith(start)), None)
    return PullRefused("not_rtsp", f"What answers is {kind or 'no RTSP server'}.")


def status_refusal(method: str, response: Response) -> PullRefused:
    """Return what a refusing status code means."""
    status = response.status
    verdict = _STATUS_VERDICTS.get(status, "server_error")
    if status in (401, 403) and re.search(r"\block", response.reason, re.IGNORECASE):
        verdict = "auth_locked"
    elif 300 <= status < 400:
        verdict = "redirected"
    elif method == "DESCRIBE" and status in (400, 454):
        verdict = "path_not_found"
    elif method == "SETUP" and status == 461:
        verdict = "transport_refused"
    elif method in ("SETUP", "PLAY") and verdict == "server_error":
        verdict = "setup_play_failed"
    # The camera's own words stay out: some repeat the request there.
    return PullRefused(verdict, f"The camera answered {method} with {status}.")
