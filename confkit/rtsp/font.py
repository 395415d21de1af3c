"""A 5 by 7 bitmap font, because PyAV's wheel has no `drawtext`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Seven rows a glyph, top first; a row is one digit to base 32, its highest bit the left pixel.
_GLYPHS = {
    **{"A": "ehhvhhh", "B": "uhhuhhu", "C": "ehggghe", "D": "uhhhhhu", "E": "vgguggv"},
    **{"F": "vgguggg", "G": "ehgnhhf", "H": "hhhvhhh", "I": "e44444e", "J": "72222ic"},
    **{"K": "hikokih", "L": "ggggggv", "M": "hrllhhh", "N": "hhpljhh", "O": "ehhhhhe"},
    **{"P": "uhhuggg", "Q": "ehhhlid", "R": "uhhukih", "S": "fgge11u", "T": "v444444"},
    **{"U": "hhhhhhe", "V": "hhhhha4", "W": "hhhllla", "X": "hha4ahh", "Y": "hhha444"},
    **{"Z": "v1248gv", "0": "ehjlphe", "1": "4c4444e", "2": "eh1248v", "3": "v2421he"},
    **{"4": "26aiv22", "5": "vgu11he", "6": "68guhhe", "7": "v124888", "8": "ehhehhe"},
    **{"9": "ehhf12c", " ": "0000000", "-": "000v000", "_": "000000v", ".": "00000cc"},
    **{",": "0000cc8", ":": "0cc0cc0", "/": "01248g0", "#": "aavavaa", "(": "2488842"},
    **{")": "8422248", "+": "044v440", "'": "cc80000", "!": "4444404", "?": "eh12404"},
    **{"&": "cik8lid", "=": "00v0v00"},
}
_UNKNOWN = "vhhhhhv"


def text_mask(text: str, scale: int) -> NDArray[np.bool_]:
    """Return the pixels of a line of text, `7 * scale` rows high; True is ink.

    Letters are drawn as capitals without accents, what the font lacks as an empty box.
    """
    import numpy as np

    plain = unicodedata.normalize("NFKD", text).upper()
    shown = [letter for letter in plain if not unicodedata.combining(letter)]
    rows = [[int(row, 32) << 1 for row in _GLYPHS.get(letter, _UNKNOWN)] for letter in shown or " "]
    bits = np.array(rows)[:, :, None] >> np.arange(5, -1, -1)[None, None, :]
    mask = (bits & 1).astype(bool).transpose(1, 0, 2).reshape(7, -1)
    return mask.repeat(scale, axis=0).repeat(scale, axis=1)
