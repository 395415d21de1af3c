"""Judges of what many rooms cost, and what their numbers may say."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

from ...client import Client
from ...many.sweeps import sweep
from ..judged import Function, Hints

_DRAWS = 400  # pauses drawn for each attempt
_GROWTH = 1.2  # from one attempt to the next: more than chance does to the middle of so many
_LONGEST = 120.0  # seconds: longer ones are no pause any more
_WAITED = 0.05  # seconds that a function takes which only reckons, at the very most


def full(given: list[Any], client: Client) -> Hints:
    """They are the rooms of the sandbox that are full now."""
    if not all(isinstance(one, str) for one in given):
        yield "Room numbers are texts: as numbers they lose their leading zeros."
    frame = sweep(client, client.sandbox.room_ids(), progress=False).frame().set_index("room_id")
    users, caps = frame["users"], frame["attendee_max"]
    right = {str(one) for one in frame.index[(users >= caps).fillna(False) & (caps > 0)]}
    if not right:
        yield "No room is full at the moment. Run the notebook from its top, then ask again."
    wrong, missed = set(given) - right, right - set(given)
    if unknown := wrong - set(frame.index):
        yield f"{len(unknown)} of these are no rooms of this sandbox."
    if wrong and wrong <= set(frame.index[caps.isna()]):
        yield "Rooms without an attendee_max are among them: having no cap, they are never full."
    if (users.loc[sorted(wrong)] < caps.loc[sorted(wrong)]).any():
        yield f"{len(wrong)} of these have a free place now. Were they full in the samples?"
    if wrong or missed:
        yield f"{len(wrong)} of these are not full, and {len(missed)} that are full are missing."
    return f"All {len(right)} of them, and no other."


def pause(function: Function, _: Any) -> Hints:
    """Its pauses grow, differ by chance, and have a bound."""
    if not _is_pause(function(1)):
        yield "It gives seconds to wait: a number from 0 on."
    if min(_took(function) for _ in range(3)) > _WAITED:  # a busy machine is no wait
        yield "It waits by itself. Let it give the seconds, and the caller wait."
    drawn = {at: [function(at) for _ in range(_DRAWS)] for at in (1, 2, 3, 30)}
    if not all(_is_pause(seconds) for pauses in drawn.values() for seconds in pauses):
        yield "It has to give a number of seconds from 0 on, after each of 30 attempts."
    if any(len(set(pauses)) < 3 for pauses in (drawn[1], drawn[2])):
        yield "There is no chance in it: calls that failed together come back together."
    first, second, third, _last = map(statistics.median, drawn.values())
    if second < _GROWTH * first or third < _GROWTH * second:
        yield "It does not grow: after each further failure the service needs more time."
    if max(drawn[30]) > _LONGEST:
        yield f"It has no bound: after 30 failures it is over {_LONGEST:.0f} seconds."
    if first < 0.01:
        yield "The first pause is next to nothing: that is no pause for a service in trouble."
    return "It grows, it has a part by chance, and it has a bound."


def _took(function: Function) -> float:
    began = time.monotonic()
    function(1)
    return time.monotonic() - began


def _is_pause(seconds: Any) -> bool:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return number and math.isfinite(seconds) and seconds >= 0
