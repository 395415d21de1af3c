"""What the interface leaves open and so has to be asked: `open_questions.csv` lists it."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def open_questions() -> pd.DataFrame:
    """What to ask the provider, one row a question: about, question, taken (what we go by until it
    is answered), sure (seen or assumed), setting (of the dialect, empty where there is none)."""
    import pandas as pd

    with files(__package__).joinpath("open_questions.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, dtype="str", keep_default_na=False)
