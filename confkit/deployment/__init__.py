"""Check a service from outside: its health (`confkit.doctor`), its dialect
(`confkit.probe_dialect`), and its media servers."""

from .doctor import CHECKS, checkup
from .media_server import mcu_answers
from .probe import investigate

__all__ = ["CHECKS", "checkup", "investigate", "mcu_answers"]
