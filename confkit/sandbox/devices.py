"""The external devices: who is being dialled, and whose stream is held."""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from ..rtsp.address import parse_address
from ..rtsp.refusal import PullRefused
from ..secret import mask
from .holding import Chance, Held, dial, tell

if TYPE_CHECKING:
    from ..rtsp.pull import Stream
    from .store import StoredDevice

OPENING = 4.0  # seconds; less than the 5 that clients wait, so that they see the 427
SILENCE = 10.0  # seconds without a packet, or without a keyframe, that a live stream may last
DIALLED = ("rtsp", "rtsps")
KNOWN = (*DIALLED, "sip", "h323")


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


def dialled(address: str) -> bool:
    """Whether this sandbox dials such an address."""
    return address.partition("://")[0].lower() in DIALLED


class Devices:
    """The devices by user id, and what is reserved for those that are dialled the first time."""

    def __init__(self, dial_timeout: float | None, chance: Chance) -> None:
        """`dial_timeout` (seconds) bounds opening and silences alike, where it is given."""
        self._opening = OPENING if dial_timeout is None else dial_timeout
        self._silence = SILENCE if dial_timeout is None else dial_timeout
        self._chance = chance
        self.held: dict[str, Held] = {}
        self.reserved: dict[str, Reserved] = {}

    def present(self, user_id: str) -> bool:
        """Whether the device's stream flows: only then is it in its room."""
        return user_id in self.held and self.held[user_id].live

    def room_has_stream(self, room_id: str) -> bool:
        """Whether a device is present in the room."""
        return any(held.live and held.device.room_id == room_id for held in self.held.values())

    async def open(self, device: "StoredDevice") -> "Stream":
        """The stream of a device that is new; raises PullRefused."""
        try:
            return await dial(device, self._opening, self._silence)
        except PullRefused as refused:
            tell(device, f"not opened: {refused}")
            raise

    def hold(self, device: "StoredDevice", stream: "Stream | None" = None) -> None:
        """Holds the device from now on; without a stream it is dialled first."""
        self.held[device.user_id] = Held(device, stream, self._opening, self._silence, self._chance)

    async def release(self, *user_ids: str) -> None:
        """Lets go of the devices: they are not present any more, and their streams are closed."""
        held = [self.held.pop(user_id) for user_id in user_ids if user_id in self.held]
        # gather begins them a step later: a holder that is cancelled before its first step would
        # leave its stream open. A Ctrl-C of the owner's must not keep them from it.
        await asyncio.shield(asyncio.gather(*(one.close() for one in held)))

    def cancel_reservations(self, room_id: str) -> None:
        """Makes the dials that are under way for this room come to nothing."""
        for user_id, reserved in list(self.reserved.items()):
            if reserved.room_id == room_id:
                del self.reserved[user_id]

    async def close(self) -> None:
        """Lets go of every device."""
        await self.release(*self.held)
