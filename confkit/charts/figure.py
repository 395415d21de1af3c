"""The figure that charts come as."""

import base64
import warnings
from collections.abc import Callable, Collection
from io import BytesIO
from typing import Any

from matplotlib import font_manager
from matplotlib.figure import Figure

# After the usual font, those that know other scripts, where they are installed.
_OTHER_SCRIPTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Devanagari", "Noto Sans Thai",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans", "Hiragino Sans", "Yu Gothic",
    "Microsoft YaHei", "Malgun Gothic", "Nirmala UI", "Arial Unicode MS", "Segoe UI Emoji",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "Unifont",
)  # fmt: skip


class Chart(Figure):
    """A matplotlib Figure that a notebook shows by itself, whether pyplot is loaded or not.

    A notebook gets the picture and, as plain text beside it, the `summary()`: that is what a
    screen reader reads and what a comparison of notebooks compares.
    """

    def __init__(self, *arguments: Any, told: str = "", **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._told = told

    def summary(self) -> str:
        """What the chart shows, as plain text."""
        return self._told

    def draw(self, renderer: Any) -> None:
        """Draws; a letter that no installed font has is a box, and no warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        shown: dict[str, Callable[[], str]] = {
            "text/plain": self.summary,
            "image/png": lambda: base64.b64encode(self._repr_png_()).decode("ascii"),
        }
        wanted = (set(include) if include else set(shown)) - set(exclude or ())
        # What stands beside the plot, time and service among it, in place of a picture not seen.
        seen = " · ".join(text.get_text() for text in self.texts)
        return (
            {kind: show() for kind, show in shown.items() if kind in wanted},
            {"image/png": {"alt": seen.replace("\n", " ")}},
        )


def families() -> list[str]:
    """Font families in which topics of any script can be written, as far as they are installed."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in installed)]
