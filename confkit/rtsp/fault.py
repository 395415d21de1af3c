"""What a fault of a demo camera is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .address import Address
from .ports import Opener
from .settings import Settings
from .viewer import Camera


class CameraFault(NamedTuple):
    """The verdict of a preflight of such a camera, and what is on the wire."""

    verdict: str
    wire: str


@dataclass(frozen=True)
class Fault:
    """How a camera differs from a healthy one; where there is a `port`, that is all there is."""

    verdict: str = "ok"
    wire: str = ""
    settings: Callable[[Settings], Settings] = lambda settings: settings
    camera: Callable[[Camera], Camera] = lambda camera: camera
    address: Callable[[Address], Address] = lambda address: address
    port: Opener | None = None
