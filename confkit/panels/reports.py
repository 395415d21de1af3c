"""The capacity report as rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Column

if TYPE_CHECKING:
    import pandas as pd


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


def report_rows(report: pd.DataFrame, frame: pd.DataFrame | None) -> pd.DataFrame:
    """The report with the topics of the rooms in an occupancy frame; first what would change."""
    room = report["room_id"]
    if frame is not None:
        room = room.map(frame.set_index("room_id")["topic"]).fillna(room)
    change = (report["suggested"] - report["attendee_max"]).fillna(0).abs()
    order = change.sort_values(ascending=True, kind="stable").index
    return report.assign(room=room).loc[order]
