"""The embedded service: a complete implementation of the interface, to learn and to test with."""

from .sandbox import DEMO_SECRET_KEY, Sandbox
from .state import RoomJoinRefused

__all__ = ["DEMO_SECRET_KEY", "RoomJoinRefused", "Sandbox"]
