"""The figure that charts come as."""

import warnings
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
    """A matplotlib Figure that a notebook shows by itself, whether pyplot is loaded or not."""

    def draw(self, renderer: Any) -> None:
        """Draws; a letter that no installed font has is a box, and no warning."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            super().draw(renderer)

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


def families() -> list[str]:
    """Font families in which topics of any script can be written, as far as they are installed."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in installed)]
