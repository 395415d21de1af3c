"""A 5 by 7 bitmap font, because PyAV's wheel has no `drawtext`."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A letter and its seven rows, top first; a row is one digit to base 32, its highest bit the left
# pixel.
_DRAWN = """
Aehhvhhh Buhhuhhu Cehggghe Duhhhhhu Evgguggv Fvgguggg Gehgnhhf Hhhhvhhh Ie44444e
J72222ic Khikokih Lggggggv Mhrllhhh Nhhpljhh Oehhhhhe Puhhuggg Qehhhlid Ruhhukih
Sfgge11u Tv444444 Uhhhhhhe Vhhhhha4 Whhhllla Xhha4ahh Yhhha444 Zv1248gv 0ehjlphe
14c4444e 2eh1248v 3v2421he 426aiv22 5vgu11he 668guhhe 7v124888 8ehhehhe 9ehhf12c
-000v000 _000000v .00000cc ,0000cc8 :0cc0cc0 /01248g0 #aavavaa (2488842 )8422248
+044v440 'cc80000 !4444404 ?eh12404 &cik8lid =00v0v00
"""
_GLYPHS = {" ": "0000000"} | {drawn[0]: drawn[1:] for drawn in _DRAWN.split()}
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
