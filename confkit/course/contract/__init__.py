"""The contract that a client in any language meets, and the checker that tries it."""

from .checking import check_client
from .clients import example, skeleton
from .report import ClientCheck, ClientRow
from .text import contract
from .vectors import vectors

__all__ = [
    "ClientCheck",
    "ClientRow",
    "check_client",
    "contract",
    "example",
    "skeleton",
    "vectors",
]
