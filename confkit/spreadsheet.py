"""CSV that is opened in a spreadsheet: a text in it stays a text, and none is calculated.

A spreadsheet takes a cell that begins with =, +, - or @ for a formula, and a formula can start
programs and send away what stands beside it. Topics and names are other people's texts. So where a
cell would begin so, an apostrophe stands before it, which is how people write such a text into a
spreadsheet. A semicolon, a tab or a line's end begins a cell too where it separates (a spreadsheet
that is set to German splits at semicolons, whatever quotes there are), so one stands behind those.
`plain` takes exactly these away again: what confkit wrote and reads is the same.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20\u2212]"  # the full-width ones, too
_BEGINS = r"(\A|(?<=[;\t\r\n]))"
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")
_RISKY = re.compile(rf"""{_BEGINS}(?=['"]*{_FORMULA})""")
_DEFUSED = re.compile(rf"""{_BEGINS}'(?=['"]*{_FORMULA})""")


def as_csv(frame: "pd.DataFrame") -> str:
    """The frame as CSV without its index, in which no text is a formula; numbers stay numbers."""
    import pandas as pd

    written = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column.dtype):
            cells = column.astype("object").map(defused, na_action="ignore")
            written.isetitem(place, cells.to_numpy())
    names = [defused(str(one)) for one in frame.columns]
    # With these line ends a cell with a bare carriage return is quoted, too.
    text: str = written.to_csv(index=False, header=names, lineterminator="\r\n")
    return text


def defused(cell: Any) -> Any:
    """The cell, with an apostrophe wherever a spreadsheet would see a formula begin in its text.

    What no file of text can hold (zero bytes, half letters) is told by a mark (U+FFFD)."""
    return _RISKY.sub("'", _UNWRITABLE.sub("\ufffd", cell)) if isinstance(cell, str) else cell


def plain(cell: str) -> str:
    """The text of a cell, without the apostrophes that keep a spreadsheet from calculating it."""
    return _DEFUSED.sub("", cell) if "'" in cell else cell
