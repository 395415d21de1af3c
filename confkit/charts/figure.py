"""The figure of all charts: the finding as title; in a notebook an SVG in the page's colours.

Everything is drawn twice, with few shapes: for matplotlib, and as SVG elements. Coordinates are
pixels from the top left of the body, below the title.
"""

import base64
import hashlib
import unicodedata
import warnings
from bisect import bisect
from collections.abc import Iterable
from functools import cache
from html import escape
from io import BytesIO
from itertools import accumulate
from typing import Any

from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, StepPatch
from matplotlib.transforms import Affine2D
from PIL import Image

from ..text import html_or_image, one_line, printable

WIDTH = 720  # pixels, by default
LONGEST = 240  # pixels of a name
_DPI = 96  # so that our pixels are the browser's
_TITLE = 1.28  # the title's size in relation to other text
_BOLD = 1.13  # the width of bold text in relation to other text

# Contrast at least 4.4:1 on white and on black; distinguishable by colour-blind people.
BLUE, AMBER, ORANGE, NEUTRAL = "#2a78ba", "#9a7000", "#c4511a", "#767676"
# In a page these become colours of its theme.
INK, SOFT, LINE = "#222222", "#606060", "#b0b0b0"
_THEME = {
    INK: "var(--jp-content-font-color1, currentColor)",
    SOFT: f"var(--jp-content-font-color2, {NEUTRAL})",
    LINE: "var(--jp-border-color1, #8c8c8c)",
}
# A browser has fonts for every script; an image uses those of these that are installed.
_FONTS = (
    *("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans Arabic", "Noto Sans Devanagari"),
    *("Hiragino Sans", "Microsoft YaHei", "Arial Unicode MS", "Unifont"),
)
_ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}


class Chart(Figure):
    """A matplotlib Figure that a notebook shows in the page's theme, with a tooltip on each mark.

    `finding` is the title, `details` the subtitle, above a body of `height` pixels (96 per inch).
    `summary()` is the finding and the `lines`, as plain text, `html()` the chart as an SVG element.
    """

    def __init__(
        self,
        finding: str,
        details: Iterable[str],
        height: float = 0,
        lines: Iterable[str] = (),
        width: float | None = None,
    ) -> None:
        self.width_px = width or WIDTH
        title = _wrap(finding, (self.width_px - 8) / _TITLE / _BOLD)
        subtitle = _wrap(" · ".join(filter(None, details)), self.width_px - 8)
        self._top = 16 + 20 * len(title) + 16 * len(subtitle)
        self._height_px = self._top + height
        super().__init__(figsize=(self.width_px / _DPI, self._height_px / _DPI), dpi=_DPI)
        self._summary = printable("\n".join([finding, *filter(None, lines)]))
        self._elements, self._hovers = list[str](), list[str]()
        installed = {font.name for font in font_manager.fontManager.ttflist}
        self._fonts = [name for name in _FONTS if name in installed]
        pixels = Affine2D().translate(0, -height).scale(1 / self.width_px, -1 / self._height_px)
        self._pixels = pixels + self.transFigure
        # Few fonts of other scripts exist in bold, and requesting one logs a warning.
        weight = "bold" if "".join(title).replace("…", "").isascii() else "normal"
        for number, line in enumerate(title):
            self.write(4, 18 + 20 * number - self._top, line, title=weight)
        for number, line in enumerate(subtitle, -len(subtitle)):
            self.write(4, 6 + 16 * number, line, color=SOFT)

    def summary(self) -> str:
        """Return what the chart shows, as plain text."""
        return self._summary

    def write(
        self, x: float, y: float, text: str, ha: str = "left", color: str = INK, title: str = ""
    ) -> None:
        """Write a line of text, of the title in this weight; its baseline depends on no font, and
        dollars start no formula."""
        text, look = one_line(text), _fill(color) + _ANCHORS[ha]
        style: dict[str, Any] = {"fontfamily": self._fonts, "fontsize": 9, "color": color, "ha": ha}
        if title:
            look += f' font-size="{12 * _TITLE:g}" font-weight="{title}"'
            style |= {"fontsize": 9 * _TITLE, "fontweight": title}
        self.text(x, y, text, va="baseline", parse_math=False, transform=self._pixels, **style)
        self._elements.append(f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, colour: str, alpha: float = 1
    ) -> None:
        """Fill a box."""
        box = Rectangle((x, y), width, height, color=colour, alpha=alpha, linewidth=0)
        box.set_transform(self._pixels)
        self.add_artist(box)
        area = _area(x, y, width, height)
        self._elements.append(f'<rect {area} {_fill(colour)} opacity="{alpha:g}"/>')

    def steps(self, edges: Any, heights: Any, colour: str, bottom: Any = None) -> None:
        """Draw steps between the edges, none where the height is NaN: filled down to `bottom`, or a
        dashed line."""
        style: dict[str, Any] = {"facecolor": (colour, 0.5), "linewidth": 0.8}
        paint = f'{_fill(colour)} fill-opacity="0.5" stroke="{colour}"'
        if bottom is None:
            style = {"fill": False, "linewidth": 1.2, "linestyle": (0, (5, 3))}
            paint = f'fill="none" {_fill(colour).replace("fill", "stroke")}'
            paint += ' stroke-width="1.6" stroke-dasharray="8 5"'
        steps = StepPatch(heights, edges, baseline=bottom, edgecolor=colour, **style)
        steps.set_transform(self._pixels)
        self.add_artist(steps)
        lines: Any = steps.get_path().to_polygons(closed_only=False)
        for line in lines:
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
            self._elements.append(f'<polyline points="{points}" {paint}/>')

    def hover(self, x: float, y: float, width: float, height: float, text: str) -> None:
        """Add a tooltip to this box."""
        title = f"<title>{escape(one_line(text))}</title>"
        self._hovers.append(f"<rect {_area(x, y, width, height)}>{title}</rect>")

    def savefig(self, *arguments: Any, **settings: Any) -> None:
        """Save as any Figure does, on white whatever the style; a character that no installed font
        has is a box, without a warning."""
        with warnings.catch_warnings():
            missing = "Glyph .* missing from|Matplotlib currently does not support"
            warnings.filterwarnings("ignore", message=missing)
            super().savefig(*arguments, **{"facecolor": "white", **settings})

    def html(self) -> str:
        """Return a self-contained SVG element in the colours of the page's theme, with tooltips, at
        most as wide as its container."""
        hovers = "".join(self._hovers)
        return self._svg("none", f'<g fill="none" pointer-events="all">{hovers}</g>')

    def _svg(self, background: str, hovers: str) -> str:
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" '
            f'viewBox="0 {-self._top:g} {self.width_px:g} {self._height_px:g}" '
            f'aria-label="{escape(self.summary())}" class="tex2jax_ignore mathjax_ignore" '
            f'style="width: {self.width_px:g}px; max-width: 100%; height: auto; '
            f'background: {background}; font: 12px sans-serif">'
            f"{''.join(self._elements)}{hovers}</svg>"
        )

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, Any]]]:
        """Return the chart as text, as HTML, and as an image of twice the size."""
        buffer, small = BytesIO(), BytesIO()
        self.savefig(buffer, format="png", dpi=2 * _DPI)
        with Image.open(buffer) as picture:  # with 64 colours it takes a third
            picture.convert("RGB").quantize(64).save(small, "png", optimize=True)
        # An <img> does not know the page's theme, so it has a white background.
        image = base64.b64encode(self._svg("white", "").encode()).decode()
        name = f"confkit-{hashlib.sha256(image.encode()).hexdigest()[:12]}"
        source = f"data:image/svg+xml;base64,{image}"
        summary, classes = self.summary(), f"confkit-chart {name}"
        page = html_or_image(classes, self.html(), source, summary, self.width_px)
        png = base64.b64encode(small.getvalue()).decode()
        data = {"text/plain": summary, "text/html": page, "image/png": png}
        return data, {"image/png": {"width": round(self.width_px), "alt": summary}}


def _fill(colour: str) -> str:
    return f'style="fill: {_THEME.get(colour, colour)}"'


def _area(x: float, y: float, width: float, height: float) -> str:
    return f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'


def text_width(text: str) -> float:
    """Return the width of a text in pixels, at the size of everything but the title."""
    return sum(map(_letter_width, text))


@cache
def _letter_width(letter: str) -> float:
    """Return the width of a letter in DejaVu Sans: few of a browser's fonts are wider."""
    if unicodedata.east_asian_width(letter) in "WF":
        return 14  # of the box that replaces a missing glyph
    font = font_manager.get_font(font_manager.findfont("DejaVu Sans"))
    font.set_size(9, _DPI)
    return font.load_glyph(font.get_char_index(ord(letter))).linearHoriAdvance / 65536


def shorten(text: str, end: str = "", most: float = LONGEST) -> str:
    """Return the text and its end, the text shortened if both take more than `most` pixels."""
    edges = [*accumulate(map(_letter_width, text), initial=text_width(end))]
    if edges[-1] <= most:
        return text + end
    return f"{text[: bisect(edges, most - 12) - 1].rstrip()}…{end}"


def _wrap(text: str, most: float) -> list[str]:
    """Return the text in at most three lines of at most `most` pixels."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    lines[2:] = [" ".join(lines[2:])]
    return [shorten(line, most=most) for line in lines if line]
