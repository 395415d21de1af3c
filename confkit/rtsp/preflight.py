"""The preflight: play a camera from here, with one verdict."""

from __future__ import annotations

import ipaddress
import threading
from contextlib import closing, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from ..secret import Secret, SecretAddress, redact
from ..text import counted
from .address import Address, target
from .client import TRANSPORTS, RtspClient
from .connection import Connection
from .errors import VERDICTS, RtspError, tls_expected
from .report import SKIPPED, Notice, OnStage, Report, Snapshot, Stage, Stages
from .rtp import Video

# So many pictures must fail to decode: a single one may be damaged or incomplete.
_MAX_BROKEN = 3
_TLS_SECONDS = 1.0  # to try TLS on a silent port
_OVERLOADED = "Lower the camera's bit rate or frame rate: it, or its network, is overloaded."
_OWN = "The address is this machine's own: only a service on this machine can reach it"
_PRIVATE = "The address is private: only a service in the same network can reach it"


def preflight(
    url: str | SecretAddress,
    login_name: str | None = None,
    login_password: str | Secret | None = None,
    *,
    transport: str = "auto",
    timeout: float = 20.0,
    verify: bool | str = True,
    cancelled: threading.Event | None = None,
    on_stage: OnStage | None = None,
) -> Report:
    """Play a camera, and return the report: its verdict, stages and first picture.

    The login may be in the URL instead of the fields. `transport` is "auto" (TCP first, UDP if the
    camera offers nothing else), "tcp" or "udp"; `timeout` limits everything up to the first
    picture, in seconds. `verify` is for rtsps: False skips the check of the certificate, a path
    names the certificates to trust. It makes one connection, at most one login, and always sends
    TEARDOWN. Problems of the camera never raise; ValueError: an invalid option. Setting `cancelled`
    ends it early, with concurrent.futures.CancelledError.

    `on_stage` is called with each stage twice: at its start (`outcome` "running") and at its end.
    It should be quick, as the camera waits; an exception from it ends the preflight and is raised.
    """
    url = SecretAddress(url)  # a traceback shows the locals
    if not isinstance(login_name, str | None) or not isinstance(
        login_password, str | Secret | None
    ):
        raise ValueError("login_name or login_password is not text.")  # such as an empty cell's nan
    password = None if login_password is None else Secret(login_password)
    del login_password
    if transport not in TRANSPORTS:
        raise ValueError(f"transport is {transport!r}; use one of {', '.join(TRANSPORTS)}.")
    if not timeout > 0:
        raise ValueError("timeout must be a number of seconds above 0.")
    stages = Stages("address", on_stage)
    try:  # no local variable holds the plain password: a traceback would show it
        address, login = target(
            url.reveal(), login_name, None if password is None else password.reveal()
        )
    except RtspError as error:
        return _report(str(url), stages.end(error.reason), error)
    options: dict[str, Any] = {"transport": transport, "verify": verify, "cancelled": cancelled}
    client = RtspClient(address, login, timeout, stages=stages, **options)
    snapshot = failure = None
    try:
        try:
            snapshot = _first_picture(client, client.play())
        except RtspError as error:
            failure = error
        ended = stages.end(failure.reason if failure else "")
    finally:
        client.close()
    is_mute = failure and failure.verdict == "rtsp_silent" and not failure.timed_out
    if is_mute and ended[-1].name == "OPTIONS" and address.scheme == "rtsp":
        # Most TLS servers close the connection without a word after plain text.
        failure = tls_expected() if _speaks_tls(address, cancelled) else failure
    subject = redact(str(SecretAddress(address.url)), [login.password] if login else [])
    facts: dict[str, Any] = {"authentication": client.authentication, "codec": client.codec or None}
    if snapshot:
        facts |= {"snapshot": snapshot, "width": snapshot.width, "height": snapshot.height}
    if client.packets:
        facts |= {"transport": client.transport, "warnings": _notices(client, transport)}
    return _report(subject, ended, failure, **facts)


def _report(
    subject: str, stages: tuple[Stage, ...], error: RtspError | None, **facts: Any
) -> Report:
    words = {"verdict": "ok", **VERDICTS["ok"]._asdict()}
    if error:
        words = {"verdict": error.verdict, "cause": error.reason, "advice": error.advice}
    return Report(subject=subject, ok=error is None, stages=stages, **words, **facts)


def _first_picture(client: RtspClient, video: Video) -> Snapshot | None:
    """Return the first keyframe that decodes; None without a decoder."""
    stages, keyframe, reason = client.stages, None, ""
    broken: set[int] = set()  # the numbers of pictures
    # Where packets are missing, a later picture may be whole.
    while len(broken) < _MAX_BROKEN or video.gaps:
        try:
            keyframe = client.next_keyframe(keyframe)
        except RtspError:
            if not broken:
                raise
            stages.begin("picture")
            break
        stages.begin("picture")
        if find_spec("av") is None:
            install = "pip install 'confkit-notebooks[cameras]'"
            stages.skip(f"no decoder: av (PyAV) is not installed ({install})")
            return None
        try:
            snapshot = Snapshot.of(video.codec, keyframe, video.refreshing)
            stages.detail = f"{snapshot.width} x {snapshot.height}"
            return snapshot
        except ValueError as error:
            reason = str(error)
            broken.add(video.keyframe_number)
            stages.outcome, stages.detail = SKIPPED, "not decodable; trying the next"
    if video.gaps:
        reason = (
            f"{reason.rstrip('.')}: {counted(video.gaps, 'packet')} missing, though TCP loses none."
        )
        raise RtspError("no_picture", reason, advice=_OVERLOADED)
    raise RtspError("no_picture", reason)


def _speaks_tls(address: Address, cancelled: threading.Event | None) -> bool:
    """Return whether the server at this address completes a TLS handshake."""
    encrypted = replace(address, scheme="rtsps")
    options: dict[str, Any] = {"verify": False, "cancelled": cancelled}
    connection = Connection(encrypted, Stages(""), _TLS_SECONDS, **options)
    with suppress(RtspError), closing(connection):
        connection.open()
        return True
    return False


def _notices(client: RtspClient, transport: str) -> tuple[Notice, ...]:
    notices = []
    if reach := limited_reach(client.address.host):
        notices.append(Notice("private_address", "note", f"{reach}."))
    if transport == "auto" and client.transport == "udp":
        text = "The camera offers no RTP over TCP, so UDP was used, which firewalls often block."
        notices.append(Notice("transport_switched", "note", text))
    if client.video and client.video.refreshing:
        text = "The camera refreshes its picture gradually, so the first picture is incomplete."
        notices.append(Notice("gradual_refresh", "note", text))
    if client.codec == "h265":
        text = "The video is H.265, which many browsers cannot play: prefer H.264."
        notices.append(Notice("h265", "warning", text))
    return tuple(notices)


def limited_reach(host: str) -> str:
    """Return why few services can reach a host, or ""; no name is resolved."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _OWN if host.lower() == "localhost" else ""
    if address.is_loopback:
        return _OWN
    return _PRIVATE if address.is_private else ""
