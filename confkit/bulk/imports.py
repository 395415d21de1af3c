"""Many devices from one table: checked, tried from here, then imported in their order."""

import os
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import closing
from dataclasses import replace
from threading import Event
from typing import TYPE_CHECKING, TextIO

from ..client import Client
from ..devices import devices_in
from ..diagnosis.device_address import place, place_warnings
from ..endpoints import B1
from ..many.progress import Show, progress_shown
from ..rtsp.places import is_place_notice
from ..secret import Secret
from .attempts import (
    AGAIN,
    ALREADY_THERE,
    FAILED,
    IMPORTED,
    INTERRUPTED,
    LOOK,
    NO_SERVICE,
    NOT_SEEN,
    NOT_TRIED,
    PREFLIGHT_FAILED,
    READY,
    REFUSED,
    ROLLBACK_FAILED,
    ROLLED_BACK,
    UNKNOWN,
    Fate,
    already_there,
    attempted,
    fate_frame,
    undone,
)
from .device_table import device_rows, is_rtsp, table_error

if TYPE_CHECKING:
    import pandas as pd

    from ..rtsp.report import Report

OUTCOMES = (
    IMPORTED, ALREADY_THERE, PREFLIGHT_FAILED, REFUSED, NOT_SEEN, UNKNOWN, NOT_TRIED,
    ROLLED_BACK, ROLLBACK_FAILED, READY,
)  # fmt: skip
COLUMNS = (
    "row", "outcome", "verdict", "room_id", "user_id", "cause", "advice", "user_name",
    "user_address", "seconds",
)  # fmt: skip


def import_devices(
    client: Client,
    table: "pd.DataFrame | str | os.PathLike[str] | TextIO",
    *,
    dry_run: bool = False,
    login_password: str | None = None,
    preflight: bool = True,
    verify: bool = False,
    patience: float = 5.0,
    rollback: bool = False,
    threads: int = 16,
    timeout: float = 20.0,
    progress: bool | Show | None = None,
    encoding: str | None = None,
    cancelled: Event | None = None,
) -> "pd.DataFrame":
    """One row a device of a table, in its order, with what became of it.

    `table` is a DataFrame, or a CSV file (commas, semicolons or tabs; UTF-8 unless `encoding` names
    another), as its path or open for reading, with the columns room_id, user_id, user_name,
    user_address and, where wanted, login_name, login_password, user_data and options (JSON). All of
    it is checked first: with one mistake TableError tells of each, and nothing is sent.
    `login_password` is that of rows with a login_name and no password of their own, so that a file
    need hold none.

    A device whose address is in its room already is left alone. With `preflight` the cameras are
    tried from here, `threads` at a time and one of a host, for `timeout` seconds each; what does
    not play is not imported. Then the service is asked for each device, once, in order, up to the
    end or until it cannot be reached. With `verify` each is looked for in B3 and A6 afterwards, for
    up to `patience` seconds. With `rollback` the first failure ends the call, and what it imported
    is removed again. With `dry_run` all of it is done but the imports: nothing changes, so that a
    client which is read_only may ask too, and what would be asked for is "ready".

    Ctrl-C ends the preflights under way, gives what is done so far, and removes nothing; so does
    `cancelled`, once it is set, after the answer to the device that is just asked for. `progress`
    is a function of the steps done and their number, or True or False.

    Columns: `row` (the line of the file; in a DataFrame the position, from 1), `outcome`, a
    category: "imported", "already there", "preflight failed", "refused" (by the service), "not
    seen" (`verify`), "unknown" (the answer was lost, or leaves it open), "not tried", "rolled
    back", "rollback failed", "ready" (`dry_run`); `verdict` of the preflight or "skipped",
    `room_id`, `user_id`, `cause`, `advice`, `user_name`, `user_address` (masked), `seconds`.
    """
    if not dry_run:
        client.may_send(B1)
    if threads < 1 or not timeout > 0:
        raise ValueError("threads is at least 1, and timeout a number of seconds above 0.")
    login_password = Secret(login_password) if login_password is not None else None
    rows, problems = device_rows(table, encoding, login_password)
    del table  # a traceback would show its passwords
    if problems:
        raise table_error(problems)
    fates = [_remarked(Fate(*row)) for row in rows]
    try:
        _set_aside(client, fates)
        wanted = [at for at, fate in enumerate(fates) if preflight and _can_be_tried(fate)]
        with progress_shown(progress, len(wanted) + len(fates), "importing") as step:
            _try_from_here(fates, wanted, threads, timeout, cancelled, step)
            if dry_run:
                return _frame([_ready(fate) for fate in fates], "")
            seen = patience if verify else None
            ended = _import(client, fates, seen, rollback, cancelled, step)
        if ended and rollback:
            _undo(client, fates, ended, cancelled)
    except (KeyboardInterrupt, CancelledError):
        ended = INTERRUPTED
    return _frame(fates, ended)


def _remarked(fate: Fate) -> Fate:
    """With the warning about an address that few services reach; what is worse replaces it."""
    told = [notice.text for notice in place_warnings(fate.device.user_address)]
    return fate._replace(cause=" ".join(told)) if told else fate


def _set_aside(client: Client, fates: list[Fate]) -> None:
    """Marks what is in its room already: a preflight could cost it its camera's only connection."""
    listed = devices_in(client, [fate.device.room_id for fate in fates])
    there = {(known.room_id, place(known)): known for known in listed}
    for at, fate in enumerate(fates):
        known = there.get((fate.device.room_id, place(fate.device)))
        if known:
            fates[at] = already_there(fate, known)


def _can_be_tried(fate: Fate) -> bool:
    return fate.outcome == NOT_TRIED and is_rtsp(fate.device.user_address or "")


def _try_from_here(
    fates: list[Fate],
    wanted: list[int],
    threads: int,
    timeout: float,
    cancelled: Event | None,
    step: Callable[[], object],
) -> None:
    if not wanted:
        return
    from .trials import tried  # loads only when a camera is tried

    devices = [fates[at].device for at in wanted]
    trials = tried(devices, threads=threads, timeout=timeout, cancelled=cancelled)
    with closing(trials) as reports:
        for position, report in reports:
            at = wanted[position]
            fates[at] = _after_preflight(fates[at], report)
            step()


def _after_preflight(fate: Fate, report: "Report") -> Fate:
    report = replace(report, snapshot=None)  # a thousand pictures would fill the memory
    fate = fate._replace(verdict=report.verdict, seconds=report.seconds, report=report)
    if report.verdict != "ok":
        fate = fate._replace(cause=report.cause, advice=report.advice)
    told = [notice.text for notice in report.warnings if is_place_notice(notice)]
    if told and fate.cause not in told:
        fate = fate._replace(cause=" ".join(filter(None, [fate.cause, *told])))
    return fate if report.ok else fate._replace(outcome=PREFLIGHT_FAILED)


def _ready(fate: Fate) -> Fate:
    return fate._replace(outcome=READY) if fate.outcome == NOT_TRIED else fate


def _import(
    client: Client,
    fates: list[Fate],
    patience: float | None,
    rollback: bool,
    cancelled: Event | None,
    step: Callable[[], object],
) -> str:
    """Why the devices were not all asked for; empty when they were."""
    ended = _failure(fates) if rollback else ""
    for at, fate in enumerate(fates):
        if ended:
            break
        _go_on(cancelled)
        if fate.outcome == NOT_TRIED:
            fates[at] = fate._replace(outcome=UNKNOWN, cause=INTERRUPTED, advice=LOOK)
            try:
                fates[at] = attempted(client, fate, patience)
                ended = fates[at].gone
            except NO_SERVICE as error:
                fates[at], ended = fate, str(error)
            if rollback:
                ended = ended or _failure([fates[at]])
        step()
    return ended


def _go_on(cancelled: Event | None) -> None:
    """Raise CancelledError if the call is to end."""
    if cancelled is not None and cancelled.is_set():
        raise CancelledError


def _failure(fates: list[Fate]) -> str:
    rows = [fate.row for fate in fates if fate.outcome in FAILED]
    return f"Row {rows[0]} failed, and rollback=True imports all or none." if rows else ""


def _undo(client: Client, fates: list[Fate], why: str, cancelled: Event | None) -> None:
    for at, fate in reversed(list(enumerate(fates))):
        _go_on(cancelled)
        if fate.outcome in (IMPORTED, NOT_SEEN, UNKNOWN) and not fate.existed:
            fates[at] = fate._replace(outcome=ROLLBACK_FAILED, cause=INTERRUPTED, advice=LOOK)
            fates[at] = undone(client, fate, why)


def _frame(fates: list[Fate], ended: str) -> "pd.DataFrame":
    told = [
        fate._replace(cause=ended, advice=AGAIN) if fate.outcome == NOT_TRIED else fate
        for fate in fates
    ]
    return fate_frame(told, COLUMNS, OUTCOMES)
