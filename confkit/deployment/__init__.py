"""One inquiry into a service: is it well (`confkit.doctor`), what is its dialect
(`confkit.probe_dialect`), do its interfaces and its media servers answer?"""

from .doctor_order import CHECKS, checkup, service_answers
from .media_server import McuAnswer, mcu_answers
from .probe import probe_client

__all__ = ["CHECKS", "McuAnswer", "checkup", "mcu_answers", "probe_client", "service_answers"]
