"""The exercises as data, a module for each notebook; `EXERCISES` holds all, in their order."""

from ..records import Exercise
from . import token

EXERCISES: tuple[Exercise, ...] = (*token.EXERCISES,)
