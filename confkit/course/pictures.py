"""The course's pictures: the service, the order of calls, a token, a room's life, RTSP."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from importlib.resources import files
from textwrap import fill

from ..errors import ConfigError

NAMES = ("service", "calls", "token", "room-life", "rtsp")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in the colours of the page that shows it; `print` says it in words (`told`)."""

    told: str
    svg: str = field(repr=False)

    def __repr__(self) -> str:
        return fill(self.told, 88)

    def _repr_html_(self) -> str:
        # As an image (SVG's own MIME type) it would not know the page's theme.
        return self.svg


def picture(name: str) -> Picture:
    """A picture of the course: service, calls, token, room-life, rtsp; ConfigError for another."""
    if name not in NAMES:
        raise ConfigError("the course has no such picture", f"There are {', '.join(NAMES)}.")
    svg = files(__package__).joinpath("drawings", f"{name}.svg").read_text("utf-8")
    title = re.search(r"<title>(.*?)</title>", svg, re.DOTALL)
    told = " ".join(unescape(title[1]).split()) if title else name
    return Picture(told, svg)
