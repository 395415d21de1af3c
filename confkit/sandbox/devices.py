"""The external devices: dialled, held, and dialled again when their stream dies."""

import asyncio
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from ..masking import mask
from ..rtsp.address import parse_address
from .store import StoredDevice

FIRST_WAIT = 0.25  # seconds before a lost stream is dialled again; doubled up to LONGEST_WAIT
LONGEST_WAIT = 30.0
STEADY = 5.0  # seconds that a stream must last for the waiting to begin anew
GOODBYE = 0.4  # seconds that a camera gets to take leave
DIALLED = ("rtsp", "rtsps")
KNOWN = (*DIALLED, "sip", "h323")


class Stream(Protocol):
    """A stream that is held open (see `confkit.rtsp.pull`)."""

    async def ended(self) -> str:
        """Why it died, once it has."""

    async def close(self) -> None:
        """Takes leave of the camera."""


class NotOpened(Exception):
    """The device did not let itself be opened; `in_time` is False when it gave no answer."""

    def __init__(self, why: str, in_time: bool = True, verdict: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.in_time = in_time
        self.verdict = verdict


class Reserved(NamedTuple):
    """What a device takes up while it is dialled for the first time."""

    room_id: str
    user_address: str


def malformed(address: str) -> str | None:
    """What is wrong with a device's address; None when it has the form of one (section 2)."""
    scheme, separator, rest = address.partition("://")
    if address != address.strip():
        return "userAddress has white space around it"
    if not separator or scheme.lower() not in KNOWN:
        return "the scheme of userAddress is none of rtsp, rtsps, sip and h323"
    try:
        parse_address(address if scheme.lower() in DIALLED else f"rtsp://{rest}")
    except ValueError as error:
        return mask(f"userAddress: {error}")
    return None


async def dial(device: StoredDevice, timeout: float) -> Stream:
    """The device's stream, opened with the login in its options or in its address."""
    if device.user_address.partition("://")[0].lower() not in DIALLED:
        raise NotOpened("this sandbox dials rtsp and rtsps only, not sip or h323")
    from ..rtsp.pull import PullRefused, pull  # loads only when a stream is pulled

    login: dict[str, Any] = {
        name: device.options.get(name) or None for name in ("login_name", "login_password")
    }
    try:
        async with asyncio.timeout(timeout + 1):
            return await pull(str(device.user_address), **login, timeout=timeout)
    except PullRefused as refused:
        why = mask(f"the camera was not opened: {refused.verdict}: {refused.reason}")
        raise NotOpened(why, not refused.timed_out, refused.verdict) from None
    except TimeoutError:
        raise NotOpened(f"no answer from the camera in {timeout:g} s", in_time=False) from None
    except OSError as error:
        raise NotOpened(f"the camera was not opened: {error.strerror or 'no connection'}") from None


class Devices:
    """The streams that are held: who is being dialled, and who is present in a room."""

    def __init__(self, dial_timeout: float) -> None:
        self._timeout = dial_timeout
        self._holders: dict[str, asyncio.Task[None]] = {}
        self.reserved: dict[str, Reserved] = {}
        self.present: dict[str, str] = {}  # user id -> room id, while the stream flows

    def room_has_stream(self, room_id: str) -> bool:
        """Whether a device is present in the room."""
        return room_id in self.present.values()

    async def open(self, device: StoredDevice) -> Stream:
        """The stream of a device that is new; raises NotOpened."""
        return await dial(device, self._timeout)

    def hold(self, device: StoredDevice, stream: Stream | None) -> None:
        """Holds the device from now on; without a stream it is dialled first."""
        if stream:
            self.present[device.user_id] = device.room_id
        task = asyncio.create_task(self._hold(device, stream))
        self._holders[device.user_id] = task

    async def release(self, *user_ids: str) -> None:
        """Lets go of the devices: they are not present any more, and their streams are closed."""
        tasks = []
        for user_id in user_ids:
            self.present.pop(user_id, None)
            task = self._holders.pop(user_id, None)
            if task:
                task.cancel()
                tasks.append(task)
        if tasks:
            await asyncio.wait(tasks)

    def cancel_reservations(self, room_id: str) -> None:
        """Makes the dials that are under way for this room come to nothing."""
        for user_id, reserved in list(self.reserved.items()):
            if reserved.room_id == room_id:
                del self.reserved[user_id]

    async def close(self) -> None:
        """Lets go of every device."""
        await self.release(*self._holders)

    async def _hold(self, device: StoredDevice, stream: Stream | None) -> None:
        clock = asyncio.get_running_loop().time
        wait = FIRST_WAIT
        first = stream is None
        try:
            while True:
                if stream is None:
                    if not first:
                        await asyncio.sleep(wait)
                    first = False
                    try:
                        stream = await dial(device, self._timeout)
                    except NotOpened as refused:
                        # A camera may lock the login out after a few wrong ones: no hurry then.
                        locked = refused.verdict.startswith("auth_")
                        wait = LONGEST_WAIT if locked else min(2 * wait, LONGEST_WAIT)
                        continue
                self.present[device.user_id] = device.room_id
                since = clock()
                await stream.ended()
                self.present.pop(device.user_id, None)
                wait = FIRST_WAIT if clock() - since > STEADY else min(2 * wait, LONGEST_WAIT)
                ended, stream = stream, None
                await hang_up(ended)
        finally:
            if stream:
                await hang_up(stream)


async def hang_up(stream: Stream) -> None:
    """Closes a stream; a camera that does not answer the farewell holds nobody up."""
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(GOODBYE):
            await stream.close()
