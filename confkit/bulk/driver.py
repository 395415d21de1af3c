"""Many devices, one after the other: asked for once each, and none after the service is gone."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from ..client import Client
from ..devices import list_devices
from ..errors import (
    AuthenticationFailed,
    ConfigError,
    ConfkitError,
    OutcomeUnknown,
    ProtocolError,
    TokenRejected,
    TransportError,
)
from ..frames import frame_of, without_login
from ..records import Device
from ..secret import mask, masked

if TYPE_CHECKING:
    import pandas as pd

    from ..rtsp.report import Report

UNKNOWN, NOT_TRIED, ALREADY_THERE = "unknown", "not tried", "already there"
LOOK = "Look with list_devices(client, room_id) whether the device is there."
INTERRUPTED = "The call was interrupted."
# Nobody can use the service so: to ask it for the next device would not help.
NO_SERVICE = (TransportError, TokenRejected, AuthenticationFailed, ConfigError)


class Fate(NamedTuple):
    """A device of a table, the number of its row, and what has become of it so far."""

    row: int
    device: Device
    outcome: str = NOT_TRIED
    verdict: str = "skipped"
    cause: str = ""
    advice: str = ""
    seconds: float = 0.0
    report: "Report | None" = None

    def came(self, outcome: str, cause: str = "", advice: str = "") -> "Fate":
        """The fate with this outcome."""
        return self._replace(outcome=outcome, cause=cause, advice=advice)

    def after(self, error: ConfkitError, outcome: str, advice: str = "") -> "Fate":
        """The fate with an outcome that an error explains; `advice` where it has none itself."""
        report: Report | None = getattr(error, "report", None)
        if report is not None:
            fate = self._replace(verdict=report.verdict)
            return fate.came(outcome, report.cause, report.advice)
        return self.came(outcome, f"{error.said}.", error.advice or advice)


def one_by_one(
    fates: list[Fate],
    do: Callable[[Fate], Fate],
    failed: Mapping[type[ConfkitError], str],
    again: str,
    *,
    step: Callable[[], object] = lambda: None,
    cancelled: Event | None = None,
) -> str:
    """Do something with each device that was not tried, once, in order; why not with all, or "".

    `do` returns what became of it, or raises what was answered; `failed` is the outcome by the kind
    of error, of which the first that fits counts. `again` says how to call once more.
    CancelledError once `cancelled` is set.
    """
    for at, fate in enumerate(fates):
        go_on(cancelled)
        ended = ""
        if fate.outcome == NOT_TRIED:
            fates[at] = fate.came(UNKNOWN, INTERRUPTED, LOOK)  # so it stays, where Ctrl-C comes
            began = time.monotonic()
            try:
                came = do(fate)
            except NO_SERVICE as error:
                came, ended = fate, str(error)
            except OutcomeUnknown as error:
                came = fate.after(error, UNKNOWN, f"{LOOK} {again}")
                if isinstance(error.__cause__, NO_SERVICE):  # nobody answered the look-up either
                    ended = str(error.__cause__)
            except ConfkitError as error:
                kind = next(kind for kind in failed if isinstance(error, kind))
                came = fate.after(error, failed[kind])
            fates[at] = came._replace(seconds=fate.seconds + time.monotonic() - began)
        step()
        if ended:
            return ended
    return ""


def devices_in(client: Client, room_ids: Iterable[str]) -> list[Device]:
    """Return the external users of these rooms, and maybe of others (B3).

    One call for all of them, or, where the service cuts so long a list short, one for each room."""
    rooms = dict.fromkeys(room_ids)
    try:
        return list_devices(client) if rooms else []
    except ProtocolError:
        return [device for room_id in rooms for device in list_devices(client, room_id)]


def go_on(cancelled: Event | None) -> None:
    """CancelledError when the call is to end."""
    if cancelled is not None and cancelled.is_set():
        raise CancelledError


DEVICE_COLUMNS: dict[str, Callable[[Any], object]] = {  # of a record that has a `device`
    "room_id": lambda record: record.device.room_id,
    "user_id": lambda record: without_login(record.device.user_id),
    "user_name": lambda record: without_login(record.device.user_name),
    "user_address": lambda record: masked(record.device.user_address, "user_address"),
}


def fate_frame(
    fates: Sequence[Fate], columns: Sequence[str], outcomes: tuple[str, ...], *rest: str
) -> "pd.DataFrame":
    """One row per device, with these columns; `outcome` is a category of these outcomes. No text
    holds a secret, whatever a device is called. `rest`: why some were not tried, and what to do."""
    if rest:
        fates = [one.came(NOT_TRIED, *rest) if one.outcome == NOT_TRIED else one for one in fates]
    kinds: dict[str, str | tuple[str, ...]]
    kinds = {"row": "Int64", "outcome": outcomes, "seconds": "float64"}
    types = {name: kinds.get(name, "string") for name in columns}
    texts = {"cause": lambda fate: mask(fate.cause), "advice": lambda fate: mask(fate.advice)}
    return frame_of(list(fates), types, {**DEVICE_COLUMNS, **texts})
