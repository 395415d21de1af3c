"""The preflight: what stands between here and a camera's picture, told in one verdict."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from importlib.util import find_spec

from ..secret import Guarded, Secret, mask_address
from .address import Address
from .blocking import blocking
from .connecting import speaks_tls
from .handshake import TRANSPORTS
from .pull import Stream
from .quality import Quality, measured, notices, profile
from .refusal import PullRefused, wants_tls
from .report import SKIPPED, Notice, Report, Snapshot
from .steps import OnStage, Steps, Stopped
from .target import target
from .verdicts import VERDICTS

_SECOND_LOOK = 3.0  # seconds to ask a silent port whether it wants encryption
_GLANCE = 0.5  # seconds for the same where no more are left


def preflight(
    url: str,
    login_name: str | None = None,
    login_password: str | None = None,
    *,
    transport: str = "auto",
    timeout: float = 20.0,
    observe: float = 0.0,
    verify: bool | str = True,
    cancelled: threading.Event | None = None,
    on_stage: OnStage | None = None,
) -> Report:
    """Return what became of an attempt to play a camera: verdict, stages and first picture.

    The login may stand in the URL instead of the fields.  `transport` is "auto" (TCP first, UDP
    when the camera refuses it), "tcp" or "udp"; `timeout` bounds everything up to the first
    picture and `observe` is how long to measure the stream after it, both in seconds; `verify` is
    as in requests, for rtsps.  One connection, at most one login, and TEARDOWN always.  What a
    camera does never raises; ValueError is for an option that makes no sense.  Setting `cancelled`
    ends it early, with concurrent.futures.CancelledError.

    `on_stage` is called with each stage twice, in another thread: when it begins (its `outcome` is
    "running" then) and when it has ended.  The camera waits meanwhile, so it had better be quick;
    what it raises ends the preflight and is raised here.
    """
    if transport not in TRANSPORTS:
        raise ValueError(f"transport is {transport!r}; it is one of {', '.join(TRANSPORTS)}.")
    if not timeout > 0 or not observe >= 0:
        raise ValueError("timeout is a number of seconds above 0, observe one of at least 0.")
    for name, value in (("login_name", login_name), ("login_password", login_password)):
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} is not a text.")
    login_password = None if login_password is None else Secret(login_password)
    guarded = Guarded(url)
    try:
        return blocking(
            lambda: _preflight(
                guarded,
                login_name,
                login_password,
                transport=transport,
                timeout=timeout,
                observe=observe,
                verify=verify,
                on_stage=on_stage,
            ),
            cancelled,
        )
    except Stopped as stopped:
        raised = stopped.raised
    raise raised


async def _preflight(
    url: str,
    login_name: str | None,
    login_password: str | None,
    *,
    transport: str,
    timeout: float,
    observe: float,
    verify: bool | str,
    on_stage: OnStage | None,
) -> Report:
    began = asyncio.get_running_loop().time()
    steps = Steps("address", on_stage)
    attempt = _Attempt(mask_address(url, broken=True), steps)
    try:
        address, login = target(url, login_name, login_password)
    except PullRefused as malformed:
        return attempt.report(malformed)
    attempt.address = address
    attempt.subject = mask_address(address.url)
    stream = attempt.stream = Stream(
        address, login, transport=transport, verify=verify, steps=steps, observed=observe > 0
    )
    try:
        refusal = await _until_picture(attempt, stream, timeout)
        if refusal is None and observe:
            refusal = await _observe(attempt, stream, observe)
    finally:
        await stream.close()
    left = began + timeout - asyncio.get_running_loop().time()
    mute = refusal is not None and refusal.closed and address.scheme == "rtsp"
    # Most TLS servers close without a word when they are spoken to in plain text.
    if mute and await speaks_tls(address, min(_SECOND_LOOK, max(_GLANCE, left))):
        refusal = wants_tls()
    return attempt.report(refusal)


async def _until_picture(attempt: _Attempt, stream: Stream, timeout: float) -> PullRefused | None:
    """Return None once there is a picture, or what stands in its way."""
    broken: PullRefused | None = None
    try:
        async with asyncio.timeout(timeout):
            await stream.start()
            attempt.steps.begin("keyframe")
            while True:
                keyframe = await stream.next_keyframe()
                failure = attempt.decode(stream.codec, keyframe)
                if failure is None:
                    return None
                if broken:
                    return stream.handshake.there(failure)
                broken = failure  # the first may have been damaged on the way
                attempt.steps.outcome, attempt.steps.detail = SKIPPED, "not readable; next: another"
                attempt.steps.begin("keyframe")
    except TimeoutError:
        return attempt.unreadable(broken) or stream.too_slow(timeout)
    except PullRefused as refusal:
        return attempt.unreadable(broken) or refusal


async def _observe(attempt: _Attempt, stream: Stream, seconds: float) -> PullRefused | None:
    """Return None after so many seconds of a stream that went on."""
    attempt.steps.begin("quality")
    before = stream.packets
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.shield(stream.handshake.closed)
        reason = "The camera closed the connection while it was observed."
        return stream.handshake.there(PullRefused("dropped", reason))
    if stream.packets == before:
        reason = f"The camera sent nothing for {seconds:g} s after its first picture."
        return stream.handshake.there(PullRefused("no_media", reason))
    if stream.reception:
        attempt.quality = measured(stream.reception)
    return None


class _Attempt:
    """What is known so far of one preflight."""

    def __init__(self, subject: str, steps: Steps) -> None:
        self.subject = subject
        self.steps = steps
        self.address: Address | None = None
        self.stream: Stream | None = None
        self.snapshot: Snapshot | None = None
        self.quality: Quality | None = None
        self.undecoded = False

    def decode(self, codec: str, keyframe: bytes) -> PullRefused | None:
        """Return None when the keyframe is a picture, or when nothing here can tell."""
        self.steps.begin("picture")
        if find_spec("av") is None:
            self.undecoded = True
            self.steps.skip("no decoder: av (PyAV) is not installed")
            return None
        try:
            self.snapshot = Snapshot.of(codec, keyframe)
        except ValueError as error:
            return PullRefused("no_picture", str(error))
        self.steps.detail = f"{self.snapshot.width} x {self.snapshot.height}"
        return None

    def unreadable(self, broken: PullRefused | None) -> PullRefused | None:
        """Return what was wrong with the only keyframe that came, if there was one."""
        if broken:
            self.steps.begin("picture")
        return broken

    def report(self, refusal: PullRefused | None) -> Report:
        """Return all of it."""
        stages = self.steps.end(refusal.reason if refusal else "")
        handshake = self.stream.handshake if self.stream else None
        redirected = handshake.redirected if handshake else None
        verdict = refusal.verdict if refusal else "redirected" if redirected else "ok"
        cause, advice = VERDICTS[verdict]
        if refusal:
            cause, advice = refusal.reason, refusal.advice
        elif redirected:
            cause = f"The camera redirects to {redirected}, and plays there."
            advice = f"Import {redirected} instead: not every service follows."
        reception = self.stream.reception if self.stream else None
        quality = self.quality
        return Report(
            subject=self.subject,
            ok=refusal is None,
            verdict=verdict,
            cause=cause,
            advice=advice,
            stages=stages,
            codec=getattr(handshake, "codec", None),
            profile=profile(reception) if reception else None,
            width=self.snapshot.width if self.snapshot else None,
            height=self.snapshot.height if self.snapshot else None,
            fps=quality.fps if quality else None,
            bit_rate=quality.bit_rate if quality else None,
            keyframe_interval=quality.keyframe_interval if quality else None,
            packet_loss=quality.packet_loss if quality else None,
            transport=handshake.transport if handshake and reception else None,
            authentication=handshake.authentication if handshake else None,
            snapshot=self.snapshot,
            warnings=self._warnings(),
        )

    def _warnings(self) -> tuple[Notice, ...]:
        if self.address is None or self.stream is None:
            return ()
        return tuple(
            notices(self.address, self.stream, self.snapshot, self.quality, self.undecoded)
        )
