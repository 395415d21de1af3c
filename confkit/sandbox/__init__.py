"""The embedded service: a complete implementation of the interface, to learn and to test with."""

from .face import Sandbox
from .life import DEMO_SECRET_KEY
from .people import RoomJoinRefused

__all__ = ["DEMO_SECRET_KEY", "RoomJoinRefused", "Sandbox"]
