"""What judges share: their hints, an answer read as the kind that is asked for, and a learner's
function as they call it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Set
from typing import Any
from uuid import UUID

from ..client import Client
from ..errors import RoomNotFound
from ..rooms import get_room
from ..secret import Secret, redact

# A judge yields what is wrong with an answer: the first hint counts. Without one the answer is
# right, and what it returns says what is good about it.
Hints = Generator[str, None, str]
Judge = Callable[[Any, Any], Hints]
_LONGEST = 300  # characters of an error's own text
_ASKED = {
    "function": "Hand in the function itself, by its name and without brackets",
    "room": "A room number is a text, also where it has digits only",
    "text": "Hand in a text",
    "number": "Hand in a whole number",
    "list": "Hand in a list",
    "set": "Hand in a list or a set",
    "dict": "Hand in a dict",
}


class Misfit(Exception):
    """Why an answer is not of the kind that is asked for, as a sentence."""


class Raised(Exception):
    """What a learner's function raised, as "raised KeyError: ..."; no secret is in it."""


class Function:
    """A learner's function as judges call it: raises only Raised and Misfit. `gave` holds the
    types of what it gave."""

    def __init__(self, function: Callable[..., Any], client: Client | None) -> None:
        self.gave: list[str] = []
        self._function, self._client = function, client

    def __call__(self, *given: Any) -> Any:
        """Return what it gives."""
        try:
            inspect.signature(self._function).bind(*given)
        except TypeError as error:
            many = "1 argument" if len(given) == 1 else f"{len(given)} arguments"
            text = f"Your function is called with {many}, and does not take them: {error}."
            raise Misfit(text) from None
        except Exception:  # noqa: BLE001, S110  # one that is written in C, or an object of any make
            pass
        try:
            found = self._function(*given)
        except (Exception, SystemExit) as error:  # noqa: BLE001  # an answer is no reason to stop
            raise Raised(self._raised(error)) from None
        self.gave.append(type(found).__name__)
        return found

    def _raised(self, error: BaseException) -> str:
        try:
            text = redact(" ".join(str(error).split()), _secrets(self._client)).rstrip(".")
        except Exception:  # noqa: BLE001  # an error of the learner's own may be of any make
            text = "it does not say why"
        text = f"{text[:_LONGEST]} [...]" if len(text) > _LONGEST else text
        return f"raised {type(error).__name__}: {text}"


def read(takes: str, answer: Any, client: Client | None) -> Any:
    """Return the answer as the kind that is asked for, a room as A3 gives it; Misfit when it is of
    another."""
    if takes == "list" and isinstance(answer, Set | Mapping):
        kind = "set" if isinstance(answer, Set) else "dict"
        raise Misfit(f"A {kind} has no order: hand in a list.")
    match takes:
        case "function" if callable(answer):
            return Function(answer, client)
        case "room" if isinstance(answer, str | UUID) and client is not None:
            try:
                return get_room(client, str(answer))
            except RoomNotFound:
                raise Misfit(
                    "The sandbox has no room of this number (404): hand in the room_id that A2 "
                    "answered, letter by letter, capitals too."
                ) from None
        case "text" if isinstance(answer, str | bytes):
            return answer if isinstance(answer, str) else answer.decode("latin-1")
        case "number" if type(answer) is int or (isinstance(answer, str) and answer.isdecimal()):
            return int(answer)
        case "list" | "set" if isinstance(answer, Iterable):
            if not isinstance(answer, str | bytes | Mapping):
                return list(answer)
        case "dict" if isinstance(answer, Mapping):
            return answer
    raise Misfit(f"{_ASKED[takes]}; this is of the type {type(answer).__name__}.")


def _secrets(client: Client | None) -> list[Secret]:
    if not issubclass(type(client), Client) or client is None:
        return []
    return [client.secret_key, *([client.token()] if client.authenticated else [])]
