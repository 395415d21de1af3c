"""What the wire's panel says of a call and of a token, as HTML in which everything is escaped."""

from __future__ import annotations

import json
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING

from ..calls import Call
from ..endpoints import ENDPOINTS
from ..explanations import explain
from ..frames import calls_frame
from ..occupancy.zones import zone
from ..secret import MASK
from .arranging import fields
from .parts import Cell, Column, Mark
from .parts.table import Row
from .token_making import TokenSteps

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


def numbered_frame(calls: Mapping[int, Call]) -> pd.DataFrame:
    """The frame of these calls with their numbers as column `n`."""
    frame = calls_frame(calls.values())
    frame.insert(0, "n", list(calls))
    return frame.astype({"n": "int64"})


def _answered(row: Row) -> Cell:
    if row["ret"] is None:
        return Mark("no answer" if row["status"] is None else "not of the interface", "bad")
    return Mark(row["ret"], "good" if row["ret"] == "0" else "bad")


def call_columns(tz: tzinfo) -> list[Column]:
    """The columns of the table of calls, with times in the zone `tz`, which `counted` names."""
    return [
        Column("n", "No.", right=True, wide=True),
        Column("time", "Time", lambda row: f"{row['time'].astimezone(tz):%H:%M:%S.%f}"[:-3]),
        Column("ret", "Answer", _answered),
        Column("call", "Call", lambda row: f"{row['call']} {row['operation']}"),
        Column("meaning", "Meaning"),
        Column("seconds", "Took", lambda row: took(row["seconds"]), right=True, wide=True),
        Column("url", "Sent", lambda row: f"{row['method']} {row['url']}", wide=True),
    ]


def counted(calls: pd.DataFrame, tz: tzinfo) -> str:
    """How many calls there are, and the zone of their times."""
    return f"{len(calls):,} call{'s' * (len(calls) != 1)} · times in {zone(tz)[1]}"


def took(seconds: float) -> str:
    """So many seconds, in milliseconds where they are few."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def sent_html(call: Call, tz: tzinfo) -> str:
    """What was sent, when in the zone `tz`, and how to send it again."""
    here, zone_name = zone(tz)
    told = fields([
        ("when", f"{call.time.astimezone(here):%Y-%m-%d %H:%M:%S} ({zone_name})"),
        ("sent", f"{call.method} {call.url}"),
        ("parameters", {"query": "in the query", "form": "in a form"}.get(
            call.placement, "as JSON")),
    ])  # fmt: skip
    title = f"{call.endpoint} {ENDPOINTS[call.endpoint].title}"
    return (
        f"{_heading(title)}{told}"
        f"{_heading('As curl')}{_copied(call.as_curl())}"
        f"{_heading('As Python')}{_copied(call.as_python())}"
    )


def came_html(call: Call) -> str:
    """What came, and what that means."""
    told = [("took", took(call.seconds)), ("HTTP status", call.status), ("ret", call.ret)]
    if call.ret is None:
        told += [("why", call.error)]
    else:
        found = explain(call.ret, ENDPOINTS[call.endpoint].interface)
        told += [("meaning", f"{found.meaning} ({found.sure})")]
        if call.ret != 0:
            again = "yes, in a moment" if found.retry else "no, not before something has changed"
            told += [
                ("likely cause", f"{found.cause} (assumed)"),
                ("what to do", found.advice),
                ("try again", again),
            ]
    answer = f"{_heading('Its answer')}{_copied(_laid_out(call.answer))}" if call.answer else ""
    return f"{_heading('What came')}{fields(told)}{answer}"


def steps_html(steps: TokenSteps) -> str:
    """The steps of a token's making, and whether they show secrets."""
    masked = any(step.name == "token" and step.value == MASK for step in steps)
    told = (
        f"Secrets, and what could make one, show as {MASK}: only a sandbox with its published demo "
        "keys shows them."
        if masked
        else "In full, because the keys of this sandbox are published."
    )
    items = "".join(
        f"<li><b>{escape(step.name)}</b> <code>{escape(step.value)}</code>"
        f"<div class='confkit-quiet'>{escape(step.how)} ({escape(step.sure)})</div></li>"
        for step in steps
    )
    return (
        f"{_heading('How the token in use was made')}<p>{told}</p>"
        f"<ol class='confkit-steps'>{items}</ol>"
    )


def _heading(text: str) -> str:
    return f'<div class="confkit-heading" role="heading" aria-level="4">{escape(text)}</div>'


def _copied(text: str) -> str:
    return f'<pre class="confkit-copied" tabindex="0">{escape(text)}</pre>'


def _laid_out(answer: str) -> str:
    """An answer with a line for each member, where it is whole."""
    try:
        return json.dumps(json.loads(answer), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return answer
