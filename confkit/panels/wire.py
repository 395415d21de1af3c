"""The wire: the last calls as they were sent, what came of them, and how the token is made."""

from __future__ import annotations

import threading
from datetime import tzinfo
from typing import TYPE_CHECKING

from ..errors import ConfigError
from .arranging import button, columns, row, shown
from .given import check_source, zone_of
from .panel import Panel
from .parts import Table, View
from .token_making import TokenSteps, token_steps
from .waiting import until_cancelled
from .wire_texts import call_columns, came_html, counted, numbered_frame, sent_html, steps_html

if TYPE_CHECKING:
    import pandas as pd

    from ..calls import Call
    from ..client import Client

_STEPS = "How the token is made"


class WirePanel(Panel):
    """The last calls of a client, masked, the newest first; one of them in detail.

    `value` is their frame as `calls_frame` makes it, `call` the one that was chosen, or None. The
    panel looks at the client's record every `every` seconds while somebody sees it, 0 for never;
    that sends nothing. Times are shown in the zone `tz`, None for this machine's own (ConfigError:
    there is none so); in `value` they are UTC. Details and token go to the browser as messages, so
    no saved notebook holds them.
    """

    def __init__(
        self, client: Client, *, every: float = 2.0, tz: str | tzinfo | None = None
    ) -> None:
        check_source(client)
        self._tz = zone_of(tz)
        super().__init__("Wire", client)
        self.call: Call | None = None
        self._client = client
        self._calls: dict[int, Call] = {}
        self._last = 0
        self._reading = threading.Lock()
        self.table = Table(
            "The last calls", "n", call_columns(self._tz), what="calls", sort=("n", True),
            on_choice=self._show, empty="No call was made yet. Make one and it stands here.",
        )  # fmt: skip
        self.sent, self.came = View("What was sent"), View("What came")
        self.made = View(_STEPS)
        self.details = columns(self.sent, self.came)
        self.steps_button = button(_STEPS, self.clicked(self._turn_steps, "token"))
        refresh = button("Refresh", self.clicked(self.refresh, "reading"), "primary")
        self.shows(
            row(refresh, self.steps_button),
            self.table, self.details, self.made,
        )  # fmt: skip
        shown(self.details, False)
        shown(self.made, False)
        self.refresh()
        self.every(every, self.refresh)

    def refresh(self) -> pd.DataFrame:
        """The frame of the client's last calls, which the panel shows from now on."""
        with self._reading:
            before = {id(call): number for number, call in self._calls.items()}
            numbered = {}
            for call in self._client.calls:
                self._last += id(call) not in before
                numbered[before.get(id(call), self._last)] = call
            if list(numbered) != list(self._calls) or self.value is None:
                self._calls = numbered
                frame = numbered_frame(numbered)
                self.table.show(frame, counted(frame, self._tz))
                self.value = frame.drop(columns="n")
        return self.value

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

    def token_steps(self) -> TokenSteps:
        """How the token in use was made, which the panel shows, too; makes one where there is none.

        In full for a sandbox with its published demo keys, masked everywhere else. A login that
        fails is raised.
        """
        with self.working("Reading how the token is made", "token") as work:
            steps = until_cancelled(lambda: token_steps(self._client), work.cancelled)
        self.made.show(steps_html(steps))
        self._shows_steps(True)
        self.refresh()
        return steps

    def hide_token_steps(self) -> None:
        """Delete the token's steps from the panel, and so from the page with it."""
        self.made.show("")
        self._shows_steps(False)

    def _shows_steps(self, whether: bool) -> None:
        shown(self.made, whether)
        self.steps_button.description = "Hide the token" if whether else _STEPS

    def _turn_steps(self) -> None:
        (self.hide_token_steps if self.made.html else self.token_steps)()

    def _show(self, key: str) -> None:
        self.call = self._calls.get(int(key)) if key.isdecimal() else None
        shown(self.details, self.call is not None)
        if self.call is not None:
            self.sent.show(sent_html(self.call, self._tz))
            self.came.show(came_html(self.call))
