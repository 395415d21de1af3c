"""The curve of a picked room, beside the bars."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import tzinfo
from html import escape
from typing import TYPE_CHECKING

import ipywidgets

from ..charts.curve import occupancy_curve
from ..charts.texts import clean
from ..errors import ConfkitError
from . import arranging
from .courses import joined, picture, read_samples, recorded_samples
from .parts import View

if TYPE_CHECKING:
    import pandas as pd

    from .readings import Reading


class RoomCurve(ipywidgets.VBox):  # type: ignore[misc]  # ipywidgets brings no types
    """One room over time: what a recording has of it, and what was read since.

    The recording is read when a room is picked, and not again with each of its readings: a folder
    may hold years.
    """

    def __init__(self, service: str, close: Callable[[], object], tz: tzinfo | None = None) -> None:
        self._service, self._tz = service, tz
        self._recorded: pd.DataFrame | None = None
        self._of = ("", "")
        self._drawing = threading.Lock()  # a pick, while a reading draws
        # Every reading comes in a thread of its own, and matplotlib opens all fonts for each thread
        # that draws, and keeps them open: one thread draws for all.
        self._pen, self._ended = ThreadPoolExecutor(1, "confkit panel draws"), False
        self.view, self.words = View(), arranging.text()
        as_text = arranging.check("As text")
        as_text.observe(lambda change: arranging.shown(self.words, change["new"]), "value")
        arranging.shown(self.words, False)
        closes = arranging.button("Close", lambda _: close())
        super().__init__([self.view, arranging.row(as_text, closes), self.words])
        arranging.shown(self, False)

    def draw(
        self, room_id: str, reading: Reading | None, folder: str, every: float, *,
        anew: bool = False,
    ) -> None:  # fmt: skip
        """Draw this room, or put the curve away where it is ""; `every` as of `joined`, `anew`
        reads the recording again."""
        with self._drawing:
            if self._ended:
                return
            arranging.shown(self, bool(room_id))
            if reading is None or room_id not in set(reading.frame["room_id"]):
                return
            try:
                if anew or self._of != (room_id, folder):
                    self._recorded = recorded_samples(folder, room_id, self._service)
                    self._of = (room_id, folder)
            except (ConfkitError, OSError) as error:  # what was read is not wrong for that
                self._shows(f'<div class="confkit-status confkit-bad">{escape(str(error))}</div>')
                return
            samples = joined(self._recorded, read_samples(reading, room_id), every)
            [topic] = reading.frame.loc[reading.frame["room_id"] == room_id, "topic"]
            drawn = self._pen.submit(_drawn, samples, room_id, topic, self._service, self._tz)
            self._shows(*drawn.result())

    def close(self) -> None:
        """End the thread that draws, and wait for it."""
        if hasattr(self, "_pen"):  # it was made to its end
            with self._drawing:
                self._ended = True
                self._pen.shutdown()
        super().close()

    def _shows(self, html: str, words: str = "") -> None:
        self.view.show(html)
        self.words.value = f"<pre>{escape(words)}</pre>" if words else ""


def _drawn(
    samples: pd.DataFrame, room_id: str, topic: str, service: str, tz: tzinfo | None
) -> tuple[str, str]:
    chart = occupancy_curve(samples, room_id, topic=clean(topic) or None, service=service, tz=tz)
    return picture(chart), chart.summary()
