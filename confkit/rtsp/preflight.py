"""The preflight: what stands between here and a camera's picture, as one verdict."""

from __future__ import annotations

import asyncio
import threading
from importlib.util import find_spec
from typing import Any

from ..secret import Secret, SecretAddress, redact
from .address import target
from .blocking import blocking
from .connection import speaks_tls
from .conversation import TRANSPORTS, Conversation
from .notices import notices
from .reception import Reception
from .refusal import PullRefused, wants_tls
from .report import SKIPPED, Report, Snapshot, Stage
from .steps import OnStage, Steps, Stopped
from .verdicts import VERDICTS

_SECOND_LOOK = 1.0  # seconds to ask a silent port whether it wants encryption


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

    The login may stand in the URL instead of the fields.  `transport` is "auto" (TCP first, UDP
    when the camera refuses it), "tcp" or "udp"; `timeout` bounds everything up to the first
    picture, in seconds; `verify` is as in requests, for rtsps.  One connection, at most one login,
    and TEARDOWN always.  What a camera does never raises; ValueError is for an option that makes no
    sense.  Setting `cancelled` ends it early, with concurrent.futures.CancelledError.

    `on_stage` is called with each stage twice, in another thread: when it begins (its `outcome` is
    "running" then) and when it has ended.  The camera waits meanwhile, so it had better be quick;
    what it raises ends the preflight and is raised here.
    """
    url = SecretAddress(url)  # a traceback shows the locals
    if login_password is not None and not isinstance(login_password, str | Secret):
        raise ValueError("login_password is not a text.")
    password = None if login_password is None else Secret(login_password)
    del login_password
    if transport not in TRANSPORTS:
        raise ValueError(f"transport is {transport!r}; it is one of {', '.join(TRANSPORTS)}.")
    if not timeout > 0:
        raise ValueError("timeout is a number of seconds above 0.")
    if login_name is not None and not isinstance(login_name, str):
        raise ValueError("login_name is not a text.")

    async def run() -> Report:
        steps = Steps("address", on_stage)
        try:  # no local holds the plain password: a traceback would show it
            address, login = target(
                url.reveal(), login_name, None if password is None else password.reveal()
            )
        except PullRefused as refusal:
            stages = steps.end(refusal.reason)
            return _report(str(url), stages, refusal)
        camera = Conversation(
            address,
            login,
            timeout,
            transport=transport,
            verify=verify,
            steps=steps,
        )
        subject = redact(str(SecretAddress(address.url)), [login.password] if login else [])
        return await _look(subject, camera)

    try:
        return blocking(run, cancelled, alone=on_stage is not None)
    except Stopped as stopped:
        raised = stopped.raised
    raise raised


async def _look(subject: str, camera: Conversation) -> Report:
    """Return the report about a camera: the conversation from OPTIONS to TEARDOWN."""
    snapshot = refusal = None
    try:
        try:
            reception = await camera.play()
            snapshot = await _first_picture(camera, reception)
        except PullRefused as refused:
            refusal = refused
        stages = camera.steps.end(refusal.reason if refusal else "")
    finally:
        await camera.close()
    mute = refusal is not None and refusal.closed and camera.address.scheme == "rtsp"
    # Most TLS servers close without a word when they are spoken to in plain text.
    if mute and await speaks_tls(camera.address, _SECOND_LOOK):
        refusal = wants_tls()
    return _report(subject, stages, refusal, camera, snapshot)


async def _first_picture(camera: Conversation, reception: Reception) -> Snapshot | None:
    """Return the first keyframe that decodes, None where nothing here can tell."""
    steps = camera.steps
    broken: PullRefused | None = None
    while True:
        try:
            keyframe = await camera.next_keyframe(reception)
        except PullRefused as refusal:
            if broken:
                steps.begin("picture")
            raise broken or refusal from None
        steps.begin("picture")
        if find_spec("av") is None:
            steps.skip("no decoder: av (PyAV) is not installed")
            return None
        try:
            # In a thread: a large picture keeps the other cameras of this loop waiting.
            snapshot = await asyncio.to_thread(Snapshot.of, reception.codec, keyframe)
        except ValueError as error:
            if broken:
                raise broken from None
            # The first may have been damaged on the way.
            broken = PullRefused("no_picture", str(error))
            steps.outcome, steps.detail = SKIPPED, "not readable; next: another"
        else:
            steps.detail = f"{snapshot.width} x {snapshot.height}"
            return snapshot


def _report(
    subject: str,
    stages: tuple[Stage, ...],
    refusal: PullRefused | None,
    camera: Conversation | None = None,
    snapshot: Snapshot | None = None,
) -> Report:
    verdict, (cause, advice) = "ok", VERDICTS["ok"]
    found: dict[str, Any] = {}
    if refusal:
        verdict, cause, advice = refusal.verdict, refusal.reason, refusal.advice
    if camera:
        found["authentication"] = camera.authentication
        found["warnings"] = tuple(notices(camera, snapshot))
        if reception := camera.reception:
            found["codec"] = reception.codec
            if reception.packets:
                found |= {"profile": reception.profile(), "transport": camera.transport}
    if snapshot:
        found |= {"snapshot": snapshot, "width": snapshot.width, "height": snapshot.height}
    return Report(
        subject=subject,
        ok=refusal is None,
        verdict=verdict,
        cause=cause,
        advice=advice,
        stages=stages,
        **found,
    )
