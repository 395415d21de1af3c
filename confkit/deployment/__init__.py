"""A service from outside: is it well (`confkit.doctor`), what is its dialect
(`confkit.probe_dialect`), and does a media server answer?"""

from .doctor import CHECKS, checkup
from .media_server import McuAnswer, mcu_answers
from .probe import investigate

__all__ = ["CHECKS", "McuAnswer", "checkup", "investigate", "mcu_answers"]
