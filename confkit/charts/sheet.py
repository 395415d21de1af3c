"""The sheet that a chart is drawn on: the finding on top, where and when below it, last a note."""

import base64
import re
import warnings
from collections.abc import Callable, Sequence
from html import escape
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

from matplotlib import font_manager, rc_context
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text
from PIL import Image

from ..text import one_line, printable
from .looks import FAINT, GREY, INK, PAPER, STYLE, TRACK
from .texts import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 880  # pixels, unless another one is asked for
_DPI = 110
_EDGE = 0.14  # inches
# After the usual font, those that know other scripts, where they are installed.
_OTHER_SCRIPTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Devanagari", "Noto Sans Thai",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans", "Hiragino Sans", "Yu Gothic",
    "Microsoft YaHei", "Malgun Gothic", "Nirmala UI", "Arial Unicode MS", "Segoe UI Emoji",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "Unifont",
)  # fmt: skip
_OTHER_LETTER = re.compile("[^\0-\u052f\u2000-\u20ff]")
# What the page's theme has for the colours of texts, lines and paper; states keep their own.
_THEMED = {
    INK: "--jp-content-font-color0",
    GREY: "--jp-content-font-color2",
    FAINT: "--jp-border-color1",
    TRACK: "--jp-border-color3",
    PAPER: "--jp-layout-color1",
}


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
        with warnings.catch_warnings(), rc_context(STYLE):
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            super().draw(renderer)

    def svg(self) -> str:
        """The chart as an SVG element in its own size; texts and lines have the theme's colours."""
        picture = StringIO()
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "confkit"}):
            self.savefig(picture, format="svg", facecolor="none", metadata={"Date": None})
        drawn = re.sub(r'(?<= )fill="(#\w+)"', r'style="fill: \1"', picture.getvalue())
        for colour, theme in _THEMED.items():
            drawn = drawn.replace(f": {colour}", f": var({theme}, {colour})")
        drawn = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", drawn, count=1)
        size = f"width:{self.bbox.width:.0f}px;max-width:100%;height:auto"
        seen = escape(self.summary().partition("\n")[0])
        head = f'<svg role="img" aria-label="{seen}" style="{size}"'
        return head + drawn.partition("<svg")[2]

    def _repr_png_(self) -> bytes:
        drawn, picture = BytesIO(), BytesIO()
        self.savefig(drawn, format="png", pil_kwargs={"compress_level": 1})
        # Of 256 colours, which nobody tells from all: notebooks are half as large.
        with Image.open(drawn) as every:
            every.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(picture, "png")
        return picture.getvalue()

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        # What stands beside the plot, time and service among it, in place of a picture not seen.
        seen = " · ".join(text.get_text() for text in self.texts)
        picture = base64.b64encode(self._repr_png_()).decode("ascii")
        return (
            {"text/plain": self.summary(), "image/png": picture},
            {"image/png": {"alt": seen.replace("\n", " ")}},
        )


def sheet(
    finding: str,
    under: Sequence[str],
    draw: Callable[[Chart], object] | str,
    *,
    height: float = 0.7,
    note: str = "",
    told: str = "",
    width: float | None = None,
) -> Chart:
    """A Chart with its texts; between them it is `height` inches to `draw` on, or there stands the
    text that says why there is nothing to draw.

    `under` are the parts of the second line; `told` is the chart as plain text; `width` in pixels.
    """
    wide = (width or WIDTH) / _DPI
    title, second, last = (
        wrapped(one_line(text), round(columns * wide))
        for text, columns in ((finding, 9.25), (" · ".join(filter(None, under)), 13), (note, 14))
    )
    below_title = _EDGE + 0.235 * len(title.splitlines())
    above = below_title + 0.175 * len(second.splitlines()) + 0.14
    below = _EDGE + (0.155 * len(last.splitlines()) + 0.08 if last else 0)
    tall, left = above + height + below, _EDGE / wide
    inner = (left, below / tall, 1 - 2 * left, height / tall)
    layout = ConstrainedLayoutEngine(rect=inner, w_pad=0, h_pad=0.03, hspace=0)
    with rc_context(STYLE):
        figure = Chart(figsize=(wide, tall), dpi=_DPI, layout=layout, told=printable(told))
        for text, up, va, look in (
            (title, tall - _EDGE, "top", {"fontsize": 13, "fontweight": "bold"}),
            (second, tall - below_title - 0.03, "top", {"color": GREY}),
            (last, _EDGE, "bottom", {"fontsize": 8, "color": GREY}),
        ):
            if text:
                figure.text(left, up / tall, text, va=va, in_layout=False, **look)
        if isinstance(draw, str):
            figure.text(left, (below + height / 2) / tall, draw, color=GREY, style="italic")
        else:
            draw(figure)
    installed = {font.name for font in font_manager.fontManager.ttflist}
    known = ["DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in installed)]
    for part in figure.findobj(Text):
        if isinstance(part, Text) and _OTHER_LETTER.search(part.get_text()):
            part.set(fontfamily=known, fontweight="normal")  # few such fonts are there in bold
    return figure


def rows(axes: "Axes", names: Sequence[str], pad: float = 3.5) -> None:
    """As many rows, the first on top, each with its name on the left."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", pad=pad)


def key(axes: "Axes", columns: int) -> None:
    """What the marks mean, above the axes, so many beside each other."""
    axes.legend(loc="lower left", bbox_to_anchor=(-0.006, 1.02), ncols=columns, borderaxespad=0.2)
