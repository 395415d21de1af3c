"""The exercises as data, a module for each notebook; `EXERCISES` holds all, in their order."""

from ..records import Exercise
from . import devices, errors, many, own_client, people, rooms, service, token

EXERCISES: tuple[Exercise, ...] = (
    *service.EXERCISES,
    *token.EXERCISES,
    *rooms.EXERCISES,
    *people.EXERCISES,
    *errors.EXERCISES,
    *devices.EXERCISES,
    *many.EXERCISES,
    *own_client.EXERCISES,
)
