"""Charts with one row per room: how full it is, or which `attendee_max` it should have."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import NamedTuple

import pandas as pd

from ..occupancy.samples import require_columns
from ..occupancy.times import duration, format_moment, format_span, time_zone
from ..text import counted
from .figure import AMBER, BLUE, INK, NEUTRAL, ORANGE, SOFT, Chart, shorten, text_width
from .rooms import room_state, values

TOP = 20  # rooms with a row each
_ROW = 26  # pixels
_WIDEST = 1.25  # share at which a bar is cut off

# Colour and opacity of each state, in the order of the states.
_STATES = {
    "full": (ORANGE, 1),
    "nearly full": (AMBER, 1),
    "in use": (BLUE, 1),
    "empty": (NEUTRAL, 0.2),
    "no cap": (NEUTRAL, 0.6),
    "reached the cap": (ORANGE, 1),
    "to raise": (AMBER, 1),
    "to lower": (BLUE, 1),
    "without a cap": (NEUTRAL, 0.8),
    "to keep": (NEUTRAL, 0.6),
    "with too little data": (NEUTRAL, 0.4),
    "never used": (NEUTRAL, 0.2),
    "not read": (NEUTRAL, 0.3),
}


class Row(NamedTuple):
    """A room in a chart."""

    rank: tuple[float, ...]
    room_id: str
    topic: str
    state: str
    text: str  # beside the bar
    share: float | None = None  # of attendee_max: the bar
    mark: float | None = None  # of attendee_max: a mark on the bar
    reason: str = ""

    def title(self) -> str:
        """Return the whole topic, and the ID."""
        return f"{self.topic} ({self.room_id})" if self.topic else self.room_id

    def order(self) -> tuple[tuple[float, ...], str]:
        """Return a key that sorts rows by their rank, and "Room 2" before "Room 10"."""
        return self.rank, re.sub(r"\d+", lambda digits: digits[0].zfill(12), self.title())

    def describe(self) -> str:
        """Return the row as a line of text."""
        return f"{self.title()}: {self.text}{f': {self.reason}' if self.reason else ''}"


def occupancy_chart(frame: pd.DataFrame, *, tz: str | tzinfo | None = None) -> Chart:
    """Return a Figure of rooms against their `attendee_max`, the fullest on top.

    The frame is that of `occupancy_frame(sweep)`, or any with `room_id`, `users` and
    `attendee_max`, optionally `topic`. The 20 fullest rooms have a bar each. A room whose users
    could not be read (missing) is marked as such, never drawn as empty; one without a cap (missing
    or 0) has no bar. The title counts all rooms by state, below it are the service and the time of
    the frame's `attrs`; `tz` defaults to local time. `summary()` is the chart as plain text,
    without the time. ValueError: a column is missing, a room has several rows, or no such time
    zone.
    """
    require_columns(frame, "room_id", "users", "attendee_max")
    if frame["room_id"].duplicated().any():
        raise ValueError(
            "the frame has several rows of a room; pass those of one time, such as "
            "frame[frame['time'] == frame['time'].max()]"
        )
    rows = _occupancy_rows(frame)
    zone, zone_name = time_zone(tz)
    details = [frame.attrs.get("service", "")]
    if moment := frame.attrs.get("time"):
        local = datetime.fromisoformat(moment).astimezone(zone)
        details.append(f"{format_moment(local)} ({zone_name})")
    note = ""
    if unread := [row.topic or row.room_id for row in rows[TOP:] if row.state == "not read"]:
        more = f" and {len(unread) - 8:,} more" if len(unread) > 8 else ""
        note = f"not read: {', '.join(map(shorten, unread[:8]))}{more}"
    return _rows_chart(rows, details, note, "share of attendee_max in use", f"the {TOP} fullest")


def _occupancy_rows(frame: pd.DataFrame) -> list[Row]:
    """Return the rooms by share, then those without a cap, then those not read."""
    rows = []
    columns = ("room_id", "topic"), ("users", "attendee_max")
    for room_id, topic, users, cap in values(frame, *columns):
        state, share, text = room_state(users, cap)
        order = -1.0 if state == "no cap" else -2.0 if share is None else share
        rows.append(Row((-order, -(users or 0)), room_id, topic, state, text, share))
    return sorted(rows, key=Row.order)


def capacity_chart(report: pd.DataFrame) -> Chart:
    """Return a Figure of each room's peak against its `attendee_max`, with the suggested cap.

    The report is that of `capacity_report`: `room_id`, `attendee_max`, `suggested`, optionally
    `topic`, `peak`, `minutes_full` and `reason`. Rooms that reached their cap come first, the
    longest full on top, as their true demand is unknown; then those with the largest step from the
    cap to the suggested one, which has a mark; then the others. The first 20 have a row each. The
    title has the service of the report's `attrs`. `summary()` is the chart as plain text, with the
    reason for each row. ValueError: a column is missing.
    """
    require_columns(report, "room_id", "attendee_max", "suggested")
    rows, attrs = _capacity_rows(report), report.attrs
    details = [attrs.get("service", "")]
    if attrs.get("since"):
        span = format_span(*(datetime.fromisoformat(attrs[edge]) for edge in ("since", "until")))
        details.append(f"{span} ({attrs.get('timezone', '')})")
    note = "suggested: each room's peak, without a margin"
    if risk := attrs.get("risk"):
        note = f"≤ {100 * risk:g} % risk of exceeding such a cap in the next {attrs.get('ahead')}"
    caption = "peak as share of attendee_max; mark: suggested cap"
    return _rows_chart(rows, details, note, caption, f"the first {TOP}")


def _capacity_rows(report: pd.DataFrame) -> list[Row]:
    """Return the rooms: those that reached their cap first, then by the size of the step."""
    rows = []
    columns = ("room_id", "topic", "reason"), ("attendee_max", "suggested", "peak", "minutes_full")
    for room_id, topic, reason, cap, new, peak, full in values(report, *columns):
        step = new - cap if cap and new else 0
        if full or reason.startswith("at "):  # the minutes may be unknown, or 0.0
            state = "reached the cap"
            word = f"full for {duration(full)}" if full else "full at times"
        elif step:
            state = "to raise" if step > 0 else "to lower"
            word = f"{state[3:]} by {abs(step):,.0f}"
        elif new:
            state, word = ("to keep", "keep") if cap else ("without a cap", "set a cap")
        else:
            state = "not read" if peak is None else "with too little data"
            unused = peak == 0 or reason.startswith("never used")  # devices alone are no use
            word = state = "never used" if unused else state
        order = [*_STATES].index("to raise" if state == "to lower" else state)
        text = f"{cap:,.0f}" if cap else "no cap"
        text += f" → {new:,.0f}" if new and new != cap else ""
        share = peak / cap if cap and peak is not None else None
        mark = new / cap if step else None
        rank = order, -(full or abs(step))
        detail = reason.removeprefix(word).removeprefix("; ")
        rows.append(Row(rank, room_id, topic, state, f"{text}, {word}", share, mark, detail))
    return sorted(rows, key=Row.order)


def _rows_chart(
    rows: Sequence[Row], details: Sequence[str], note: str, caption: str, order: str
) -> Chart:
    """Return the chart of these rooms, of which the first have a row each. `note` is a detail that
    is also in the summary; `caption` explains the bars, `order` says which rooms have a row."""
    if not rows:
        return Chart("No rooms", details[:1])
    top, count = rows[:TOP], Counter(row.state for row in rows)
    states = ", ".join(f"{count[state]:,} {state}" for state in _STATES if count[state])
    lines = [*(f"  {row.describe()}" for row in top), note]
    if len(rows) > TOP:
        lines = [f"{order}:", *lines]
        details = [*details, f"{order} are shown"]
    finding = f"{counted(len(rows), 'room')}: {states}"
    chart = Chart(finding, [*details, note], _ROW * len(top) + 38, lines)
    _draw_rows(chart, top, caption)
    return chart


def _draw_rows(chart: Chart, rows: Sequence[Row], caption: str) -> None:
    """Draw a bar for each row between its name and its text, and the scale below."""
    names = _short_names(rows)
    left = 18 + max(map(text_width, names))
    right = chart.width_px - 18 - max(text_width(row.text) for row in rows)
    shares = [share for row in rows for share in (row.share, row.mark) if share is not None]
    scale = (right - left) / min(_WIDEST, max([1.0, *shares]))  # pixels of a share of 1
    for number, (name, row) in enumerate(zip(names, rows, strict=True)):
        y = _ROW * number
        chart.write(left - 10, y + 17, name, ha="right")
        chart.write((right if shares else left) + 10, y + 17, row.text)
        if row.share is not None:
            chart.box(left, y + 5, scale, 16, NEUTRAL, 0.2)
            chart.box(left, y + 5, min(scale * row.share, right - left), 16, *_STATES[row.state])
        if row.mark is not None:
            x = left + min(scale * row.mark, right - left)
            chart.box(x - 1, y + 2, 3, 22, INK)
        chart.hover(0, y, chart.width_px, _ROW, row.describe())
    if shares:
        bottom = _ROW * len(rows)
        for share, word in ((0, "0"), (0.5, "50 %"), (1, "100 %")):
            chart.write(left + scale * share, bottom + 14, word, ha="center", color=SOFT)
        chart.box(left + scale, 0, 1, bottom + 2, INK)
        chart.write(left, bottom + 30, caption, color=SOFT)


def _short_names(rows: Sequence[Row]) -> list[str]:
    """Return the rooms' topics, or else IDs, and where they look alike the ID's end, too."""
    names = [shorten(row.topic or row.room_id) for row in rows]
    count = Counter(names)
    return [
        shorten(row.topic or row.room_id, f" · {row.room_id[-15:]}") if count[name] > 1 else name
        for name, row in zip(names, rows, strict=True)
    ]
