"""What is wrong between this machine and a service, check by check: `doctor`."""

from .order import CHECKS, checkup, doctor

__all__ = ["CHECKS", "checkup", "doctor"]
