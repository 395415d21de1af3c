"""The streams of external devices: dialled, held, and dialled again when they have died."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ...errors import ConfkitError
from ...rtsp.refusal import PullRefused
from ...rtsp.verdicts import VERDICTS
from ...secret import SecretAddress, redact

if TYPE_CHECKING:
    from ...rtsp.pull import Stream
    from .room import StoredDevice

OPENING = 4.0  # seconds; less than the 5 that clients wait, so that they see the 427
SILENCE = 10.0  # seconds without a packet, or without a keyframe, that a live stream may last
FIRST_WAIT = 0.25  # seconds before a lost stream is dialled again; doubled up to LONGEST_WAIT
LONGEST_WAIT = 30.0
LOGIN_WAIT = 600.0  # cameras lock an address out after a few wrong logins: three in half an hour
STEADY = 5.0  # seconds that a stream must last for the waiting to begin anew

State = Literal["live", "dialling", "waiting"]

log = logging.getLogger("confkit.sandbox")


@dataclass(frozen=True, slots=True)
class DeviceStream:
    """How a device's stream is: "live", or "dialling" or "waiting" to be dialled again.

    `seconds` says for how long it is live, or down; `packets` those of all its connections,
    `reconnects` how often it came back. `verdict` and `reason` are of the last failure, empty while
    there was none.
    """

    room_id: str
    user_id: str
    state: State
    seconds: float
    packets: int
    reconnects: int
    verdict: str
    reason: str


def longer(wait: float, verdict: str) -> float:
    """Return the seconds to wait after one more failure, when it was `wait` before."""
    logins = ("auth_rejected", "auth_locked")
    return LOGIN_WAIT if verdict in logins else min(2 * wait, LONGEST_WAIT)


def tell(device: StoredDevice, news: str) -> None:
    """Log what has become of a device's stream."""
    address = SecretAddress(device.user_address)
    log.info("device %r in room %r, %s: %s", device.user_id, device.room_id, address, redact(news))


class Held:
    """A device whose stream is held until `close`."""

    def __init__(self, device: StoredDevice, stream: Stream, devices: Devices) -> None:
        self.device = device
        self._stream: Stream | None = stream
        self._devices = devices
        self._clock = asyncio.get_running_loop().time
        self._since = self._clock()
        self.state: State = "live"
        self._packets = 0  # of the connections that have died
        self._lives = 0
        self._failure: PullRefused | None = None
        self._task = asyncio.create_task(self._hold())

    def status(self) -> DeviceStream:
        """Return how the stream is now."""
        failure = self._failure
        return DeviceStream(
            self.device.room_id,
            self.device.user_id,
            self.state,
            self._clock() - self._since,
            self._packets + (self._stream.packets if self._stream else 0),
            max(0, self._lives - 1),
            failure.verdict if failure else "",
            redact(failure.reason) if failure else "",
        )

    async def keyframe(self) -> tuple[str, bytes]:
        """Return codec and newest keyframe of the live stream; wait for its first one.

        Raises ConfkitError when none comes in time, or when the stream is down: an old picture must
        not pass for a live one.
        """
        silence = self._devices.silence
        until = self._clock() + silence
        while self._stream and self._clock() < until:
            if self._stream.keyframe:
                return self._stream.codec, self._stream.keyframe
            await asyncio.sleep(0.05)
        verdict, why = "no_keyframe", f"no keyframe came within {silence:g} s"
        if not self._stream:
            now, cause = self.status(), self._failure or "just lost"
            verdict, why = (
                now.verdict,
                f"its stream has been down for {now.seconds:.1f} s ({cause})",
            )
        advice = VERDICTS[verdict].advice if verdict else "Try again in a moment."
        device = self.device.user_id
        raise ConfkitError(redact(f"There is no picture of device {device!r}: {why}. {advice}"))

    async def close(self) -> None:
        """Close the stream."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _hold(self) -> None:
        wait = FIRST_WAIT
        while True:
            lasted, failure = await self._play()
            # A camera that stays away is reported once, not at every try.
            if lasted:
                tell(self.device, f"lost after {lasted:.1f} s: {failure}")
            elif self._failure is None or failure.verdict != self._failure.verdict:
                tell(self.device, f"not opened: {failure}")
            self._failure = failure
            wait = FIRST_WAIT if lasted > STEADY else longer(wait, failure.verdict)
            self.state = "waiting"
            # Many cameras that died together are not all dialled again at the same moment.
            await asyncio.sleep(wait * (0.75 + self._devices.chance() / 2))
            self.state = "dialling"

    async def _play(self) -> tuple[float, PullRefused]:
        """Return the seconds after which the stream died (0: it did not open), and why."""
        try:
            stream = self._stream = self._stream or await self._devices.dial(self.device)
        except PullRefused as refused:
            return 0, refused
        began = self._since = self._clock()
        self.state = "live"
        self._lives += 1
        tell(self.device, f"live: {stream.codec} over {stream.transport}")
        try:
            failure = await stream.ended()
        finally:
            self._stream, self.state = None, "waiting"
            self._packets += stream.packets
            self._since = self._clock()
            await stream.close()
        return self._since - began, failure


class Devices:
    """All devices, by user id: those whose streams are `held`, and the `coming` ones, which are
    dialled for the first time and take up their place already."""

    def __init__(self, dial_timeout: float | None, chance: Callable[[], float]) -> None:
        """`dial_timeout` (seconds) bounds opening and silences alike, where it is given; `chance`
        gives numbers from 0 to 1."""
        self._opening, self.silence = dial_timeout or OPENING, dial_timeout or SILENCE
        self.chance = chance
        self.held: dict[str, Held] = {}
        self.coming: dict[str, StoredDevice] = {}

    def all(self, room_id: str | None = None) -> list[StoredDevice]:
        """Return the devices of a room, or all, those that are coming too."""
        known = [*(one.device for one in self.held.values()), *self.coming.values()]
        return [device for device in known if room_id in (None, device.room_id)]

    def present(self, room_id: str) -> list[StoredDevice]:
        """Return the room's devices whose streams flow: only then are they in it."""
        live = (one.device for one in self.held.values() if one.state == "live")
        return [device for device in live if device.room_id == room_id]

    def find(self, room_id: str, user_id: str) -> Held | None:
        """Return the room's device with this id."""
        held = self.held.get(user_id)
        return held if held and held.device.room_id == room_id else None

    async def dial(self, device: StoredDevice) -> Stream:
        """Return the device's stream, opened with the login in its options or in its address;
        raises PullRefused."""
        from ...rtsp.pull import pull  # loads only when a stream is pulled

        login = [device.options.get(key) or None for key in ("login_name", "login_password")]
        address, opening = device.user_address, self._opening
        try:
            return await pull(address, *login, timeout=opening, silence=self.silence)
        except PullRefused:
            raise
        except Exception as error:  # noqa: BLE001  # nobody would dial the device ever again
            reason = f"The sandbox failed at it: {type(error).__name__}."  # it may quote a login
            raise PullRefused("service_cannot_reach", reason) from None

    def hold(self, device: StoredDevice, stream: Stream) -> None:
        """Hold the device from now on."""
        self.held[device.user_id] = Held(device, stream, self)

    async def release(self, *user_ids: str) -> None:
        """Close the streams of these devices, which are not present any more; a dial that is under
        way for one of them comes to nothing."""
        for user_id in user_ids:
            self.coming.pop(user_id, None)
        held = [self.held.pop(user_id) for user_id in user_ids if user_id in self.held]
        # gather begins them a step later: a holder that is cancelled before its first step would
        # leave its stream open. A Ctrl-C of the owner's must not keep them from it.
        await asyncio.shield(asyncio.gather(*(one.close() for one in held)))
