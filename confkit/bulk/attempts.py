"""One device of many: asked for, taken back, and how it fared."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..client import Client
from ..devices import NotInRoom, devices_in, find_device, import_device, remove_device
from ..diagnosis.device_address import at_address_of
from ..diagnosis.imports import explained
from ..errors import (
    ApiError,
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    TokenRejected,
    TransportError,
    UserExists,
    UserNotFound,
)
from ..frames import frame_of, without_login
from ..records import Device
from ..rooms import get_room_users
from ..secret import mask, masked

if TYPE_CHECKING:
    import pandas as pd

    from ..rtsp.report import Report

IMPORTED, ALREADY_THERE, PREFLIGHT_FAILED = "imported", "already there", "preflight failed"
READY = "ready"  # of a dry run: nothing is known that keeps it from being imported
REFUSED, NOT_SEEN, UNKNOWN, NOT_TRIED = "refused", "not seen", "unknown", "not tried"
ROLLED_BACK, ROLLBACK_FAILED = "rolled back", "rollback failed"
FAILED = (PREFLIGHT_FAILED, REFUSED, NOT_SEEN, UNKNOWN)

AGAIN = "Call again with the same table: what is there already is left alone."
LOOK = "Look with list_devices(client, room_id) whether the device is there."
INTERRUPTED = "The call was interrupted."
# Nobody can use the service so: to ask it for the next device would not help.
NO_SERVICE = (TransportError, TokenRejected, AuthenticationFailed, ConfigError)

# Of a record that has a `device`, as part of what it tells.
OF_DEVICE: Mapping[str, Any] = {
    "room_id": lambda record: record.device.room_id,
    "user_id": lambda record: without_login(record.device.user_id),
    "user_name": lambda record: without_login(record.device.user_name),
    "user_address": lambda record: _shown(record.device),
}


class Fate(NamedTuple):
    """A device, the number of its row, and how it has fared so far."""

    row: int
    device: Device
    outcome: str = NOT_TRIED
    verdict: str = "skipped"
    cause: str = ""
    advice: str = ""
    seconds: float = 0.0
    report: "Report | None" = None
    existed: bool = False  # 423: whatever is there, it was not this call that imported it
    gone: str = ""  # why the service cannot be asked for the next device


def unknown(fate: Fate, error: OutcomeUnknown, advice: str) -> Fate:
    """The fate of a device that may or may not be there; when nobody answered the look-up either,
    the service is gone."""
    gone = str(error.__cause__) if isinstance(error.__cause__, NO_SERVICE) else ""
    cause, advice = _apart(error, advice)
    return fate._replace(outcome=UNKNOWN, cause=cause, advice=advice, gone=gone)


def _apart(error: ConfkitError, advice: str) -> tuple[str, str]:
    """What an error says is wrong, and its next step; this `advice` where it has none."""
    return f"{error.said}.", error.advice or advice


def attempted(client: Client, fate: Fate, patience: float | None) -> Fate:
    """The fate of a device after the service was asked for it (B1), once.

    With a `patience`, in seconds, it is looked for afterwards. Raises what says that the service
    cannot be used at all.
    """
    began = time.monotonic()
    try:
        if patience is None:
            import_device(client, fate.device)
        else:
            import_device(client, fate.device, verify=True, patience=patience)
        fate = fate._replace(outcome=IMPORTED)
    except NO_SERVICE:
        raise
    except NotInRoom as error:
        fate = fate._replace(outcome=NOT_SEEN, cause=str(error))
    except OutcomeUnknown as error:
        fate = unknown(fate, error, f"{LOOK} {AGAIN}")
    except ConfkitError as error:
        fate = _refused(client, fate, error)
    return fate._replace(seconds=fate.seconds + time.monotonic() - began)


def _refused(client: Client, fate: Fate, error: ConfkitError) -> Fate:
    if isinstance(error, UserExists):
        known = _exists(client, fate, told(error)[0])
        if known:
            return known
    fate = fate._replace(outcome=REFUSED)
    if isinstance(error, ApiError) and fate.report:
        explained(error, client, fate.device, fate.report)
        found = error.report
        if found:
            return fate._replace(verdict=found.verdict, cause=found.cause, advice=found.advice)
    cause, advice = told(error)
    return fate._replace(cause=cause, advice=advice)


def told(error: ConfkitError) -> tuple[str, str]:
    """The cause and the next step that an error names."""
    if isinstance(error, ApiError) and error.ret is not None:
        return f"{error.endpoint} answered {error.ret}: {error.meaning}.", error.advice
    return str(error), ""


def _exists(client: Client, fate: Fate, cause: str) -> Fate | None:
    """The fate of a device that exists already (423); None when its user ID is another's.

    Where nothing can be seen of it, an import whose answer was lost may still be under way."""
    device, unseen = fate.device, "The service lists no such device, so it may be joining just now."
    try:
        people = {user.user_id for user in get_room_users(client, device.room_id)}
        listed = devices_in(client, [device.room_id])  # later: a device that has joined is in both
        known = at_address_of(device, (one for one in listed if one.room_id == device.room_id))
        if known:
            return already_there(fate, known)
        if device.user_id in people.union(one.user_id for one in listed):
            return None
    except ConfkitError as error:
        unseen = f"Whether that is this device could not be read: {error}"
    fate = fate._replace(outcome=UNKNOWN, advice=f"{LOOK} {AGAIN}", existed=True)
    return fate._replace(cause=f"{cause} {unseen}")


def already_there(fate: Fate, known: Device) -> Fate:
    """The fate of a device whose address is in the room already, as `known`."""
    fate = fate._replace(outcome=ALREADY_THERE)
    if known.user_id == fate.device.user_id:
        return fate
    return fate._replace(
        cause=f"The room has this camera already, as the user {known.user_id!r}.",
        advice="Remove that device first if this user ID is wanted.",
    )


def undone(client: Client, fate: Fate, why: str) -> Fate:
    """The fate of a device after it was removed again (B2); `why` is kept where it had no cause."""
    try:
        if fate.outcome == UNKNOWN and not _is_there(client, fate.device):
            return fate
        remove_device(client, fate.device)
    except UserNotFound:
        pass  # gone is gone
    except ConfkitError as error:
        cause, advice = _apart(error, LOOK)
        return fate._replace(outcome=ROLLBACK_FAILED, cause=cause, advice=advice)
    return fate._replace(outcome=ROLLED_BACK, cause=fate.cause or why)


def _is_there(client: Client, device: Device) -> bool:
    found = find_device(client, device.room_id, device.user_id)
    return found is not None and found.user_address == device.user_address


def _shown(device: Device) -> str | None:
    address = masked(device.user_address, "user_address")
    return None if address is None else str(address)


def fate_frame(
    fates: list[Fate], columns: Sequence[str], outcomes: tuple[str, ...]
) -> "pd.DataFrame":
    """One row a device, with these columns; `outcome` is a category of these outcomes. No text
    holds a secret, whatever a device is called."""
    kinds: dict[str, str | tuple[str, ...]]
    kinds = {"row": "Int64", "outcome": outcomes, "seconds": "float64"}
    types = {name: kinds.get(name, "string") for name in columns}
    told = {
        "cause": lambda fate: mask(fate.cause),
        "advice": lambda fate: mask(fate.advice),
    }
    return frame_of(fates, types, {**OF_DEVICE, **told})
