"""Check a service from outside: its health (`confkit.doctor`), its dialect
(`confkit.probe_dialect`), and its media servers."""

from .doctor import CHECKS, checkup
from .media_server import mcu_answers
from .probe import dialect_line, how_to_set, investigate

__all__ = ["CHECKS", "checkup", "dialect_line", "how_to_set", "investigate", "mcu_answers"]
