"""Check a service from outside: its health (`confkit.doctor`), its dialect
(`confkit.probe_dialect`), and its media servers."""

from .doctor import CHECKS, checkup
from .media_server import McuAnswer, mcu_answers
from .probe import investigate

__all__ = ["CHECKS", "McuAnswer", "checkup", "investigate", "mcu_answers"]
