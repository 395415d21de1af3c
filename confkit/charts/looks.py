"""Colours, patterns and words: one look for each state, in every chart the same.

The colours are of the Okabe-Ito palette, safe for colour-blind people; as nobody should have to
tell states apart by colour, each has a pattern too and is named beside it.
"""

from typing import Any, NamedTuple

INK = "#222222"
GREY = "#666666"  # texts that come second
FAINT = "#b8b8b8"
TRACK = "#ededed"  # what is free of a room
PAPER = "#ffffff"
BLACK, WHITE = "#111111", "#fefefe"  # texts on the colours below: no page's theme changes these
BLUE = "#0072b2"
SKY = "#56b4e9"
ORANGE = "#e69f00"
VERMILION = "#d55e00"


class Look(NamedTuple):
    """How a state is drawn, its name, how rooms in it are counted, and its mark."""

    colour: str
    hatch: str
    word: str
    counted: str = ""
    marker: str = ""


# From the fullest to those of which least is known.
STATES = {
    "over": Look("#7f3000", "", "over"),
    "full": Look(VERMILION, "xx", "full"),
    "near": Look(ORANGE, "//", "nearly full"),
    "in use": Look(SKY, "", "in use"),
    "empty": Look(TRACK, "", "empty"),
    "no cap": Look(FAINT, "", "no cap"),
    "unread": Look(PAPER, "....", "not read"),
}
# What is to be done about a cap, in the order in which it is of interest.
KINDS = {
    "raise": Look(VERMILION, "xx", "raise", "to raise", ">"),
    "reached": Look(ORANGE, "//", "reached its cap", "reached", "s"),
    "lower": Look(BLUE, "", "lower", "to lower", "<"),
    "set": Look(SKY, "..", "no cap today", "to set", "D"),
    "keep": Look(FAINT, "", "keep", "to keep", "o"),
    "open": Look(PAPER, "\\\\", "no suggestion", "without a suggestion"),
    "unused": Look(TRACK, "", "never used", "never used"),
    "unread": Look(PAPER, "....", "not read", "not read"),
}
STYLE: Any = {
    "text.parse_math": False,  # a topic may hold dollars
    "font.size": 9,
    "text.color": INK,
    "hatch.linewidth": 0.5,
    "axes.spines.left": False,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.edgecolor": FAINT,
    "axes.axisbelow": True,
    "axes.labelcolor": GREY,
    "xaxis.labellocation": "left",
    "grid.color": TRACK,
    "xtick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.major.size": 0,
    "xtick.labelcolor": GREY,
    "ytick.color": INK,
    "legend.frameon": False,
    "legend.labelcolor": GREY,
    "legend.borderpad": 0,
    "legend.columnspacing": 1.4,
}
