"""Many devices taken out of their rooms."""

import os
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..client import Client
from ..devices import devices_in, remove_device
from ..endpoints import B2
from ..errors import ConfkitError, OutcomeUnknown, UserNotFound
from ..many.tables import Cells, Problem, is_table, read_table
from ..records import Device
from ..secret import MASK, mask_address
from .attempts import (
    ALREADY_THERE,
    INTERRUPTED,
    LOOK,
    NO_SERVICE,
    NOT_TRIED,
    UNKNOWN,
    Fate,
    fate_frame,
    told,
    unknown,
)
from .device_table import checked, table_error
from .strays import NOT_KNOWN

if TYPE_CHECKING:
    import pandas as pd

REMOVED, NOT_THERE, FAILED, LEFT_ALONE = "removed", "not there", "failed", "left alone"
AGAIN = "Call again with the same devices: what is gone already is then not there."
OUTCOMES = (REMOVED, NOT_THERE, FAILED, UNKNOWN, LEFT_ALONE, NOT_TRIED)
COLUMNS = (
    "row", "outcome", "room_id", "user_id", "cause", "advice", "user_name", "user_address",
    "seconds",
)  # fmt: skip


def remove_devices(
    client: Client,
    devices: "Iterable[Device] | Device | pd.DataFrame | str | os.PathLike[str]",
    *,
    encoding: str | None = None,
) -> "pd.DataFrame":
    """One row a device, in the given order, with what became of it; a failure does not end it, but
    a service that cannot be reached does.

    `devices` are Device records, or a table (see `import_devices`) with room_id, user_id and, where
    it is known, user_address; one that is missing or masked is looked up in B3. The result of
    `import_devices` will do, and what was there before is then left alone, as is what
    `stray_devices` could not find out about. A mistake in the table is a TableError, and nothing is
    sent. Ctrl-C gives what is done so far.

    Columns: `row` (the line of the file, or the position from 1), `outcome`, a category:
    "removed", "not there", "failed", "unknown" (the answer was lost, or leaves it open), "left
    alone", "not tried"; `room_id`, `user_id`, `cause`, `advice`, `user_name`, `user_address`
    (masked), `seconds`.
    """
    client.may_send(B2)
    fates, problems = _named(devices, encoding)
    del devices  # a traceback would show its passwords
    if problems:
        raise table_error(problems)
    gone = ""
    try:
        _look_up(client, fates)
        for at, fate in enumerate(fates):
            if fate.outcome == NOT_TRIED and gone:
                fates[at] = fate._replace(cause=gone, advice=AGAIN)
            elif fate.outcome == NOT_TRIED:
                fates[at] = fate._replace(outcome=UNKNOWN, cause=INTERRUPTED, advice=LOOK)
                fates[at] = _removed(client, fate)
                gone = fates[at].gone
    except KeyboardInterrupt:
        pass  # the frame says how far it came
    return fate_frame(fates, COLUMNS, OUTCOMES)


def _named(devices: object, encoding: str | None) -> tuple[list[Fate], list[Problem]]:
    if isinstance(devices, Device):
        devices = [devices]
    if not is_table(devices):
        records = list(devices)  # type: ignore[call-overload]  # the TypeError is the test
        if not all(isinstance(record, Device) for record in records):
            raise TypeError("give Device records, a DataFrame, or the path of a CSV file")
        return [Fate(row, record) for row, record in enumerate(records, 1)], []
    optional = ("user_name", "user_address", "outcome", "reason")
    lines, problems = read_table(devices, ("room_id", "user_id"), optional, encoding)
    fates = []
    for number, cells in lines:
        found, wrong = checked({name: cells[name] for name in _to_check(cells)})
        problems += [Problem(number, *item) for item in wrong]
        if not problems:
            fates.append(_fate(number, {**cells, **found}))
    return fates, problems


def _to_check(cells: Cells) -> list[str]:
    """The columns that matter; an address only where it is one, and not missing or masked."""
    address = cells.get("user_address")
    known = ["user_address"] if address and MASK not in str(address) else []
    return [name for name in ("room_id", "user_id") if name in cells] + known


def _fate(number: int, cells: Cells) -> Fate:
    name, address = (cells.get(column) or None for column in ("user_name", "user_address"))
    fate = Fate(number, Device(cells["room_id"], cells["user_id"], name, address))
    if cells.get("outcome") == ALREADY_THERE:
        return fate._replace(outcome=LEFT_ALONE, cause="It was there before the import.")
    if cells.get("reason") == NOT_KNOWN:
        return fate._replace(outcome=LEFT_ALONE, cause="It is not known whether it is a stray.")
    return fate


def _look_up(client: Client, fates: list[Fate]) -> None:
    """Completes the devices whose address is missing or masked."""
    vague = {
        at: fate for at, fate in enumerate(fates)
        if fate.outcome == NOT_TRIED and MASK in (fate.device.user_address or MASK)
    }  # fmt: skip
    listed = devices_in(client, [fate.device.room_id for fate in vague.values()])
    known = {(device.room_id, device.user_id): device for device in listed}
    for at, fate in vague.items():
        found = known.get((fate.device.room_id, fate.device.user_id))
        masked = fate.device.user_address
        if found and masked in (None, mask_address(found.user_address or "")):
            fates[at] = fate._replace(device=found)
        else:
            fates[at] = fate._replace(outcome=NOT_THERE, cause="B3 does not list it.")


def _removed(client: Client, fate: Fate) -> Fate:
    began = time.monotonic()
    try:
        remove_device(client, fate.device)
        fate = fate._replace(outcome=REMOVED)
    except UserNotFound as error:
        fate = fate._replace(outcome=NOT_THERE, cause=told(error)[0])
    except OutcomeUnknown as error:
        fate = unknown(fate, error, LOOK)
    except NO_SERVICE as error:
        fate = fate._replace(cause=str(error), advice=AGAIN, gone=str(error))
    except ConfkitError as error:
        cause, advice = told(error)
        fate = fate._replace(outcome=FAILED, cause=cause, advice=advice)
    return fate._replace(seconds=time.monotonic() - began)
