"""Draws boxes and arrows as an SVG picture that says the same as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from textwrap import fill
from typing import NamedTuple

_FILLS = {
    "plain": "#ffffff", "ours": "#dbe9f6", "a": "#d9eedd", "b": "#fbe9c2", "media": "#eadcf4",
    "end": "#e8e8e8", "none": "none",
}  # fmt: skip
_LINE = 17  # pixels from one line of text to the next


class Box(NamedTuple):
    """A box with lines of text, the first one bold; places and sizes in pixels."""

    x: float
    y: float
    width: float
    height: float
    text: str
    fill: str = "plain"


class Arrow(NamedTuple):
    """An arrow with a text over its middle, moved by `right` and `down`; `dashed` for what is no
    call of the interface."""

    x: float
    y: float
    to_x: float
    to_y: float
    text: str = ""
    right: float = 0
    down: float = -6
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing; a notebook shows it, `print` says it in words."""

    told: str
    width: int
    height: int
    boxes: tuple[Box, ...] = field(repr=False)
    arrows: tuple[Arrow, ...] = field(repr=False)

    def __repr__(self) -> str:
        return fill(self.told, 88)

    def _repr_svg_(self) -> str:
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            'font-family="Helvetica,Arial,sans-serif" font-size="13">',
            f"<title>{escape(self.told)}</title>",
            '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
            'markerHeight="8" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" '
            'fill="#333"/></marker></defs>',
            f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>',
            *map(_box, self.boxes),
            *map(_arrow, self.arrows),
            "</svg>",
        ]
        return "".join(parts)


def _box(box: Box) -> str:
    lines = box.text.split("\n")
    middle = box.x + box.width / 2
    top = box.y + (box.height - _LINE * len(lines)) / 2 + 13
    texts = "".join(
        f'<text x="{middle:g}" y="{top + _LINE * number:g}" text-anchor="middle" fill="#1a1a1a"'
        f' font-weight="{("bold", "normal")[number > 0]}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    edge = "none" if box.fill == "none" else "#333"
    return (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="6" '
        f'fill="{_FILLS[box.fill]}" stroke="{edge}"/>{texts}'
    )


def _arrow(arrow: Arrow) -> str:
    dashes = ' stroke-dasharray="5 4"' if arrow.dashed else ""
    x = (arrow.x + arrow.to_x) / 2 + arrow.right
    y = (arrow.y + arrow.to_y) / 2 + arrow.down
    lines = "".join(
        f'<text x="{x:g}" y="{y + 15 * number:g}" text-anchor="middle" fill="#1a1a1a" '
        'stroke="#ffffff" stroke-width="4" paint-order="stroke" font-size="12">'
        f"{escape(line)}</text>"
        for number, line in enumerate(arrow.text.split("\n"))
        if line
    )
    return (
        f'<path d="M{arrow.x:g} {arrow.y:g}L{arrow.to_x:g} {arrow.to_y:g}" stroke="#333" '
        f'fill="none" stroke-width="1.5" marker-end="url(#tip)"{dashes}/>{lines}'
    )
