"""What the lessons show and use: pictures, vectors, the open questions."""

import base64
import json
from dataclasses import dataclass
from html import unescape
from importlib.resources import files
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..text import html_or_image

if TYPE_CHECKING:
    import pandas as pd

NAMES = ("service", "calls", "token", "room-life", "rtsp")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing in the colours of the page that shows it; `text` says it in words."""

    name: str
    text: str
    svg: str
    png: bytes

    def __repr__(self) -> str:
        return fill(self.text, 88)

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
        """Return it as text, as HTML, and as an image on a light card, of twice the size."""
        png = base64.b64encode(self.png).decode()
        image = f"data:image/png;base64,{png}"
        page = html_or_image(f"confkit-{self.name}", self.svg, image, self.text, 760)
        data = {"text/plain": repr(self), "text/html": page, "image/png": png}
        return data, {"image/png": {"width": 760}}


def picture(name: str) -> Picture:
    """Return a picture of the course: service, calls, token, room-life or rtsp.

    ConfigError for another name.
    """
    if name not in NAMES:
        raise ConfigError("the course has no such picture", f"There are {', '.join(NAMES)}.")
    drawing = files(__package__).joinpath("drawings")
    svg = drawing.joinpath(f"{name}.svg").read_text("utf-8")
    title = unescape(svg.partition("<title>")[2].partition("</title>")[0])
    return Picture(name, " ".join(title.split()), svg, drawing.joinpath(f"{name}.png").read_bytes())


def vectors() -> dict[str, Any]:
    """Return signatures of every hash and form, for easy keys and awkward ones: `about`, a list of
    texts, and `vectors`, a list of objects.

    Each vector has hash, signature, access_key, secret_key, random, key, and what is made of them:
    digest, token, and both percent-encoded as digest_encoded and token_encoded.
    """
    text = files(__package__).joinpath("vectors.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def open_questions() -> "pd.DataFrame":
    """Return what to ask the provider, one row per question.

    Columns: about, question, assumption (what we go by until it is answered), sure (seen or
    assumed), setting (of the dialect, empty where there is none).
    """
    import pandas as pd

    with files(__package__).joinpath("open_questions.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype="str", keep_default_na=False)
