"""The preflight: play a camera from here, with one verdict."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from ..secret import Secret, SecretAddress, redact
from .address import Address
from .client import TRANSPORTS, RtspClient
from .connection import Connection
from .errors import RtspError, tls_expected
from .report import Notice, OnStage, Report, Snapshot, Stage, Stages
from .rtp import Video

_TLS_SECONDS = 1.0  # to try TLS on a silent port
_REFRESHING = "The camera refreshes its picture gradually, so the first picture is incomplete."
_SWITCHED = "The camera offers no RTP over TCP, so UDP was used, which firewalls often block."
_H265 = "The video is H.265, which many browsers cannot play: prefer H.264."
_PRIVATE = "The address is private: only a service in its network, or on its machine, can reach it."


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
    password = Secret(login_password or "")
    del login_password
    if transport not in TRANSPORTS:
        raise ValueError(f"transport is {transport!r}; use one of {', '.join(TRANSPORTS)}.")
    if not timeout > 0:
        raise ValueError("timeout must be a number of seconds above 0.")
    stages = Stages("address", on_stage)
    options: dict[str, Any] = {"timeout": timeout, "stages": stages, "cancelled": cancelled}
    options |= {"transport": transport, "verify": verify}
    try:  # no local variable holds the plain password: a traceback would show it
        client = RtspClient(url.reveal(), login_name, password.reveal(), **options)
    except RtspError as error:
        return _report(str(url), stages.end(error.reason), error)
    snapshot = failure = None
    with closing(client):
        try:
            snapshot = _first_picture(client)
        except RtspError as error:
            failure = error
        ended = stages.end(failure.reason if failure else "")
    address, video = client.address, client.video
    is_mute = failure and failure.verdict == "rtsp_silent" and not failure.timed_out
    if is_mute and ended[-1].name == "OPTIONS" and address.scheme == "rtsp":
        # Most TLS servers close the connection without a word after plain text.
        failure = tls_expected() if _speaks_tls(address, cancelled) else failure
    subject = redact(str(SecretAddress(address.url)), client.credentials.secrets)
    facts: dict[str, Any] = {"authentication": client.credentials.name}
    if video:
        facts = {"authentication": client.credentials.name or "none", "codec": video.codec}
    if snapshot:
        facts |= {"snapshot": snapshot, "width": snapshot.width, "height": snapshot.height}
    if video and video.packets:
        facts |= {"transport": client.transport}
        facts |= {"warnings": tuple(_notices(client, video, transport))}
    return _report(subject, ended, failure, **facts)


def _report(
    subject: str, stages: tuple[Stage, ...], error: RtspError | None, **facts: Any
) -> Report:
    words = error or RtspError("ok")
    return Report(
        subject=subject,
        ok=error is None,
        verdict=words.verdict,
        cause=words.reason,
        advice=words.advice,
        stages=stages,
        **facts,
    )


def _first_picture(client: RtspClient) -> Snapshot | None:
    """Return the first keyframe that decodes; None without a decoder."""
    video, stages = client.play(), client.stages
    stages.begin("keyframe")
    keyframe = client.next_keyframe(video)
    stages.begin("picture")
    if find_spec("av") is None:
        install = "pip install 'confkit-notebooks[cameras]'"
        stages.skip(f"no decoder: av (PyAV) is not installed ({install})")
        return None
    while True:
        try:
            snapshot = Snapshot.of(video.codec, keyframe, video.refreshing)
            stages.detail = f"{snapshot.width} x {snapshot.height}"
            return snapshot
        except ValueError as error:
            reason = str(error)
        try:  # a later picture may be whole
            keyframe = client.next_keyframe(video, keyframe)
        except RtspError:
            raise RtspError("no_picture", reason) from None


def _speaks_tls(address: Address, cancelled: threading.Event | None) -> bool:
    """Return whether the server at this address completes a TLS handshake."""
    encrypted = replace(address, scheme="rtsps")
    connection = Connection(encrypted, Stages(""), _TLS_SECONDS, verify=False, cancelled=cancelled)
    with suppress(RtspError), closing(connection):
        connection.open()
        return True
    return False


def _notices(client: RtspClient, video: Video, transport: str) -> Iterator[Notice]:
    """Yield what is to be said of a stream that plays; no name is resolved."""
    host = client.address.host
    with suppress(ValueError):
        if ipaddress.ip_address("127.0.0.1" if host.lower() == "localhost" else host).is_private:
            yield Notice("private_address", "note", _PRIVATE)
    if transport == "auto" and client.transport == "udp":
        yield Notice("transport_switched", "note", _SWITCHED)
    if video.refreshing:
        yield Notice("gradual_refresh", "note", _REFRESHING)
    if video.codec == "h265":
        yield Notice("h265", "warning", _H265)
