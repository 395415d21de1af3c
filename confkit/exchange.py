"""The name of an attempt by which the probe knows it."""

from .attempt import Attempt as Asked

__all__ = ["Asked"]
