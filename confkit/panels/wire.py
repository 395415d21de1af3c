"""The last calls of a client: what was sent, what came, and how the token is made."""

from __future__ import annotations

import json
import threading
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING, Any

from ..endpoints import ENDPOINTS
from ..errors import ConfigError, explain
from ..frames import calls_frame
from ..occupancy.zones import zone
from ..secret import MASK
from ..text import counted
from .arranging import check, columns, fields, heading_html, row, shown
from .given import check_source, zone_of
from .panel import Panel, until_cancelled
from .parts import Cell, Column, Mark, Table, View
from .parts.table import Row
from .token_making import TokenSteps, token_steps

if TYPE_CHECKING:
    import pandas as pd

    from ..calls import Call
    from ..client import Client

_STEPS = "How the token is made"
_PLACES = {"query": "in the query", "form": "in a form"}


class WirePanel(Panel):
    """The last calls of a client, masked, the newest first; one of them in detail.

    `value` is the frame of those that are shown, as `calls_frame` makes it, `call` the one that was
    chosen, or None. The panel looks at the client's record every `every` seconds while somebody
    sees it, 0 for never; that sends nothing. Times are shown in the zone `tz`, None for this
    machine's own (ConfigError: there is none so); in `value` they are UTC. Details and token go to
    the browser as messages, so no saved notebook holds them.
    """

    def __init__(
        self, client: Client, *, every: float = 2.0, tz: str | tzinfo | None = None
    ) -> None:
        check_source(client)
        self._tz = zone_of(tz)
        super().__init__("Wire", client)
        self.call: Call | None = None
        self._client = client
        self._calls: dict[int, Call] = {}  # by number
        self._last = 0
        self._shown: tuple[list[int], bool] | None = None
        self._reading = threading.Lock()
        self.table = Table(
            "The last calls",
            "n",
            [
                Column("n", "No.", right=True, wide=True),
                Column("time", "Time", self._time),
                Column("ret", "Answer", _answered),
                Column("call", "Call", lambda one: f"{one['call']} {one['operation']}"),
                Column("meaning", "Meaning"),
                Column("seconds", "Took", lambda one: took(one["seconds"]), right=True, wide=True),
                Column("url", "Sent", lambda one: f"{one['method']} {one['url']}", wide=True),
            ],
            what="calls",
            sort=("n", True),
            on_choice=self._show,
            empty="No call was made yet. Make one and it stands here.",
        )
        self.sent, self.came, self.made = View("What was sent"), View("What came"), View(_STEPS)
        self.details = columns(self.sent, self.came)
        self.errors = check("errors only")
        self.errors.observe(lambda _: self.refresh(), "value")
        self.steps_button = self._button(_STEPS, self._turn_steps, "token")
        refresh = self._button("Refresh", self.refresh, "reading", "primary")
        self.shows(
            row(refresh, self.errors, self.steps_button), self.made, self.table, self.details
        )
        self._show("")
        self.hide_token_steps()
        self.refresh()
        self.every(every, self.refresh)

    def _time(self, one: Row) -> str:
        return f"{one['time'].astimezone(self._tz):%H:%M:%S.%f}"[:-3]

    def filter(self, errors: bool = False) -> None:
        """Show the calls without a result code 0 alone, or all again."""
        self.errors.value = bool(errors)

    def refresh(self) -> pd.DataFrame:
        """The frame of the client's last calls, which the panel shows from now on."""
        with self._reading:
            before = {id(call): number for number, call in self._calls.items()}
            numbered = {}
            for call in self._client.calls:
                self._last += id(call) not in before
                numbered[before.get(id(call), self._last)] = call
            self._calls, errors = numbered, bool(self.errors.value)
            if self._shown != (list(numbered), errors):
                self._shown = list(numbered), errors
                frame = calls_frame(numbered.values())
                frame.insert(0, "n", list(numbered))
                if errors:
                    frame = frame[frame["ret"].ne("0").fillna(True)].reset_index(drop=True)
                told = counted(len(numbered), "call")
                told = f"{len(frame):,} of {told}" if len(frame) < len(numbered) else told
                told += f" · times in {zone(self._tz)[1]}"
                self.table.show(frame.astype({"n": "int64"}), told)
                self.value = frame.drop(columns="n")
            found: pd.DataFrame = self.value
        return found

    def choose(self, n: int) -> Call:
        """The call of this number in the table, in detail; -1 is the newest, -2 the one before.
        ConfigError: there is none."""
        self.refresh()
        numbers = list(self._calls)
        whole = isinstance(n, int)
        number = numbers[n] if whole and -len(numbers) <= n < 0 else n
        if not whole or number not in self._calls:
            there = f"{numbers[0]} to {numbers[-1]}" if numbers else "none yet"
            raise ConfigError(
                f"there is no call {n!r} on record",
                f"There are {there}. Choose a number of the table, or -1 for the newest.",
            )
        self.table.choose(str(number))
        return self._calls[number]

    def _show(self, key: str) -> None:
        self.call = self._calls.get(int(key)) if key.isdecimal() else None
        shown(self.details, self.call is not None)
        if self.call is not None:
            self.sent.html = _sent_html(self.call, self._tz)
            self.came.html = _came_html(self.call)

    def token_steps(self) -> TokenSteps:
        """How the token in use was made, which the panel shows, too; makes one where there is none.

        In full for a sandbox with its published demo keys, masked everywhere else. A login that
        fails is raised.
        """
        with self.working("Reading how the token is made", "token") as work:
            steps = until_cancelled(lambda: token_steps(self._client), work.cancelled)
        said = "In full, because the keys of this sandbox are published."
        if any(step.name == "token" and step.value == MASK for step in steps):
            said = f"Secrets, and what could make one, show as {MASK}: only a sandbox with its "
            said += "published demo keys shows them."
        self._show_steps(f"<p>{said}</p>{steps._repr_html_()}")
        self.refresh()
        return steps

    def hide_token_steps(self) -> None:
        """Delete the token's steps from the panel, and so from the page with it."""
        self._show_steps("")

    def _show_steps(self, html: str) -> None:
        self.made.html = html
        shown(self.made, bool(html))
        self.steps_button.description = "Hide the token" if html else _STEPS

    def _turn_steps(self) -> None:
        (self.hide_token_steps if self.made.html else self.token_steps)()


def took(seconds: float) -> str:
    """So many seconds, in milliseconds where they are few."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _answered(one: Row) -> Cell:
    if one["ret"] is None:
        return Mark("no answer" if one["status"] is None else "not of the interface", "bad")
    return Mark(one["ret"], "good" if one["ret"] == "0" else "bad")


def _sent_html(call: Call, tz: tzinfo) -> str:
    """What was sent, when in the zone `tz`, and how to send it again."""
    here, zone_name = zone(tz)
    return _block(
        f"{call.endpoint} {ENDPOINTS[call.endpoint].title}",
        [
            ("when", f"{call.time.astimezone(here):%Y-%m-%d %H:%M:%S} ({zone_name})"),
            ("sent", f"{call.method} {call.url}"),
            ("parameters", _PLACES.get(call.placement, "as JSON")),
        ],
        {"As curl": call.as_curl(), "As Python": call.as_python()},
    )


def _came_html(call: Call) -> str:
    """What came, and what that means."""
    pairs = [("took", took(call.seconds)), ("HTTP status", call.status), ("ret", call.ret)]
    if call.ret is None:
        pairs.append(("why", call.error))
    else:
        found = explain(call.ret, ENDPOINTS[call.endpoint].interface)
        pairs.append(("meaning", f"{found.meaning} ({found.sure})"))
        if call.ret != 0:
            again = "yes, in a moment" if found.retry else "no, not before something has changed"
            pairs += [
                ("likely cause", f"{found.cause} (assumed)"),
                ("what to do", found.advice),
                ("try again", again),
            ]
    return _block("What came", pairs, {"Its answer": _laid_out(call.answer)} if call.answer else {})


def _block(title: str, pairs: list[tuple[str, Any]], texts: dict[str, str]) -> str:
    """A heading, the names and values below it, and texts to copy, each with a heading."""
    copied = "".join(
        f'{heading_html(escape(name))}<pre class="confkit-copied" tabindex="0">{escape(text)}</pre>'
        for name, text in texts.items()
    )
    return f"{heading_html(escape(title))}{fields(pairs)}{copied}"


def _laid_out(answer: str) -> str:
    """An answer with a line for each member, where it is whole."""
    try:
        return json.dumps(json.loads(answer), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return answer
