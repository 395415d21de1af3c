"""What came for a question, in a form to compare and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import ApiError, TransportError

if TYPE_CHECKING:
    from ..attempt import Attempt


class Unasked(Exception):
    """A question that was not sent; the text says why."""


class Came(NamedTuple):
    """What tells one answer from another: HTTP status and result code."""

    status: int | None
    ret: int | str | None


def came(asked: Attempt) -> Came:
    """Status and code of what came; both are None where no answer did."""
    return Came(asked.call.status, asked.call.ret)


def told(asked: Attempt) -> str:
    """What came, in words: the code with its meaning and the HTTP status, or what else."""
    if asked.members is not None:
        return f"0 (success), HTTP {asked.call.status}"
    error = asked.error
    if isinstance(error, ApiError):
        return f"{error.ret} ({error.meaning}), HTTP {asked.call.status}"
    plain = error.said if error else ""
    return f"no answer{'' if isinstance(error, TransportError) else ' of the interface'}: {plain}"
