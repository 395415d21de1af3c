"""The test picture: a camera's name, a running counter and a dot that moves.

It is drawn in the encoder's own colours (4:2:0), for converting every frame takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from .font import text_mask

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

_TOP, _BOTTOM = (27, 34, 46), (13, 17, 24)
_INK, _DIM, _FAINT, _ACCENT = (232, 237, 244), (122, 135, 154), (52, 62, 78), (64, 190, 170)


def draw_loop(
    name: str, details: str, size: tuple[int, int], fps: int, count: int, pixel_format: str
) -> Iterator[Pixels]:
    """Yield `count` pictures as PyAV takes them; they share one buffer."""
    import numpy as np

    width, height = size
    margin, unit = width // 16, max(1, min(width // 160, height // 90))
    ink, dim, faint, accent = (
        [
            float(plane[0, 0])
            for plane in _planes(_converted(np.array([[rgb] * 2] * 2), pixel_format))
        ]
        for rgb in (_INK, _DIM, _FAINT, _ACCENT)
    )
    fade = np.linspace(0, 1, height)[:, None, None]
    rows = np.array(_TOP) * (1 - fade) + np.array(_BOTTOM) * fade
    still = _converted(np.broadcast_to(rows, (height, width, 3)), pixel_format)
    planes = _planes(still)
    room = width - 2 * margin
    scale = max(1, min(unit + 1, room // (6 * max(1, len(name)))))
    small = max(1, min(unit // 2, room // (6 * len(details))))
    # Even, as there is one colour to two rows.
    line, thickness = (height - height // 8) // 2 * 2, max(1, height // 540) * 2
    top = height // 9
    _blend(planes, ink, text_mask(name[: room // (6 * scale)], scale), top, margin)
    _blend(planes, dim, text_mask(details, small), top + 7 * scale + 3 * unit, margin)
    _blend(planes, faint, np.ones((thickness, room)), line, margin)

    drawn = still.copy()
    planes = _planes(drawn)
    for number in range(count):
        drawn[:] = still
        text = text_mask(f"{number // fps:02d}.{number % fps:02d}", 3 * unit + 1)
        _blend(planes, accent, text, height // 2 - 6 * unit, margin)
        # There and back once a loop, so that the dot does not jump where the loop starts again.
        swing = (1 - math.cos(2 * math.pi * number / count)) / 2
        x, y, radius = margin + swing * room, line + thickness / 2, 2.5 * unit
        _blend(planes, accent, np.ones((thickness, round(x) - margin)), line, margin)
        above, left = int(y - radius) - 1, max(0, int(x - radius) - 1)
        down, right = np.ogrid[above : int(y + radius) + 3, left : int(x + radius) + 3]
        distance = np.hypot(down + 0.5 - y, right + 0.5 - x)
        _blend(planes, accent, np.clip(radius + 0.5 - distance, 0, 1), above, left)
        yield drawn


def _converted(pixels: NDArray[Any], pixel_format: str) -> Pixels:
    """Return an RGB picture as three planes, one after the other."""
    import av
    import numpy as np

    frame = av.VideoFrame.from_ndarray(pixels.astype(np.uint8), format="rgb24")
    return cast("Pixels", frame.reformat(format=pixel_format).to_ndarray())


def _planes(picture: Pixels) -> list[Pixels]:
    """Return views of the planes: brightness, and two of colour at half the size."""
    height, width = picture.shape[0] * 2 // 3, picture.shape[1]
    flat, size, half = picture.reshape(-1), height * width, (height // 2, width // 2)
    blue, red = flat[size : size * 5 // 4], flat[size * 5 // 4 :]
    return [picture[:height], blue.reshape(half), red.reshape(half)]


def _blend(
    planes: list[Pixels], colour: list[float], cover: NDArray[Any], top: int, left: int
) -> None:
    """Colour a part of a picture as far as `cover` (0 to 1) says; what sticks out is cut off."""
    for plane, value in zip(planes, colour, strict=True):
        step = len(planes[0]) // len(plane)
        area = plane[-(-top // step) :, -(-left // step) :]
        part = cover[top % step :: step, left % step :: step]
        part = part[: area.shape[0], : area.shape[1]]
        area = area[: part.shape[0], : part.shape[1]]
        area[:] = area + part * (value - area)
