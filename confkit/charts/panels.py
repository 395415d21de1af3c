"""What charts of rooms share: a column a group of all rooms, and texts beside a row."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .looks import FAINT, GREY, INK, Look
from .sheet import bare

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 30  # so many rooms have a row each; of more the first TOP have
TOP = 20
ROW = 0.3  # inches


def columns(axes: "Axes", groups: Sequence[tuple[str, int, Look]], *, apart: int) -> None:
    """A column a group, with its number on top; those from the place `apart` on stand apart."""
    places = [place + 0.35 * (place >= apart) for place in range(len(groups))]
    for place, (_, number, look) in zip(places, groups, strict=True):
        light = look.colour > "#e8"  # would not stand out from the paper
        axes.bar(
            place, number, width=0.82, color=look.colour, hatch=look.hatch, linewidth=0.6,
            edgecolor=GREY if light else "white", zorder=2,
        )  # fmt: skip
        axes.annotate(
            f"{number:,}", (place, number), xytext=(0, 3), textcoords="offset points",
            ha="center", fontsize=9, color=INK if number else FAINT,
        )  # fmt: skip
    axes.set_xticks(places, [text for text, _, _ in groups])
    axes.set_yticks([])
    axes.set_ylim(0, 1.16 * max([1, *(number for _, number, _ in groups)]))
    axes.margins(x=0.01)
    bare(axes)
    axes.tick_params(axis="x", labelcolor=INK)


def rows(axes: "Axes", names: Sequence[str], beside: Sequence[tuple[str, str, bool]]) -> None:
    """The names on the left; on the right of each row its numbers and its word, bold if loud."""
    reach = 5.1 * max(len(numbers) for numbers, _, _ in beside)  # points
    for place, (numbers, word, loud) in enumerate(beside):
        for text, offset, side, weight in (
            (numbers, 10 + reach, "right", "normal"),
            (word, 18 + reach, "left", "bold" if loud else "normal"),
        ):
            axes.annotate(
                text, (1, place), xycoords=("axes fraction", "data"), xytext=(offset, 0),
                textcoords="offset points", ha=side, va="center", fontsize=9, fontweight=weight,
                color=INK if loud or side == "right" else GREY,
            )  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    bare(axes, keep="")
    axes.tick_params(axis="y", labelsize=9, labelcolor=INK, pad=6)
