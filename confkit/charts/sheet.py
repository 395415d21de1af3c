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
from .looks import FAINT, GREY, INK, TRACK
from .texts import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

WIDTH = 880  # pixels, unless another one is asked for
_DPI = 110
_HATCH = 0.5  # points
_EDGE = 0.14
_LINE = {"finding": 0.235, "under": 0.175, "note": 0.155}
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
    "#ffffff": "--jp-layout-color1",
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
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")
            warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
            super().draw(renderer)

    def svg(self) -> str:
        """The chart as an SVG element in its own size; texts and lines have the theme's colours."""
        picture = StringIO()
        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "confkit"}):
            self.savefig(picture, format="svg", transparent=True, metadata={"Date": None})
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
    under: list[str],
    draw: Callable[[Chart], None] | str,
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
    # A number stays on one line with what it counts.
    joined = re.sub(r"(\d) (?=\w)", "\\1\u00a0", one_line(finding))
    title = wrapped(joined, round(9.25 * wide)).replace("\u00a0", " ")
    second = wrapped(one_line(" · ".join(filter(None, under))), round(13 * wide))
    last = wrapped(one_line(note), round(14 * wide))
    below_title = _EDGE + _LINE["finding"] * (title.count("\n") + 1)
    above = below_title + (_LINE["under"] * (second.count("\n") + 1) if second else 0.0) + 0.12
    below = _EDGE + (_LINE["note"] * (last.count("\n") + 1) + 0.08 if last else 0.0)
    tall = above + height + below

    left = _EDGE / wide
    inner = (left, below / tall, 1 - 2 * left, height / tall)
    layout = ConstrainedLayoutEngine(rect=inner, w_pad=0, h_pad=0, hspace=0)
    figure = Chart(figsize=(wide, tall), dpi=_DPI, layout=layout, told=printable(told))
    strong = {"fontsize": 13, "fontweight": "bold", "color": INK, "linespacing": 1.25}
    top = 1 - _EDGE / tall
    figure.suptitle(title, x=left, y=top, ha="left", va="top", **strong).set_in_layout(False)
    place = 1 - (below_title + 0.03) / tall
    for text, up, va, size in ((second, place, "top", 9), (last, _EDGE / tall, "bottom", 8)):
        if text:
            look: dict[str, Any] = {"fontsize": size, "color": GREY, "linespacing": 1.3}
            figure.text(left, up, text, ha="left", va=va, in_layout=False, **look)
    if isinstance(draw, str):
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.text(0, 0.5, draw, transform=axes.transAxes, va="center", color=GREY, style="italic")
    else:
        draw(figure)
    _finish(figure)
    return figure


def _finish(figure: Chart) -> None:
    """Texts as they are and in fonts that know other scripts, and fine hatches."""
    hatched: list[Any] = figure.findobj(lambda part: hasattr(part, "set_hatch_linewidth"))
    for part in hatched:  # older versions of matplotlib have one width for all
        part.set_hatch_linewidth(_HATCH)
    installed = {font.name for font in font_manager.fontManager.ttflist}
    known = ["DejaVu Sans", *(name for name in _OTHER_SCRIPTS if name in installed)]
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a topic may hold dollars
        if _OTHER_LETTER.search(text.get_text()):
            text.set_fontfamily(known)
            text.set_fontweight("normal")  # few fonts of other scripts are there in bold


def bare(axes: "Axes", *, keep: str = "bottom") -> None:
    """Takes from the axes what is no information."""
    for name, spine in axes.spines.items():
        spine.set_visible(name == keep)
        spine.set_color(FAINT)
    axes.tick_params(length=0, labelsize=8.5, labelcolor=GREY)


def rows(axes: "Axes", names: Sequence[str], *, keep: str = "bottom", pad: float = 3.5) -> None:
    """Bare axes of as many rows, the first on top, each with its name on the left."""
    bare(axes, keep=keep)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", labelcolor=INK, labelsize=9, pad=pad)


def heading(part: "SubFigure", text: str) -> None:
    """A small title at the left edge of a part of the sheet, with air above it."""
    part.suptitle(
        "\n" + text, x=0, ha="left", fontsize=9.5, fontweight="bold", color=INK, linespacing=1.6
    )
