"""A proxy between client and service that does what networks, proxies and services do wrong."""

from .faults import FAULTS, SLOW
from .proxy import Chaos

__all__ = ["FAULTS", "SLOW", "Chaos"]
