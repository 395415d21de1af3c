"""What panels of rooms have in common: one model, readings by hand and by themselves, and how they
say when rooms were read, and when nobody answers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Any

from ..charts.rooms import row_now
from ..charts.texts import clean, lasting, listed, moment
from ..errors import ConfigError, ProtocolError, TransportError
from ..occupancy.zones import zone
from ..sweep import NOT_ASKED, Sweep, commonest
from ..text import counted
from ..transport import is_positive
from . import arranging
from .given import zone_of
from .model import READ_AT, STATE, UNREAD, Outage, RoomsModel, Viewer, not_asked
from .panel import Panel, Work, told, until_cancelled
from .parts import Bar, Mark, Table
from .parts.table import Cell, Row

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

OFTEN = {"off": 0.0, "every 5 s": 5.0, "every 15 s": 15.0, "every 60 s": 60.0}
SHORTEST, DAY = 0.5, 86_400.0  # seconds from one reading of the page to the next


def check_every(seconds: float) -> float:
    """Return these seconds; ConfigError unless they are 0, or from 0.5 to a day."""
    if seconds != 0 and not (is_positive(seconds) and SHORTEST <= seconds <= DAY):
        raise ConfigError(
            f"every is {seconds!r}",
            f"Give seconds from {SHORTEST} to a day ({DAY:g}), or 0 for never.",
        )
    return float(seconds)


# Rooms and times in words


def age(time: datetime, now: datetime) -> str:
    """Return how long ago this was, such as "12 s" or "2 h 5 min"."""
    seconds = max(0.0, (now - time).total_seconds())
    return f"{seconds:.0f} s" if seconds < 60 else lasting(seconds / 60)


def clock(time: datetime, tz: tzinfo, today: datetime) -> str:
    """Return the time of day in this zone, with the day where that is not today's."""
    local, other = time.astimezone(tz), today.astimezone(tz)
    return f"{local:%H:%M:%S}" if local.date() == other.date() else moment(local)


def shown_of(found: int, frame: pd.DataFrame, now: datetime | None, tz: tzinfo) -> str:
    """Return how many rooms are shown of how many, how many were not read, when the others were,
    in the zone `tz`, which is named, how old the oldest is by `now` (unless that is None), and how
    many users were in all of them."""
    of, unasked = counted(len(frame), "room"), int(not_asked(frame).sum())
    failed = int(frame["error"].notna().sum()) - unasked
    parts = [of if found == len(frame) else f"{found:,} of {of}"]
    parts += [f"{failed:,} not read in full"] * bool(failed)
    parts += [f"{unasked:,} not asked"] * bool(unasked)
    read = frame[READ_AT].dropna()
    if len(read):
        times = dict.fromkeys(clock(time, tz, read.max()) for time in (read.min(), read.max()))
        old = f", the oldest {age(read.min(), now)} ago" if now else ""
        parts.append(f"read at {' to '.join(times)} ({zone(tz)[1]}){old}")
    users = frame["users"].dropna()
    parts += [counted(int(users.sum()), "user")] * bool(len(users))
    return " · ".join(parts)


def outcome(swept: Sweep, frame: pd.DataFrame) -> str:
    """Return what is to be said of a reading besides its rows, which are those of `frame`; an empty
    text when all of these were read."""
    if not swept.complete:
        unasked = int(not_asked(frame).sum())
        return (
            f"Ended early: {len(frame) - unasked:,} of {len(frame):,} rooms were read; "
            f"{unasked:,} were not asked, and stand as they were before."
        )
    # A room counts once, whatever of its calls failed; the external devices are all rooms'.
    there = {None, *frame["room_id"]}
    lost = {one.room_id: one for one in reversed(swept.failures) if one.room_id in there}
    if not lost:
        return ""
    why, rooms = commonest([*lost.values()]), len({*lost} - {None})
    advice = next(one.advice for one in lost.values() if one.error.summary in why)
    what = f"{rooms:,} of {counted(len(frame), 'room')}" if rooms else "The external devices"
    return (
        f"{what} could not be read, {why}. {advice} What was read of them before stays, with its "
        "time; the rest is missing, not zero."
    )


def outage_told(
    outage: Outage,
    frame: pd.DataFrame,
    service: str,
    seconds: float | None,
    now: datetime,
    tz: tzinfo,
) -> str:
    """Return an outage in words: since when, how many rooms show old values and how old these are,
    why, and in how many seconds it is tried next (None: not by itself). Times are in `tz`."""
    if outage.lasts:
        return f"{outage.error} This panel reads and changes nothing more: make a new one then."
    silent = isinstance(outage.error, TransportError | ProtocolError)
    known, rooms = frame[READ_AT].dropna(), "no room has been read yet"
    if len(known):
        keep = "1 room keeps its" if len(known) == 1 else f"{len(known):,} rooms keep their"
        rooms = f"{keep} last known values, up to {age(known.min(), now)} old"
    again = "Refresh tries again"
    if seconds is not None:
        again = f"next try at {clock(now + timedelta(seconds=seconds), tz, now)}"
    return (
        f"{'No answer' if silent else 'Nothing has been read'} from {service} since "
        f"{clock(outage.since, tz, now)} ({zone(tz)[1]}): {rooms}; {again}. {outage.error}"
    )


def missing_cell(row: Row) -> Mark | None:
    """Return why there is no value: the room was not read, or not asked for."""
    if row["error"] is None:
        return None
    asked = row["error"] != NOT_ASKED
    return Mark("not read", "bad") if asked else Mark("not asked", "quiet")


# The panel


class RoomsPanel(Panel):
    """A panel of rooms, which it shares with others that are given the same `model`."""

    table: Table

    def __init__(
        self, title: str, client: Client, rooms: Any, rate: float, tz: str | tzinfo | None
    ) -> None:
        self._tz = zone_of(tz)
        given = isinstance(rooms, RoomsModel)
        self.model = rooms if given else RoomsModel(client, rooms, background_rate=rate)
        if self.model.client is not client:
            raise ConfigError(
                "The rooms are read by another client", "Give that one, or rooms of this one."
            )
        super().__init__(title, client)
        self.client = client
        self._viewer = Viewer(
            page=self._page,
            changed=self._changed,
            picked=self._picked,
            left=self._say_left,
            also=self._show_picked,
            fails=lambda error: self.fails(error, "reading"),
        )
        self._outage: Outage | None = None  # the last one that was said
        self._asides: list[threading.Thread] = []
        self.often = arranging.choice("Automatic refresh", list(OFTEN.items()), "short")
        self.often.observe(lambda change: self._follow_every(change["new"]), "value")

    def _begins(self) -> None:
        """Show the model's rooms from now on, which are read first where they were not yet."""
        self.model.watch(self._viewer)
        if self.model.found:
            self._shows_rows()
        if not self.model.begun:
            self.first(self._begin)
        if self.model.picked:  # in another panel, before this one was made
            self._picked(self.model.picked)

    def _begin(self) -> None:
        with self.model.beginning:  # another panel may be reading them
            if not self.model.begun:
                self.refresh()

    def close(self) -> None:
        """Close the panel and end what goes on in it by itself."""
        if hasattr(self, "_viewer"):  # it was made so far
            self.model.leave(self._viewer)
        super().close()

    def wait(self, timeout: float | None = None) -> bool:
        """Return whether nothing is under way, after at most `timeout` seconds for each."""
        for thread in self._asides:
            thread.join(timeout)
        over = super().wait(timeout) and self.model.wait(timeout)
        return over and not any(map(threading.Thread.is_alive, self._asides))

    # What each panel has of its own

    def _draw(self) -> pd.DataFrame:
        """Show the model's rows, with their ages, and return the panel's value."""
        raise NotImplementedError

    def _turn_to(self, room_id: str) -> None:
        """Make room for this room, and for none with ""."""
        raise NotImplementedError

    def _show_picked(self) -> None:
        """Read what there is of the picked room besides its row, and show it."""
        raise NotImplementedError

    # One room

    @told("pick")
    def select(self, room_id: str | None) -> None:
        """Pick a room of the panel and show it in full, what fails in its place; None shows none.
        ConfigError: the room is not among those of the panel."""
        room_id = self._of_panel(room_id) if room_id else ""
        self.table.reveal(room_id)
        self.model.pick(room_id, self._viewer)
        self._turn_to(room_id)
        self._show_picked()

    def _choose(self, room_id: str) -> None:
        self.model.pick(room_id, self._viewer)
        self._picked(room_id)

    def _picked(self, room_id: str) -> None:
        self._turn_to(room_id)
        if room_id:
            self._beside(self._show_picked)

    def _of_panel(self, room_id: str | None) -> str:
        """Return the room's ID, or that of the picked one; ConfigError where there is none."""
        self.wait_for_first()
        room_id = self.model.picked if room_id is None else str(room_id)
        if not room_id:
            raise ConfigError("No room is picked", "Give its ID, or click on one first.")
        if not (self.model.frame["room_id"] == room_id).any():
            raise ConfigError(
                f"Room {room_id!r} is not among those of the panel",
                "Its rooms are in `value`; RoomExplorer.add() adds more.",
            )
        return room_id

    # Reading

    def refresh(self) -> pd.DataFrame:
        """Read all rooms, and return the `value`; those that a Cancel left out are as before.
        Where no rooms were given, those that are known are looked for first."""
        with self.reads("Finding rooms") as work:
            if self.model.looks_for_rooms:
                self.model.adopt(until_cancelled(self.model.known, work.cancelled))
            self._read(work, self.model.ids)
            self._show_picked()
            frame: pd.DataFrame = self.value
        return frame

    def refresh_every(self, seconds: float) -> None:
        """Read the page every so many seconds while somebody sees the panel, and all other
        rooms in between; 0 ends that. ConfigError: it is no number of seconds from 0.5 to a day."""
        seconds = check_every(seconds)
        if seconds not in OFTEN.values():
            self.often.options = [*OFTEN.items(), (f"every {seconds:g} s", seconds)]
        self.often.value = seconds

    @told("reading")
    def _read_page(self) -> None:
        self._say(*self.model.read(self._page()))
        self._show_picked()

    def _page(self) -> list[str]:
        return list(dict.fromkeys([*self.table.visible, *filter(None, [self.model.picked])]))

    def _read(self, work: Work, ids: list[str]) -> None:
        self.frame.busy = "Reading rooms"
        self._say(*self.model.read(ids, work.progress, work.cancelled))

    def _say(self, swept: Sweep, frame: pd.DataFrame) -> None:
        self._tell_outage()
        if self.model.outage is None and (said := outcome(swept, frame)):
            self.tell(said, "bad" if swept.failures else "", "reading")

    def reads(self, what: str) -> AbstractContextManager[Work]:
        """Return work in which rooms are read."""
        return self.working(what, "reading")

    def fails(self, error: BaseException, kind: str = "work") -> None:
        """Say in the panel what went wrong; where nobody answers that is the outage, said once."""
        if self.model.outage is not None and self.model.outage.error is error:
            self._tell_outage()
        else:
            super().fails(error, kind)

    def _follow_every(self, seconds: float) -> None:
        self._viewer.every = seconds
        self.every(seconds, partial(self.model.tick, self._viewer))
        if not seconds:
            self.model.hide(self._viewer)
        self._tell_outage()

    def _hidden(self) -> None:
        self.model.hide(self._viewer)

    def _beside(self, action: Callable[[], object]) -> None:
        """Do it at once in a thread, whatever else is under way."""

        def run() -> None:
            try:
                action()
            except Exception as error:  # noqa: BLE001  # nobody would see it raised
                self.fails(error, "pick")

        thread = threading.Thread(target=run, name="confkit panel beside", daemon=True)
        self._asides = [*filter(threading.Thread.is_alive, self._asides), thread]
        thread.start()

    # What the model says

    def _say_left(self, ids: list[str]) -> None:
        rooms = f"room{'s' * (len(ids) > 1)} {listed(ids, 8)}"
        self.tell(f"The service does not have {rooms} any more: left out.", kind="left")

    @property
    def _client_time(self) -> datetime:
        return datetime.fromtimestamp(self.client.now(), UTC)

    def _changed(self, _: pd.DataFrame | None) -> None:
        self._shows_rows()
        before, now = self._outage, self.model.outage
        self._outage = now
        # One that was dismissed comes back when somebody asks.
        if now is not None and now is not before:
            if before is None or any(one["kind"] == "service" for one in self.frame.messages):
                self._tell_outage()
        elif now is None and before is not None:
            time = self._client_time
            since = f"{clock(time, self._tz, time)} ({zone(self._tz)[1]})"
            self.frame.tell(
                f"{self.client.name} has been answering again since {since}, after "
                f"{age(before.since, time)}. Rows that have not been read since say how old they "
                "are.",
                "good",
                "service",
            )

    def _tell_outage(self) -> None:
        if self.model.outage is not None:
            seconds = self.model.seconds_left() if self.frame.every else None
            text = outage_told(
                self.model.outage,
                self.model.frame,
                self.client.name,
                seconds,
                self._client_time,
                self._tz,
            )
            self.frame.tell(text, "bad", "service")

    def _shows_rows(self) -> None:
        """Show the rows as they are now; before rooms are found a value would say that there are
        none."""
        self.draws(lambda: self._draw() if self.model.found else None)

    def _shows(self, found: pd.DataFrame) -> None:
        """Show these of the model's rows."""
        frame = self.model.frame
        now = self._client_time if self.frame.every else None
        self.table.show(found, shown_of(len(found), frame, now, self._tz))
        self.table.chosen = self.model.picked

    def _users_cell(self, row: Row) -> Cell:
        """A room's users against its cap, in the states of the occupancy chart, and how old these
        are where the last try has not read them."""
        if row["users"] is None:
            mark = missing_cell(row)
            return mark and Bar(mark.text, None, "unread")
        cap, capped = row["attendee_max"] or None, row[STATE] != "unread"
        now = row_now("", row["room_id"], row["users"], cap, capped)
        parts = [now.numbers, "" if now.state == "in use" else now.word]
        if row[UNREAD] and row[READ_AT] is not None:
            time = row[READ_AT]
            old, at = age(time, self._client_time), clock(time, self._tz, self._client_time)
            parts += [f"{old} old" if self.frame.every else f"as of {at}"]
        share = row["users"] / cap if cap else None
        return Bar(", ".join(filter(None, parts)), share, now.state)


def name_of(row: Row) -> str:
    """Return what a room is called in a row."""
    return clean(row["topic"] or row["room_id"])
