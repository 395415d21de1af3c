"""The capacity report as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Column

if TYPE_CHECKING:
    import pandas as pd

    from .readings import Reading


def report_columns() -> list[Column]:
    """The columns of the table that `report_rows` fills."""
    return [
        Column("room", "Room"),
        Column("attendee_max", "Cap now", right=True),
        Column("peak", "Peak", right=True),
        Column("p95", "95 %", right=True, wide=True),
        Column("suggested", "Suggested", right=True),
        Column("reason", "Why"),
    ]


def report_rows(report: pd.DataFrame, reading: Reading | None) -> pd.DataFrame:
    """The report with the topics of the rooms that were read; first what would change."""
    room = report["room_id"]
    if reading is not None:
        room = room.map(reading.frame.set_index("room_id")["topic"]).fillna(room)
    change = (report["suggested"] - report["attendee_max"]).fillna(0).abs()
    order = change.sort_values(ascending=True, kind="stable").index
    return report.assign(room=room).loc[order]
