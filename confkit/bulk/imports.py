"""Many devices from one table: checked, tried from here, then imported in their order."""

import os
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, TextIO

from ..client import Client
from ..devices import NotInRoom, import_device
from ..diagnosis.device_address import at_address_of, can_be_tried, place, preflight_of
from ..endpoints import B1
from ..errors import ConfkitError, UserExists
from ..many.progress import Show, progress_shown
from ..records import Device
from ..rooms import get_room_users
from ..rtsp.address import parse_address
from ..secret import Secret
from .device_table import device_rows, table_error
from .driver import (
    ALREADY_THERE,
    INTERRUPTED,
    LOOK,
    NOT_TRIED,
    UNKNOWN,
    Fate,
    devices_in,
    fate_frame,
    go_on,
    one_by_one,
)

if TYPE_CHECKING:
    import pandas as pd

    from ..rtsp.report import Report

IMPORTED, PREFLIGHT_FAILED, READY = "imported", "preflight failed", "ready"
REFUSED, NOT_SEEN = "refused", "not seen"
OUTCOMES = (
    IMPORTED,
    ALREADY_THERE,
    PREFLIGHT_FAILED,
    REFUSED,
    NOT_SEEN,
    UNKNOWN,
    NOT_TRIED,
    READY,
)
COLUMNS = (
    "row",
    "outcome",
    "verdict",
    "room_id",
    "user_id",
    "cause",
    "advice",
    "user_name",
    "user_address",
    "seconds",
)
AGAIN = "Call again with the same table: what is there already is left alone."
_GLANCE = 0.2  # seconds until `cancelled` is seen


def import_devices(
    client: Client,
    table: "pd.DataFrame | str | os.PathLike[str] | TextIO",
    *,
    dry_run: bool = False,
    login_password: str | None = None,
    preflight: bool = True,
    verify: bool = False,
    patience: float = 5.0,
    threads: int = 16,
    timeout: float = 20.0,
    progress: bool | Show | None = None,
    encoding: str | None = None,
    cancelled: Event | None = None,
) -> "pd.DataFrame":
    """One row per device of a table, in its order, with what became of it.

    `table` is a DataFrame, or a CSV file (commas, semicolons or tabs; UTF-8 unless `encoding` names
    another), as its path or open for reading, with the columns room_id, user_id, user_name,
    user_address and, where wanted, login_name, login_password, user_data and options (JSON). All of
    it is checked first: with one mistake TableError names each, and nothing is sent.
    `login_password` is that of rows with a login_name and no password of their own, so that a file
    need hold none.

    A device whose address is in its room already is left alone. With `preflight` the cameras are
    tried from here, `threads` at a time and one of a host, for `timeout` seconds each; what does
    not play is not imported. Then the service is asked for each device, once, in order, up to the
    end or until it cannot be reached. With `verify` each is looked for in B3 and A6 afterwards, for
    up to `patience` seconds. With `dry_run` all of it is done but the imports: nothing changes, so
    that a client which is read_only may ask too, and what would be asked for is "ready".
    `remove_devices(client, result)` takes out again what was imported, or may have been.

    Ctrl-C ends the preflights under way, gives what is done so far, and removes nothing; so does
    `cancelled`, once it is set, after the answer to the device that is just asked for. `progress`
    is a function of the steps done and their number, or True or False.

    Columns: `row` (the line of the file; in a DataFrame the position, from 1), `outcome`, a
    category: "imported", "already there", "preflight failed", "refused" (by the service), "not
    seen" (`verify`), "unknown" (the answer was lost, or leaves it open), "not tried", "ready"
    (`dry_run`); `verdict` of the preflight or "skipped", `room_id`, `user_id`, `cause`, `advice`,
    `user_name`, `user_address` (masked), `seconds`.
    """
    if not dry_run:
        client.may_send(B1)
    if threads < 1 or not timeout > 0:
        raise ValueError("threads is at least 1, and timeout a number of seconds above 0.")
    login_password = Secret(login_password) if login_password is not None else None
    fates, problems = device_rows(table, encoding, login_password)
    del table  # a traceback would show its passwords
    if problems:
        raise table_error(problems)

    def bring_in(fate: Fate) -> Fate:
        if dry_run:
            return fate._replace(outcome=READY)
        return _import(client, fate, verify, patience)

    failed = {NotInRoom: NOT_SEEN, ConfkitError: REFUSED}
    try:
        _set_aside(client, fates)
        wanted = [
            at
            for at, fate in enumerate(fates)
            if preflight and fate.outcome == NOT_TRIED and can_be_tried(fate.device)
        ]
        with progress_shown(progress, len(wanted) + len(fates), "importing") as step:
            devices = [fates[at].device for at in wanted]
            with closing(_tried(devices, threads, timeout, cancelled)) as reports:
                for position, report in reports:
                    fates[wanted[position]] = _after_preflight(fates[wanted[position]], report)
                    step()
            ended = one_by_one(fates, bring_in, failed, AGAIN, step=step, cancelled=cancelled)
    except (KeyboardInterrupt, CancelledError):
        ended = INTERRUPTED
    return fate_frame(fates, COLUMNS, OUTCOMES, ended, AGAIN)


def _set_aside(client: Client, fates: list[Fate]) -> None:
    """Marks what is in its room already: a preflight could cost it its camera's only connection."""
    listed = devices_in(client, [fate.device.room_id for fate in fates])
    there = {(known.room_id, place(known)): known for known in listed}
    for at, fate in enumerate(fates):
        if known := there.get((fate.device.room_id, place(fate.device))):
            fates[at] = _already_there(fate, known)


def _already_there(fate: Fate, known: Device) -> Fate:
    """The fate of a device whose address is in the room already, as `known`."""
    if known.user_id == fate.device.user_id:
        return fate.came(ALREADY_THERE)
    return fate.came(
        ALREADY_THERE,
        f"The room has this camera already, as the user {known.user_id!r}.",
        "Remove that device first if this user ID is wanted.",
    )


def _tried(
    devices: Sequence[Device], threads: int, timeout: float, cancelled: Event | None
) -> Generator[tuple[int, "Report"], None, None]:
    """The position of each device and its preflight, as soon as that is there.

    At most `threads` of them at a time, and one of a host, which may be a recorder that locks out
    who comes too often. Closed early, it ends those under way; and once `cancelled` is set, with
    CancelledError. The reports hold no picture.
    """
    hosts: dict[str, list[int]] = {}
    for position, device in enumerate(devices):
        host = parse_address(device.user_address or "").host.lower()
        hosts.setdefault(host, []).append(position)
    leave = Event()  # the caller's own may serve other calls, and is not set here
    running: dict[Future[Report], list[int]] = {}
    with ThreadPoolExecutor(threads) as pool, ExitStack() as leaving:
        leaving.callback(pool.shutdown, wait=False, cancel_futures=True)
        leaving.callback(leave.set)

        def start(positions: list[int]) -> None:
            device = devices[positions[0]]
            future = pool.submit(preflight_of, device, timeout=timeout, cancelled=leave)
            running[future] = positions

        for positions in sorted(hosts.values(), key=len, reverse=True):  # the longest first
            start(positions)
        while running:
            go_on(cancelled)
            for future in wait(running, _GLANCE, FIRST_COMPLETED).done:
                first, *rest = running.pop(future)
                if rest:
                    start(rest)
                # A thousand pictures would fill the memory.
                yield first, replace(future.result(), snapshot=None)


def _after_preflight(fate: Fate, report: "Report") -> Fate:
    if not report.ok:
        fate = fate.came(PREFLIGHT_FAILED, report.cause, report.advice)
    return fate._replace(verdict=report.verdict, seconds=report.seconds, report=report)


def _import(client: Client, fate: Fate, verify: bool, patience: float) -> Fate:
    try:
        tried = fate.report or False
        import_device(client, fate.device, preflight=tried, verify=verify, patience=patience)
    except UserExists as error:
        known = _exists(client, fate, error)
        if known is None:
            raise
        return known
    return fate._replace(outcome=IMPORTED)


def _exists(client: Client, fate: Fate, error: UserExists) -> Fate | None:
    """The fate of a device that exists already (423); None when its user ID is another's.

    Where nothing can be seen of it, an import whose answer was lost may still be under way."""
    device, unseen = fate.device, "The service lists no such device, so it may be joining just now."
    try:
        people = {user.user_id for user in get_room_users(client, device.room_id)}
        listed = devices_in(client, [device.room_id])  # later: a device that has joined is in both
        known = at_address_of(device, (one for one in listed if one.room_id == device.room_id))
        if known:
            return _already_there(fate, known)
        if device.user_id in people.union(one.user_id for one in listed):
            return None
    except ConfkitError as failed:
        unseen = f"Whether that is this device could not be read: {failed}"
    return fate.came(UNKNOWN, f"{error.said}. {unseen}", f"{LOOK} {AGAIN}")
