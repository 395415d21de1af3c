"""A function that a learner hands in: it is called for them, and what came of the calls is told."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..secret import mask
from .records import Judged, no

_NONE = "It gave None: is a `return` missing?"
_LONGEST = 300  # characters of an error's own text


@dataclass(slots=True)
class Calls:
    """What came of the calls so far: how many there were, of which type the last one was that gave
    something, what the first one and the last one raised, and why it cannot be called so."""

    made: int = 0
    gave: str = ""
    first: BaseException | None = field(default=None, repr=False)
    last: BaseException | None = field(default=None, repr=False)
    unfit: str = ""


def handed(answer: object) -> tuple[Any, Calls | None]:
    """The answer, and where it can be called: a function that calls it, and what comes of that."""
    if not callable(answer):
        return answer, None
    calls = Calls()

    def called(*arguments: Any) -> Any:
        calls.made += 1
        calls.last = None
        try:
            found = answer(*arguments)
        except (Exception, SystemExit) as error:
            if isinstance(error, TypeError):
                calls.unfit = _unfit(answer, arguments)
            calls.last = error
            if calls.made == 1:
                calls.first = error
            raise
        if found is not None:
            calls.gave = type(found).__name__
        return found

    return called, calls


def failed(answer: object, calls: Calls | None, error: BaseException, client: Any) -> Judged:
    """What is told where a judge ended in an error, which is not about the service.

    The text of an error that the learner's function raised is masked; that of another could quote
    the answer, and is not told.
    """
    if calls is not None and calls.made:
        if calls.unfit:
            return no(calls.unfit)
        if error is calls.last:
            return no(f"Your function {_raised(error, client)}.")
        if not calls.gave:
            return no(f"{_NONE} The question says what it has to give.")
        return no(f"Your function gave something of the type {calls.gave}, which cannot be read. "
                  "The question says what it has to give.")  # fmt: skip
    if isinstance(error, TypeError) and not hasattr(type(answer), "__iter__"):
        return no(f"Hand in a list; this is of the type {type(answer).__name__}.")
    return no(
        f"This cannot be read as an answer: it is of the type {type(answer).__name__} and led to a "
        f"{type(error).__name__}. The question says what is asked for."
    )


def completed(judged: Judged, calls: Calls | None, client: Any) -> Judged:
    """The same finding; where the function could not do it at all, with that as its cause."""
    if judged.right or calls is None or not calls.made:
        return judged
    if calls.unfit:
        return no(calls.unfit)
    if calls.first is not None and type(calls.first).__name__ not in judged.told:
        return no(f"{judged.told} Your function {_raised(calls.first, client)}.")
    if not calls.gave and calls.last is None:
        return no(f"{_NONE} {judged.told}")
    return judged


def _unfit(function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """Why it cannot be called with these arguments; empty where it can, or where that is not known,
    as for some functions that are written in C."""
    try:
        signature = inspect.signature(function)
    except Exception:  # noqa: BLE001  # an object of the learner's may raise anything
        return ""
    try:
        signature.bind(*given)
    except TypeError:
        return _takes(signature, len(given))
    return ""


def _takes(signature: inspect.Signature, given: int) -> str:
    kinds = inspect.Parameter
    places = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    parameters = signature.parameters.values()
    if any(one.kind is kinds.KEYWORD_ONLY and one.default is kinds.empty for one in parameters):
        return "Your function has an argument that is given by its name only: leave out the *."
    most = sum(one.kind in places for one in parameters)
    least = sum(one.kind in places and one.default is kinds.empty for one in parameters)
    if any(one.kind is kinds.VAR_POSITIONAL for one in parameters):
        takes = f"at least {_arguments(least)}"
    else:
        takes = _arguments(most) if least == most else f"{least} to {_arguments(most)}"
    return (
        f"Your function takes {takes}, and is called with {given}: the question says of what it "
        "is a function."
    )


def _arguments(number: int) -> str:
    return f"{number or 'no'} argument{'s' * (number != 1)}"


def _raised(error: BaseException, client: Any) -> str:
    """What it raised, with the error's own text, in which no secret of this client shows."""
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  # an error of the learner's own may be of any make
        text = ""
    text = mask(text, *_secrets(client)).rstrip(".")
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} [...]"
    return f"raised {name}: {text}" if text else f"raised {name}"


def _secrets(client: Any) -> list[str]:
    """The secret key of a client and the token that it holds; none where this is no client."""
    from ..client import Client

    if not issubclass(type(client), Client):
        return []
    return [client.secret_key, *([client.token()] if client.authenticated else [])]
