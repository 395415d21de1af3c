"""The frame around a panel: its head, what it is doing, what went wrong, and its questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Literal

import traitlets

from ...secret import mask
from .widget import HERE, Widget, browser

Tone = Literal["", "good", "bad"]


class Frame(Widget):
    """The head of a panel, which names the service; below it progress, messages, or a question.

    `messages` holds one of each kind, the newest last: {"kind", "text", "tone", "place"}. A `place`
    is a class of the button that was clicked: what comes of it stands in its row, and in the head
    without one, or where that is not seen. `heard` is called
    with the browser's message, whose `kind` is "cancel", "yes" or "no" (with the `question` that
    this answers), "dismiss" (with the kind of the `message`, and its `text`), or, while the panel
    can be seen in an open page and `every` is above 0, every so many seconds "tick", and "hidden"
    when it can be seen no longer.
    """

    _esm = browser("frame")
    _css = HERE / "style.css"  # the look of the whole panel; there is one frame in each
    title = traitlets.Unicode("").tag(shown=True)
    service = traitlets.Unicode("").tag(shown=True)
    sandbox = traitlets.Bool(False).tag(shown=True)
    note = traitlets.Unicode("").tag(shown=True)
    busy = traitlets.Unicode("").tag(shown=True)  # what is being done
    done = traitlets.Int(0).tag(shown=True)
    total = traitlets.Int(0).tag(shown=True)  # 0: not known
    waiting = traitlets.Unicode("").tag(shown=True)  # what is to be done after that
    messages: traitlets.List[dict[str, str]] = traitlets.List().tag(shown=True)
    question = traitlets.Unicode("").tag(shown=True)
    place = traitlets.Unicode("").tag(shown=True)  # of the question
    yes = traitlets.Unicode("").tag(shown=True)
    grave = traitlets.Bool(True).tag(shown=True)  # whether a yes takes something away
    every = traitlets.Float(0.0).tag(shown=True)

    def __init__(
        self, title: str, heard: Callable[[Mapping[str, Any]], object], **traits: Any
    ) -> None:
        super().__init__(title=title, **traits)
        self._telling = threading.RLock()
        for kind in ("cancel", "yes", "no", "dismiss", "tick", "hidden"):
            self._heard[kind] = lambda content, _: heard(content)

    @traitlets.validate("busy", "waiting", "question")
    def _without_login(self, proposal: Any) -> str:
        # A device may be called by its address, and what stands here may be saved.
        return mask(proposal["value"])

    @traitlets.validate("messages")
    def _without_logins(self, proposal: Any) -> list[dict[str, str]]:
        return [{**one, "text": mask(one["text"])} for one in proposal["value"]]

    @property
    def text(self) -> str:
        """The text of the newest message; empty without one."""
        return str(self.messages[-1]["text"]) if self.messages else ""

    @property
    def tone(self) -> str:
        """The tone of the newest message."""
        return str(self.messages[-1]["tone"]) if self.messages else ""

    def put(self, **values: Any) -> None:
        """Sets these traits in one message to the browser, whichever thread sets others."""
        with self._telling, self.together():
            for name, value in values.items():
                setattr(self, name, value)

    def save(self, name: str, text: str) -> None:
        """Has the browser save this text as a file, in UTF-8 that Excel knows."""
        self.send({"kind": "save", "name": name, "text": text})

    def tell(self, text: str, tone: Tone = "", kind: str = "work", place: str = "") -> None:
        """Shows a text in place of the message of this kind, or with an empty one none of it; of
        the tone "bad" it is an alert. What is there already stays as and where it is."""
        told = {"kind": kind, "text": mask(text), "tone": tone, "place": place}
        with self._telling:
            if told not in self.messages:
                others = [one for one in self.messages if one["kind"] != kind]
                self.messages = [*others, told] if text else others
