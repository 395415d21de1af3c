"""The embedded service: a complete implementation of the interface, to learn and to test with."""

from .face import Sandbox
from .people import RoomJoinRefused

__all__ = ["RoomJoinRefused", "Sandbox"]
