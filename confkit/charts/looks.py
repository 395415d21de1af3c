"""Colours and patterns: one look a state, in every chart the same.

The colours are of the Okabe-Ito palette, safe for colour-blind people; as nobody should have to
tell states apart by colour, each has a pattern too and is named beside it.
"""

from typing import NamedTuple

INK = "#222222"
GREY = "#666666"  # texts that come second
FAINT = "#b8b8b8"
TRACK = "#ededed"  # what is free of a room
BLUE = "#0072b2"
SKY = "#56b4e9"
ORANGE = "#e69f00"
VERMILION = "#d55e00"


class Look(NamedTuple):
    """How a state is drawn, and its name."""

    colour: str
    hatch: str
    word: str


# From the fullest to those of which least is known.
STATES = {
    "over": Look("#7f3000", "", "over"),
    "full": Look(VERMILION, "xx", "full"),
    "near": Look(ORANGE, "//", "nearly full"),
    "free": Look(SKY, "", "in use"),
    "empty": Look(TRACK, "", "empty"),
    "no cap": Look(FAINT, "", "no cap"),
    "unread": Look("#ffffff", "....", "not read"),
}
# What is to be done about a cap, in the order in which it is of interest.
KINDS = {
    "raise": Look(VERMILION, "xx", "raise"),
    "reached": Look(ORANGE, "//", "reached its cap"),
    "lower": Look(BLUE, "", "lower"),
    "set": Look(SKY, "..", "no cap today"),
    "keep": Look(FAINT, "", "keep"),
    "open": Look("#ffffff", "\\\\", "no promise"),
    "unused": Look(TRACK, "", "never used"),
    "unread": Look("#ffffff", "....", "not read"),
}
