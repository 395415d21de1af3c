"""`Refresh`: reads all rooms periodically while a page shows them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..client import is_positive
from ..errors import ApiError, Cancelled, ConfigError
from ..occupancy.known import known_rooms
from ..sweep import UTILISATION, Sweep, sweep, utilisation
from ..tables import room_ids as read_ids
from ..text import counted
from .job import POLL, message
from .status import Status

if TYPE_CHECKING:
    from ..client import Client

READ_AT = "read_at"
NO_ROOM = (404, 612)  # result codes: the service does not have the room


class Polling:
    """Something that is read every `every` seconds (0: only on demand) while a page shows it.

    `status` is the block that shows its age; `outage` is why it cannot be read, or empty.
    """

    def __init__(self, client: Client, every: float) -> None:
        self.client, self.every = client, check_interval(every)
        self.outage = ""
        self._outage_since = self._read_at = self._tried_at = 0.0
        self._listeners: list[Callable[[], object]] = []
        self._lock = threading.RLock()
        self.status = Status(self._facts)

    def on_change(self, listener: Callable[[], object]) -> None:
        """Call `listener()` now and after each reading."""
        with self._lock:
            self._listeners.append(listener)
            listener()

    def remove_listener(self, listener: Callable[[], object]) -> None:
        """Stop calling this listener."""
        self._listeners = [other for other in self._listeners if other != listener]

    def read(self, progress: Any = False, cancelled: threading.Event | None = None) -> str:
        """Read everything now, and return a message, possibly empty.

        An error is raised and becomes the `outage` until a reading succeeds; older values are kept.
        Once `cancelled` is set, Cancelled is raised, and nothing has changed.
        """
        cancelled = cancelled or threading.Event()
        with self._alone(cancelled):
            try:
                text = self._read(progress, cancelled)
                self.outage, self._outage_since = "", 0.0
                self._read_at = time.monotonic()
            except Cancelled:
                raise
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
        """Stop the readings."""
        self.status.close()

    def clock(self) -> str:
        """Return the service's time in local time."""
        return time.strftime("%H:%M:%S", time.localtime(self.client.now()))

    def _read(self, progress: Any, cancelled: threading.Event) -> str:
        raise NotImplementedError

    @contextmanager
    def _alone(self, cancelled: threading.Event) -> Iterator[None]:
        """Wait until no other reading is running, which may hang; Cancelled."""
        while not self._lock.acquire(timeout=POLL):
            if cancelled.is_set():
                raise Cancelled("Cancelled")
        try:
            yield
        finally:
            self._lock.release()

    def _fail(self, error: Exception) -> None:
        self.outage = message(error)
        self._outage_since = self._outage_since or time.monotonic()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener()
        self.status.beat()

    def _facts(self) -> dict[str, Any]:
        """Return the facts of a heartbeat, and start a reading if one is due."""
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
            "utc_offset": time.localtime(self.client.now()).tm_gmtoff,
        }

    def _read_again(self) -> None:
        if not self._lock.acquire(blocking=False):
            return  # another reading is running
        try:
            self.read()
        except Exception as error:  # noqa: BLE001  # it would be lost in this thread
            if not self.outage:
                self._fail(error)
        finally:
            self._lock.release()


class Refresh(Polling):
    """Reads all rooms every `every` seconds while a page shows them; panels may share one.

    `room_ids` is anything that `sweep` takes; None means `known_rooms(client)`. `frame` has a row
    per room, indexed by its ID: the columns of `Sweep.frame()`, `utilisation`, and `read_at` (UTC).
    A room that could not be read keeps its older values, with the `error`; a room that does not
    exist has none. `sweep` is the last complete reading. While no room can be read, `outage` says
    why.
    """

    def __init__(self, client: Client, room_ids: Any = None, every: float = 15) -> None:
        check_interval(every)  # before anything is sent
        ids = read_ids(known_rooms(client) if room_ids is None else room_ids)
        super().__init__(client, every)
        self.room_ids = ids
        self.sweep: Sweep
        self.frame = pd.DataFrame()
        self.read(progress=None)

    def add(
        self, room_ids: Any, progress: Any = False, cancelled: threading.Event | None = None
    ) -> list[str]:
        """Read these rooms and add them; return those that are new. Cancelled: none was added."""
        ids, cancelled = read_ids(room_ids), cancelled or threading.Event()
        with self._alone(cancelled):
            known = set(self.room_ids)
            new = [room_id for room_id in ids if room_id not in known]
            self._read_rooms(new, progress, cancelled)
        return new

    def drop(self, room_id: str) -> None:
        """Remove this room from the list."""
        with self._lock:
            self.room_ids = [other for other in self.room_ids if other != room_id]
            self.frame = self.frame.drop(room_id, errors="ignore")
            self._notify()

    def read_room(self, room_id: str) -> None:
        """Read one room again, such as after changing it."""
        with self._lock:
            if room_id in self.room_ids:
                self._read_rooms([room_id], False, threading.Event())

    def _read_rooms(self, room_ids: list[str], progress: Any, cancelled: threading.Event) -> None:
        if room_ids:
            frame = self._frame_of(self._sweep(room_ids, progress, cancelled))
            others = self.frame.drop(room_ids, errors="ignore")
            self.room_ids = list(dict.fromkeys([*self.room_ids, *room_ids]))
            self.frame = pd.concat([others, frame]).loc[self.room_ids]
        self._notify()

    def _sweep(self, room_ids: list[str], progress: Any, cancelled: threading.Event) -> Sweep:
        result = sweep(self.client, room_ids, progress=progress, cancelled=cancelled)
        if cancelled.is_set():
            raise Cancelled("Cancelled")
        return result

    def _read(self, progress: Any, cancelled: threading.Event) -> str:
        result = self._sweep(self.room_ids, progress, cancelled)
        errors = [failure.error for failure in result.failures]
        answered = result.rooms or any(isinstance(error, ApiError) for error in errors)
        if errors and not answered:
            raise errors[0]
        self.frame, self.sweep = self._frame_of(result), result
        if not result.complete:
            raise errors[-1]
        missing = len(result.ids) - len(result.users)
        texts = [f"{counted(missing, 'room')} could not be read."] if missing else []
        # Without the devices it is unknown which users are people.
        texts += [message(failure.error) for failure in result.failures if failure.room_id is None]
        return " ".join(texts)

    def _frame_of(self, result: Sweep) -> pd.DataFrame:
        """Return the frame of a sweep, in which failed rooms keep their older values."""
        frame = result.frame()
        frame.insert(6, UTILISATION, utilisation(frame))
        frame[READ_AT] = pd.Timestamp(datetime.fromtimestamp(self.client.now(), UTC))
        frame = frame.set_index("room_id", drop=False).rename_axis(None)
        failed = frame["users"].isna() & ~frame["ret"].isin(NO_ROOM).fillna(False)
        frame.loc[failed & frame["topic"].isna(), READ_AT] = pd.NaT
        if self.frame.empty:
            return frame
        known = self.frame.index[self.frame["users"].notna()]
        stale = frame.index[failed].intersection(known)
        older = self.frame.loc[stale].assign(error=frame.loc[stale, "error"])
        return pd.concat([frame.drop(stale), older]).loc[frame.index]


def check_interval(every: float) -> float:
    """Return the seconds between two readings; ConfigError if invalid."""
    if every != 0 and not is_positive(every):
        raise ConfigError(f"every is {every!r}", "Pass seconds above 0, or 0 for never.")
    return float(every)
