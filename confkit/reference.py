"""The packaged reference of the interface, in our words, by section."""

import re

from .errors import ConfigError

SPOKEN = "interface A 1.0.5 (2017-05-11) and interface B 1.02 (2017-04-10)"  # section 9
# Each section and each endpoint in it: a heading, up to the next of its level or above.
_PARTS = re.compile(r"(?ms)(?=(^## .*?(?=^##? |\Z)|^### .*?(?=^#{1,3} |\Z)))")


def reference(part: str | None = None) -> str:
    """Return the text of the reference, whole, or one part of it.

    A part is an endpoint ("A2"), a section's number ("7") or a word of its heading ("errors").
    """
    from importlib import resources  # takes a while to load, and few ask for the text

    whole = resources.files(__package__).joinpath("interface.md").read_text("utf-8")
    if part is None:
        return whole
    wanted = part.strip().lower()
    texts = {text.partition("\n")[0].lstrip("# "): text for text in _PARTS.findall(whole)}
    numbered = [name for name in texts if name.lower().startswith(f"{wanted}.")]
    for name in numbered or [name for name in texts if wanted and wanted in name.lower()]:
        return str(texts[name].rstrip()) + "\n"
    raise ConfigError(f"the reference has no part {part!r}", f"It has: {', '.join(texts)}")
