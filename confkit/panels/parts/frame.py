"""The frame around a panel: its head, what it is doing, what went wrong, and its questions."""

from __future__ import annotations

from typing import Any, Literal

import traitlets

from ...secret import redact
from .widget import HERE, Widget, browser, shown

Tone = Literal["", "good", "bad"]


class Frame(Widget):
    """The head of a panel, which names the service; below it progress, messages, or a question.

    `messages` holds one of each kind, the newest last: {"kind", "text", "tone", "place"}. A `place`
    is a class of the button that was clicked: what comes of it stands in its row, and in the head
    without one, or where that is not seen. The browser says "cancel", "yes" or "no" (with the
    `question` that this answers), "dismiss" (with the kind of the `message`, and its `text`), and,
    while the panel can be seen in an open page and `every` is above 0, every so many seconds
    "tick", and "hidden" when it can be seen no longer.
    """

    _esm = browser("frame")
    _css = HERE / "style.css"  # the look of the whole panel; there is one frame in each
    title = shown("")
    service = shown("")
    sandbox = shown(False)
    note = shown("")
    busy = shown("")  # what is being done
    done = shown(0)
    total = shown(0)  # 0: not known
    waiting = shown("")  # what is to be done after that
    messages = shown(())
    question = shown("")
    place = shown("")  # of the question
    yes = shown("")
    grave = shown(True)  # whether a yes takes something away
    every = shown(0.0)

    @traitlets.validate("busy", "waiting", "question")
    def _without_login(self, proposal: Any) -> str:
        # A device may be called by its address, and what stands here may be saved.
        return redact(proposal["value"])

    @property
    def text(self) -> str:
        """The text of the newest message; empty without one."""
        return str(self.messages[-1]["text"]) if self.messages else ""

    @property
    def tone(self) -> str:
        """The tone of the newest message."""
        return str(self.messages[-1]["tone"]) if self.messages else ""

    def save(self, name: str, text: str) -> None:
        """Have the browser save this text as a file, in UTF-8 that Excel knows."""
        self.send({"kind": "save", "name": name, "text": text})

    def tell(self, text: str, tone: Tone = "", kind: str = "work", place: str = "") -> None:
        """Show a text in place of the message of this kind, or with an empty one none of it; of
        the tone "bad" it is an alert. What is there already stays as and where it is."""
        message = {"kind": kind, "text": redact(text), "tone": tone, "place": place}
        with self._sending:
            if message not in self.messages:
                others = [one for one in self.messages if one["kind"] != kind]
                self.messages = [*others, message] if text else others
