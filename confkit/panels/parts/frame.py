"""The frame around a panel: its head, what it is doing, what went wrong, and its questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import traitlets

from ...masking import mask
from .widget import HERE, Widget

Tone = Literal["", "good", "bad"]


class Frame(Widget):
    """The head of a panel, which names the service; below it progress, a text, or a question.

    `heard` is called with the browser's message, whose `kind` is "cancel", "yes" or "no" (with the
    `question` that this answers), or, while the panel can be seen in an open page and `every` is
    above 0, every so many seconds "tick".
    """

    _esm = HERE / "frame.js"
    _css = HERE / "style.css"  # the look of the whole panel; there is one frame in each
    title = traitlets.Unicode("").tag(sync=True)
    service = traitlets.Unicode("").tag(sync=True)
    sandbox = traitlets.Bool(False).tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)
    busy = traitlets.Unicode("").tag(sync=True)  # what is being done
    done = traitlets.Int(0).tag(sync=True)
    total = traitlets.Int(0).tag(sync=True)  # 0: not known
    text = traitlets.Unicode("").tag(sync=True)
    tone = traitlets.Unicode("").tag(sync=True)
    question = traitlets.Unicode("").tag(sync=True)
    yes = traitlets.Unicode("").tag(sync=True)
    every = traitlets.Float(0.0).tag(sync=True)

    def __init__(
        self, title: str, heard: Callable[[Mapping[str, Any]], object], **traits: Any
    ) -> None:
        super().__init__(title=title, **traits)
        for kind in ("cancel", "yes", "no", "tick"):
            self._heard[kind] = lambda content, _: heard(content)

    @traitlets.validate("text", "busy", "question")
    def _without_login(self, proposal: Any) -> str:
        # A device may be called by its address, and what stands here may be saved.
        return mask(proposal["value"])

    def tell(self, text: str, tone: Tone = "") -> None:
        """Shows a text; of the tone "bad" it is an alert."""
        with self.hold_sync():
            self.text, self.tone = text, tone
