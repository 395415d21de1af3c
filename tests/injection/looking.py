"""What must never be in an output: markup that is alive, control characters."""

import re
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from xml.etree import ElementTree

from .texts import FORGED

_TAGS = "script iframe object embed pwned math form base meta link audio video"
_DEAD = {*_TAGS.split()}
_SVG = "data:image/svg+xml;base64,"  # in an image, where no script runs


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _DEAD:
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            if name == "src" and (value or "").startswith(_SVG):
                self.found += alive_in_svg(b64decode(value.removeprefix(_SVG)).decode())
                continue
            leads = name in ("href", "src", "xlink:href")
            if not re.fullmatch(r"(?!on)(?!.*pwned)[a-z][a-z0-9:-]*", name) or (
                leads and not re.match(r"data:(image/png|text/csv)|#", value or "")
            ):
                self.found.append(f"<{tag} {name}={value!r}>")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.found.append(f"a comment: {data[:40]!r}")


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def alive(html: str) -> list[str]:
    """What of an HTML text is markup that no output of ours has."""
    return _read(html).found


def told(html: str) -> str:
    """The text that a page with this HTML shows."""
    return "".join(_read(html).text)


def alive_in_svg(svg: str) -> list[str]:
    """What of a chart's SVG is no drawing; one that is no XML is reported, too."""
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        return [f"no XML: {error}"]
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    found = [f"<{tag}>" for tag in tags & (_DEAD | {"foreignObject", "a"})]
    names = {name for one in root.iter() for name in one.attrib}
    return found + [name for name in names if name.startswith("on") or "pwned" in name]


def controls(text: str) -> list[str]:
    """What of a text a terminal would obey, and lines that look like ours and are not."""
    text = text.replace("\u200c", "").replace("\u200d", "")  # joiners, which no terminal obeys
    found = sorted({letter for letter in text if not letter.isprintable() and letter not in "\n\t"})
    lines = re.split("[\r\n]", text)
    return [*map(ascii, found), *[line for line in lines if line.lstrip().startswith(FORGED)]]


def in_a_log(line: str) -> list[str]:
    """The same of a line of our log, and where it is more than one."""
    return controls(line) + line.splitlines()[1:] if line.startswith("confkit") else []


# What must never be in a text, by how it is read.
LOOKS: dict[str, Callable[[str], list[str]]] = {
    "text": controls,
    "log": in_a_log,
    "html": alive,
    "svg": alive_in_svg,
}


def wrong(text: str, read: str) -> list[str]:
    """What acts in a text that is read in this way."""
    return LOOKS[read](text) if read in LOOKS else []
