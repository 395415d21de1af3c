"""The last calls of a client: what was sent, what came, and how the token is made."""

from __future__ import annotations

import json
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
_PLACES = {"query": "in the query", "form": "in a form", "json": "as JSON"}


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
        self._calls: dict[str, Call] = {}  # by the keys of their rows, which stay with them
        self._shown: object = None
        self.table = Table(
            "The last calls",
            "key",
            [
                Column("n", "No.", right=True, wide=True),
                Column("time", "Time", lambda one: f"{self._here(one['time']):%H:%M:%S.%f}"[:-3]),
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
        head = row(refresh, self.errors, self.steps_button)
        self.shows(head, self.made, self.table, self.details)
        shown(self.details, False)
        self.hide_token_steps()
        self.refresh()
        self.every(every, self.refresh)

    def filter(self, errors: bool = False) -> None:
        """Show the calls without a result code 0 alone, or all again."""
        self.errors.value = bool(errors)

    def refresh(self) -> pd.DataFrame:
        """Return the frame of the client's last calls, which the panel shows from now on."""
        self.draws(self._draw)
        found: pd.DataFrame = self.value
        return found

    def _draw(self) -> Any:
        calls, errors = self._client.calls, bool(self.errors.value)
        self._calls = {str(id(call)): call for call in calls}
        if self._shown == (now := ([*self._calls], errors)):
            return self.value  # the same: nothing is sent to the browser
        self._shown, frame, text = now, calls_frame(calls), counted(len(calls), "call")
        numbered = frame.assign(n=range(1, len(calls) + 1), key=[*self._calls])
        if errors:
            numbered = numbered[numbered["ret"].ne("0").fillna(True)]
            text = f"{len(numbered):,} of {text}"
        self.table.show(numbered, f"{text} · times in {zone(self._tz)[1]}")
        return numbered[frame.columns].reset_index(drop=True)

    def choose(self, n: int) -> Call:
        """Return the call of this number in the table, once it is shown in detail; -1 is the
        newest, -2 the one before. ConfigError: there is none."""
        self.refresh()
        keys = [*self._calls]
        place = n - 1 if n > 0 else len(keys) + n
        if not n or not 0 <= place < len(keys):
            there = f"1 to {len(keys)}" if keys else "none yet"
            raise ConfigError(
                f"there is no call {n!r} on record",
                f"There are {there}. Choose a number of the table, or -1 for the newest.",
            )
        self.table.choose(keys[place])
        return self._calls[keys[place]]

    def _show(self, key: str) -> None:
        call = self.call = self._calls.get(key)
        shown(self.details, call is not None)
        if call is None:
            return
        operation = ENDPOINTS[call.endpoint]
        when = f"{self._here(call.time):%Y-%m-%d %H:%M:%S} ({zone(self._tz)[1]})"
        sent = fields(
            [
                ("when", when),
                ("sent", f"{call.method} {call.url}"),
                ("parameters", _PLACES[call.placement]),
            ]
        )
        lines = {"As curl": call.as_curl(), "As Python": call.as_python()}
        self.sent.html = _block(f"{operation.key} {operation.title}", sent, lines)
        came = fields([("took", took(call.seconds)), ("HTTP status", call.status)])
        if call.ret is None:
            came += fields([("why", call.error)])
        elif call.error is None:
            came += fields([("ret", f"{call.ret}: {call.meaning}")])
        else:
            came += explain(call.ret, operation.interface)._repr_html_()
        answer = {"Its answer": _laid_out(call.answer)} if call.answer else {}
        self.came.html = _block("What came", came, answer)

    def _here(self, time: Any) -> Any:
        return time.astimezone(self._tz)

    def token_steps(self) -> TokenSteps:
        """Return how the token in use was made, which the panel shows, too; without a token the
        client authenticates, and a login that fails is raised.

        In full for a sandbox with its published demo keys, masked everywhere else.
        """
        with self.working("Reading how the token is made", "token") as work:
            steps = until_cancelled(lambda: token_steps(self._client), work.cancelled)
        said = "In full, because the keys of this sandbox are published."
        if MASK in steps[-1].value:
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
    """Return so many seconds as text, in milliseconds where they are few."""
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _answered(one: Row) -> Cell:
    if one["ret"] is None:
        return Mark("no answer" if one["status"] is None else "not of the interface", "bad")
    return Mark(one["ret"], "good" if one["ret"] == "0" else "bad")


def _block(title: str, html: str, texts: dict[str, str]) -> str:
    """A heading, what stands below it, and texts to copy, each with a heading."""
    copied = "".join(
        f'{heading_html(name)}<pre class="confkit-copied" tabindex="0">{escape(text)}</pre>'
        for name, text in texts.items()
    )
    return f"{heading_html(title)}{html}{copied}"


def _laid_out(answer: str) -> str:
    """An answer with a line for each member, where it is whole."""
    try:
        return json.dumps(json.loads(answer), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return answer
