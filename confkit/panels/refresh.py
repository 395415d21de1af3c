"""`Refresh`: all rooms read every so many seconds while somebody looks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import ApiError, ConfigError
from ..occupancy.known import known_rooms
from ..sweep import UTILISATION, Sweep, sweep, utilisation
from ..tables import room_ids as read_ids
from ..text import counted
from ..transport import is_positive
from .job import message
from .status import Status

if TYPE_CHECKING:
    from ..client import Client

READ_AT = "read_at"
NO_ROOM = (404, 612)  # result codes: the service does not have the room


class Polling:
    """Something that is read every `every` seconds (0: never by itself) while a page shows it.

    `status` is the block that says how old it is; `outage` is why it cannot be read, else empty.
    """

    def __init__(self, client: Client, every: float) -> None:
        self.client, self.every = client, checked_interval(every)
        self.outage = ""
        self._outage_since = self._read_at = self._tried_at = 0.0
        self._listeners: list[Callable[[], object]] = []
        self._lock = threading.RLock()
        self.status = Status(self._facts)

    def on_change(self, listener: Callable[[], object]) -> None:
        """Call `listener()` now, and whenever something has been read."""
        with self._lock:
            self._listeners.append(listener)
            listener()

    def remove_listener(self, listener: Callable[[], object]) -> None:
        """Call this listener no longer."""
        self._listeners = [other for other in self._listeners if other != listener]

    def read(self, progress: Any = False, cancelled: threading.Event | None = None) -> str:
        """Read everything now, and return what there is to say about it.

        An error is raised, and is the `outage` until a reading succeeds; older values are kept.
        """
        with self._lock:
            try:
                text = self._read(progress, cancelled or threading.Event())
                self.outage, self._outage_since = "", 0.0
                self._read_at = time.monotonic()
            except Exception as error:
                self._fail(error)
                if not self._read_at:
                    self.close()
                raise
            finally:
                self._tried_at = time.monotonic()
                self._notify()
        return text

    def close(self) -> None:
        """End the readings."""
        self.status.close()

    def _read(self, progress: Any, cancelled: threading.Event) -> str:
        raise NotImplementedError

    def _fail(self, error: Exception) -> None:
        self.outage = message(error)
        self._outage_since = self._outage_since or time.monotonic()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()
        self.status.beat()

    def _facts(self) -> dict[str, Any]:
        """Return what a beat says, and begin a reading that is due."""
        now = time.monotonic()
        is_due = self._read_at and self.every and now - self._tried_at >= self.every
        if is_due and self.status.watched:
            self._tried_at = now
            threading.Thread(target=self._read_again, name="confkit refresh", daemon=True).start()
        return {
            "age": now - self._read_at,
            "every": self.every,
            "outage": self.outage,
            "outage_age": now - self._outage_since,
            "now": self.client.now(),
        }

    def _read_again(self) -> None:
        if not self._lock.acquire(blocking=False):
            return  # a reading is under way
        try:
            self.read()
        except Exception as error:  # noqa: BLE001  # a thread that dies says nothing
            if not self.outage:
                self._fail(error)
        finally:
            self._lock.release()


class Refresh(Polling):
    """All rooms, read every `every` seconds while somebody looks; panels may share one.

    `room_ids` is anything that `sweep` takes; None stands for `known_rooms(client)`. `frame` has a
    row for each room, indexed by its ID: the columns of `Sweep.frame()`, `utilisation`, and
    `read_at` (UTC). A room that could not be read keeps its older values, with the `error` that
    stood in the way; one that the service does not have has none. `sweep` is the last whole
    reading. While no room can be read, `outage` says why.
    """

    def __init__(self, client: Client, room_ids: Any = None, every: float = 15) -> None:
        checked_interval(every)  # before anything is sent
        table = read_ids(known_rooms(client) if room_ids is None else room_ids)
        super().__init__(client, every)
        self.room_ids = table.ids
        self.sweep: Sweep
        self.frame = pd.DataFrame()
        self.read(progress=None)

    def add(self, room_ids: Any) -> None:
        """Show these rooms too, once they have been read."""
        ids = read_ids(room_ids).ids
        with self._lock:
            known = set(self.room_ids)
            self._read_rooms([room_id for room_id in ids if room_id not in known])

    def drop(self, room_id: str) -> None:
        """Show this room no longer."""
        with self._lock:
            self.room_ids = [other for other in self.room_ids if other != room_id]
            self.frame = self.frame.drop(room_id, errors="ignore")
            self._notify()

    def read_room(self, room_id: str) -> None:
        """Read one room again, such as after a change of it."""
        with self._lock:
            if room_id in self.room_ids:
                self._read_rooms([room_id])

    def _read_rooms(self, room_ids: list[str]) -> None:
        if room_ids:
            frame = self._frame_of(sweep(self.client, room_ids, progress=False))
            others = self.frame.drop(room_ids, errors="ignore")
            self.room_ids = list(dict.fromkeys([*self.room_ids, *room_ids]))
            self.frame = pd.concat([others, frame]).loc[self.room_ids]
        self._notify()

    def _read(self, progress: Any, cancelled: threading.Event) -> str:
        result = sweep(self.client, self.room_ids, progress=progress, cancelled=cancelled)
        errors = [failure.error for failure in result.failures]
        answered = result.rooms or any(isinstance(error, ApiError) for error in errors)
        if errors and not answered and not cancelled.is_set():
            raise errors[0]
        self.frame, self.sweep = self._frame_of(result), result
        missing = len(result.ids) - len(result.users)
        unread = counted(missing, "room")
        if cancelled.is_set():
            return f"Cancelled; {unread} not read."
        if not result.complete:
            raise errors[-1]
        texts = [f"{unread} could not be read."] if missing else []
        # Without the devices nobody knows which users are people.
        texts += [message(failure.error) for failure in result.failures if failure.room_id is None]
        return " ".join(texts)

    def _frame_of(self, result: Sweep) -> pd.DataFrame:
        """Return the frame of a sweep, in which rooms that failed keep what was known of them."""
        frame = result.frame()
        frame.insert(6, UTILISATION, utilisation(frame))
        frame[READ_AT] = pd.Timestamp(datetime.fromtimestamp(self.client.now(), UTC))
        frame = frame.set_index("room_id", drop=False).rename_axis(None)
        failed = frame["users"].isna() & ~frame["ret"].isin(NO_ROOM).fillna(False)
        frame.loc[failed & frame["topic"].isna(), READ_AT] = pd.NaT
        if self.frame.empty:
            return frame
        known = self.frame.index[self.frame["users"].notna()]
        kept = frame.index[failed].intersection(known)
        older = self.frame.loc[kept].assign(error=frame.loc[kept, "error"])
        return pd.concat([frame.drop(kept), older]).loc[frame.index]


def checked_interval(every: float) -> float:
    """Return the seconds between two readings; ConfigError: they are none."""
    if every and not is_positive(every):
        raise ConfigError(f"every is {every!r}", "Give seconds above 0, or 0 for never.")
    return float(every)
