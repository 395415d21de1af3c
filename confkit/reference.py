"""The packaged reference of the interface, in our words, by section."""

import re
from importlib import resources

from .errors import ConfigError

SPOKEN = "interface A 1.0.5 (2017-05-11) and interface B 1.02 (2017-04-10)"  # section 9


def reference(part: str | None = None) -> str:
    """The text of the reference, whole, or one part of it.

    A part is an endpoint ("A2"), a section's number ("7") or a word of its heading ("errors").
    """
    whole = resources.files(__package__).joinpath("interface.md").read_text("utf-8")
    if part is None:
        return whole
    wanted = part.strip().lower()
    blocks = _blocks(whole)
    for heading, block in blocks:
        number = re.match(r"#+ (\w+)\.", heading)
        if number and number.group(1).lower() == wanted:
            return block
    for heading, block in blocks:
        if wanted and wanted in heading.lower():
            return block
    headings = ", ".join(heading.lstrip("# ") for heading, _ in blocks)
    raise ConfigError(f"the reference has no part {part!r}", f"It has: {headings}.")


def _blocks(whole: str) -> list[tuple[str, str]]:
    """Every heading of level 2 and 3 with its text, up to the next of its level or above."""
    lines = whole.splitlines()
    depths = [
        len(match.group()) if (match := re.match(r"#{1,3}(?= )", line)) else 0 for line in lines
    ]
    blocks = []
    for start, depth in enumerate(depths):
        if depth in (2, 3):
            end = next(
                (at for at in range(start + 1, len(lines)) if 0 < depths[at] <= depth), len(lines)
            )
            blocks.append((lines[start], "\n".join(lines[start:end]).rstrip() + "\n"))
    return blocks
