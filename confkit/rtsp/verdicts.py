"""What a preflight can find: a fixed name for each verdict, with its cause and the next step."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Verdict(NamedTuple):
    """The usual cause of a verdict and what to do about it, one sentence each."""

    cause: str
    advice: str


_ROWS = tomllib.loads(Path(__file__).with_name("verdicts.toml").read_text("utf-8"))
VERDICTS = {name: Verdict(**row) for name, row in _ROWS.items()}
