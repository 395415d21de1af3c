"""What the lessons show and use: pictures, vectors, the open questions, a plain call by hand."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html import unescape
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..secret import reveal

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

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
    """Return a picture of the course: service, calls, token, room-life or rtsp.

    ConfigError for another name.
    """
    if name not in NAMES:
        raise ConfigError("the course has no such picture", f"There are {', '.join(NAMES)}.")
    svg = files(__package__).joinpath("drawings", f"{name}.svg").read_text("utf-8")
    _, _, titled = svg.partition("<title>")
    return Picture(" ".join(unescape(titled.partition("</title>")[0]).split()), svg)


def vectors() -> dict[str, Any]:
    """Return signatures of every hash and form, for easy keys and awkward ones: `about`, a list of
    texts, and `vectors`, a list of objects.

    Each vector has hash, signature, access_key, secret_key, random, key, and what is made of them:
    digest, token, and both percent-encoded as digest_encoded and token_encoded.
    """
    text = files(__package__).joinpath("vectors.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def open_questions() -> pd.DataFrame:
    """Return what to ask the provider, one row per question.

    Columns: about, question, taken (what we go by until it is answered), sure (seen or assumed),
    setting (of the dialect, empty where there is none).
    """
    import pandas as pd

    with files(__package__).joinpath("open_questions.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype="str", keep_default_na=False)


def ask(client: Client, path: str, **fields: Any) -> dict[str, Any]:
    """Return the JSON that a plain GET of this path brings, as a client in any language sees it.

    The client lends its addresses, and its token unless `fields` hold one: B1 and B3 spell it
    accessToken, all others access_token.
    """
    outgoing = path.startswith("/avd/")
    if not any(re.fullmatch("access_?token", name, re.IGNORECASE) for name in fields):
        longer = outgoing and not path.endswith("destroyOutgoingUser")
        fields = {"accessToken" if longer else "access_token": client.token(), **fields}
    base = client.outgoing_url if outgoing else client.base_url
    address, query = base + path, reveal(fields)
    found: dict[str, Any] = client.session.get(address, params=query, timeout=30).json()
    return found
