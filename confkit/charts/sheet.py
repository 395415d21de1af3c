"""The sheet that a chart is drawn on: the finding on top, where and when below it, last a note."""

import re
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..text import one_line, printable
from .looks import FAINT, GREY, INK
from .names import wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from .figure import Chart

WIDTH = 8.0  # inches; at 110 dots an inch 880 pixels
_EDGE = 0.14
_LINE = {"finding": 0.235, "under": 0.175, "note": 0.155}


def sheet(
    finding: str, under: list[str], *, height: float, note: str = "", told: str = ""
) -> "Chart":
    """A Chart with its texts, and room for axes of `height` inches between them.

    `under` are the parts of the second line; `told` is the chart as plain text.
    """
    try:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        from .figure import Chart
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"charts need {error.name}", "Run: pip install 'confkit-notebooks[lab]'"
        ) from None

    finding, note, told = one_line(finding), one_line(note), printable(told)
    # A number stays on one line with what it counts.
    title = wrapped(re.sub(r"(\d) (?=\w)", "\\1\u00a0", finding), 74).replace("\u00a0", " ")
    second = wrapped(one_line(" · ".join(filter(None, under))), 104)
    last = wrapped(note, 112)
    above = _EDGE + sum(
        _LINE[kind] * (text.count("\n") + 1)
        for kind, text in (("finding", title), ("under", second)) if text
    ) + 0.12  # fmt: skip
    below = _EDGE + (_LINE["note"] * (last.count("\n") + 1) + 0.08 if last else 0.0)
    tall = above + height + below

    left = _EDGE / WIDTH
    inner = (left, below / tall, 1 - 2 * left, height / tall)
    layout = ConstrainedLayoutEngine(rect=inner, w_pad=0, h_pad=0, hspace=0)
    figure = Chart(figsize=(WIDTH, tall), dpi=110, layout=layout, told=told)
    figure.suptitle(
        title, x=left, y=1 - _EDGE / tall, ha="left", va="top", fontsize=13, fontweight="bold",
        color=INK, linespacing=1.25,
    ).set_in_layout(False)  # fmt: skip
    place = 1 - (_EDGE + _LINE["finding"] * (title.count("\n") + 1) + 0.03) / tall
    for text, up, va, size in ((second, place, "top", 9), (last, _EDGE / tall, "bottom", 8)):
        if text:
            figure.text(
                left, up, text, ha="left", va=va, fontsize=size, color=GREY, linespacing=1.3,
                in_layout=False,
            )  # fmt: skip
    return figure


def finished(figure: "Chart") -> "Chart":
    """The chart, with its texts as they are and in fonts that know other scripts."""
    from matplotlib.text import Text

    from .figure import families

    known = families()
    for text in figure.findobj(Text):
        text.set_parse_math(False)  # a topic may hold dollars
        if any(
            letter > "\u052f" and not "\u2000" <= letter <= "\u20ff" for letter in text.get_text()
        ):
            text.set_fontfamily(known)
            text.set_fontweight("normal")  # few fonts of other scripts are there in bold
    return figure


def parts(figure: "Chart", *heights: float) -> "list[SubFigure]":
    """Parts of the sheet, one below the other, each with a layout of its own."""
    made = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)
    return list(made.flat)


def nothing(figure: "Chart", why: str) -> "Chart":
    """The chart of nothing: it says so in place of axes."""
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(0, 0.5, why, transform=axes.transAxes, va="center", color=GREY, style="italic")
    return finished(figure)


def bare(axes: "Axes", *, keep: str = "bottom") -> None:
    """Takes from the axes what is no information."""
    for name, spine in axes.spines.items():
        spine.set_visible(name == keep)
        spine.set_color(FAINT)
    axes.tick_params(length=0, labelsize=8.5, labelcolor=GREY)


def heading(part: "SubFigure", text: str) -> None:
    """A small title at the left edge of a part of the sheet, with air above it."""
    part.suptitle(
        "\n" + text, x=0, ha="left", fontsize=9.5, fontweight="bold", color=INK, linespacing=1.6
    )
