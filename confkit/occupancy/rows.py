"""From a sweep to samples: caps that it does not read are those that were read last."""

import threading
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..endpoints import A3
from ..errors import ApiError, ConfigError, ConfkitError
from ..many.ids import room_ids
from ..many.sweeps import sweep
from .samples import NUMBERS, samples_table

if TYPE_CHECKING:
    from ..client import Client


@dataclass(frozen=True)
class Taken:
    """The samples of a sweep as an Arrow table, how many of them lack a value, whether the sweep
    went to its end, the error where nothing could be asked, and why most of what failed did."""

    table: Any
    failures: int
    complete: bool
    error: ConfkitError | None = None
    why: str = ""


class Rows:
    """Sweeps of these rooms as samples."""

    def __init__(
        self,
        client: "Client",
        given: Any,
        cancelled: threading.Event,
        *,
        id_column: str | None = None,
        **pace: Any,
    ) -> None:
        self._client = client
        self.service = client.name
        self._options: dict[str, Any] = {"cancelled": cancelled, "progress": False, **pace}
        self._ids = room_ids(given, id_column).ids
        if not self._ids:
            raise ConfigError("there is no room to record", "Give the IDs of one or more.")
        self._caps: dict[str, int | None] = {}  # as last read; None is a room without one
        self._unread: dict[str, int | None] = {}  # rooms without a known cap, and the result code
        self._begun = False

    def take(self, time: datetime, *, rooms: bool) -> Taken:
        """The samples of one sweep, which starts at `time`; with `rooms` it reads the caps too.

        The first one raises when nothing can be asked.
        """
        try:
            swept = sweep(self._client, self._ids, rooms=rooms, **self._options)
        except ConfkitError as error:
            if not self._begun:
                raise
            code = error.ret if isinstance(error, ApiError) else None
            known = isinstance(code, int) and abs(code) < 2**63  # others fit into no column
            ret = {"ret": code if known else None}
            frame = pd.DataFrame(ret, index=self._ids, columns=NUMBERS).astype("Int64")
            return self._taken(frame, time, complete=True, error=error)
        self._begun = True
        frame = swept.frame().set_index("room_id")
        if rooms:
            self._learn(frame, {one.room_id for one in swept.failures if one.call == A3.key})
        if not swept.complete:
            frame = frame[frame["users"].notna()]
        return replace(self._taken(frame, time, complete=swept.complete), why=swept.commonest)

    def _learn(self, frame: pd.DataFrame, failed: set[str | None]) -> None:
        for room_id, cap, ret in zip(frame.index, frame["attendee_max"], frame["ret"], strict=True):
            if room_id not in failed:
                self._caps[room_id] = None if pd.isna(cap) else int(cap)
                self._unread.pop(room_id, None)
            elif room_id not in self._caps:
                self._unread[room_id] = None if pd.isna(ret) else int(ret)

    def _taken(
        self,
        frame: pd.DataFrame,
        time: datetime,
        *,
        complete: bool,
        error: ConfkitError | None = None,
    ) -> Taken:
        """With the caps that are known; a sample's `ret` then stands for those alone that are
        not."""
        caps = pd.array([self._caps.get(room_id) for room_id in frame.index], dtype="Int64")
        rets = pd.array([self._unread.get(room_id, 0) for room_id in frame.index], dtype="Int64")
        lacking = frame[["users", "people", "devices"]].isna().any(axis=1)
        frame = frame.assign(
            time=pd.Timestamp(time),
            room_id=frame.index,
            attendee_max=caps,
            ret=frame["ret"].where(lacking, pd.Series(rets, index=frame.index)),
        )
        failures = int((lacking | (frame["ret"] != 0).fillna(True)).sum())
        return Taken(samples_table(frame), failures, complete, error)
