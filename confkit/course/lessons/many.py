"""The exercises of notebook 07: what many rooms cost, and what their numbers may say."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...many.sweeps import sweep
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "07-many-rooms"
_DRAWS = 400  # pauses drawn for each attempt
_GROWTH = 1.2  # from one attempt to the next: more than chance does to the middle of so many
_LONGEST = 120.0  # seconds: longer ones are no pause any more
_WAITED = 0.05  # seconds that a function takes which only reckons, at the very most


def _cost(answer: Any, _: Any) -> Judged:
    if isinstance(answer, bool) or not isinstance(answer, int):
        return no("A whole number of requests is asked for.")
    if answer == 10_002:
        return yes("Exactly: 5,000 times A3, 5,000 times A6, B3 once, and A1 once for the token.")
    return no(_COSTS.get(answer, "Count A3 and A6 for each room, then what is asked once only."))


_COSTS = {
    10_001: "One is missing that is asked once: the list of all devices (B3), or the login (A1).",
    10_000: "These are the calls for the rooms. Two more are asked once: A1, and B3.",
    5_000: "Each room takes two calls: A3 for its fields, A6 for its users.",
    5_001: "Each room takes two calls: A3 for its fields, A6 for its users.",
    5_002: "Each room takes two calls: A3 for its fields, A6 for its users.",
    15_000: "B3 without a room gives the devices of all rooms: once, not for each room.",
    15_001: "B3 without a room gives the devices of all rooms: once, not for each room.",
    15_002: "B3 without a room gives the devices of all rooms: once, not for each room.",
    20_000: "One token serves all calls: a login for each room is a storm of logins.",
    15_003: "B3 without a room gives the devices of all rooms: once, not for each room.",
}


def _full(answer: Any, client: Any) -> Judged:
    if isinstance(answer, str | Mapping):
        return no("A list of room numbers is asked for.")
    given = list(answer)
    if not all(isinstance(one, str) for one in given):
        return no("Room numbers are texts: as numbers they lose their leading zeros.")
    sandbox = client.sandbox
    now = sweep(client, sandbox.room_ids(), progress=False)
    frame = now.frame().set_index("room_id")
    users, caps = frame["users"], frame["attendee_max"]
    right = {str(one) for one in frame.index[(users >= caps).fillna(False) & (caps > 0)]}
    if not right:
        return no("No room is full at the moment. Run the notebook from its top, then ask again.")
    found = set(given)
    if found == right:
        return yes(f"All {len(right)} of them, and no other.")
    if unknown := found - set(frame.index):
        return no(f"{len(unknown)} of these are no rooms of this sandbox.")
    wrong, missing = found - right, right - found
    uncapped = set(frame.index[caps.isna()])
    if wrong and wrong <= uncapped:
        return no("Rooms without an attendee_max are among them: they have no cap, so they are "
                  "never full.")  # fmt: skip
    if wrong and (users.loc[sorted(wrong)] < caps.loc[sorted(wrong)]).any():
        return no(f"{len(wrong)} of these have a free place now. Were they full in the samples? "
                  "Now is asked for.")  # fmt: skip
    return no(f"{len(wrong)} of these are not full, and {len(missing)} that are full are missing.")


def _report(answer: Any, _: Any) -> Judged:
    if not callable(answer):
        return no("A function is asked for: hand it in by its name, without brackets.")
    for read, right, lesson in _READINGS:
        try:
            found = answer(dict(read))
        except Exception as error:  # noqa: BLE001  # that it raises is what is told
            return no(f"Your function raised {type(error).__name__}. {lesson}")
        counts = tuple(found.values()) if isinstance(found, Mapping) else tuple(found)
        if counts != right:
            return no(_wrong_counts(counts, right, lesson))
    return yes("In use, empty, not read: three numbers, and their sum is the rooms that you asked.")


_READINGS: tuple[tuple[dict[str, int | None], tuple[int, int, int], str], ...] = (
    ({"a": 3, "b": 0, "c": 1}, (2, 1, 0), "All three rooms were read here."),
    ({"a": 3, "b": 0, "c": None, "d": None}, (1, 1, 2),
     "A room that was not read (None) is neither in use nor empty."),
    ({"a": None}, (0, 0, 1), "Here no room was read."),
    ({}, (0, 0, 0), "Here no room was asked for."),
)  # fmt: skip


def _wrong_counts(counts: tuple[Any, ...], right: tuple[int, int, int], lesson: str) -> str:
    if len(counts) != len(right):
        return "Three numbers are asked for: rooms in use, rooms empty, rooms not read."
    in_use, empty, unread = right
    if unread and counts[1] == empty + unread:
        return "Rooms that were not read were counted as empty. A failed call is no empty room."
    if unread and counts[0] == in_use + unread:
        return "Rooms that were not read were counted as in use: nothing is known of them."
    if sorted(map(str, counts)) == sorted(map(str, right)):
        return "The numbers are right and stand in another order: in use, empty, not read."
    return f"The three numbers are not right. {lesson}"


def _pause(answer: Any, _: Any) -> Judged:
    if not callable(answer):
        return no("A function is asked for: hand it in by its name, without brackets.")
    began = time.monotonic()
    if not _is_pause(answer(1)):
        return no("It gives seconds to wait: a number from 0 on.")
    if time.monotonic() - began > _WAITED:
        return no("It waits by itself. Let it give the seconds, and the caller wait: then a test "
                  "needs no time.")  # fmt: skip
    drawn = {attempt: _drawn(answer, attempt) for attempt in (1, 2, 3, 30)}
    if not all(_is_pause(seconds) for pauses in drawn.values() for seconds in pauses):
        return no("It has to give a number of seconds from 0 on, after each of 30 attempts.")
    if any(len(set(pauses)) < 3 for pauses in (drawn[1], drawn[2])):
        return no("There is no chance in it: a hundred calls that failed together come back "
                  "together.")  # fmt: skip
    middle = {attempt: statistics.median(pauses) for attempt, pauses in drawn.items()}
    if middle[2] < _GROWTH * middle[1] or middle[3] < _GROWTH * middle[2]:
        return no("It does not grow: after each further failure the service needs more time.")
    if max(drawn[30]) > _LONGEST:
        return no(f"It has no bound: after 30 failures it is over {_LONGEST:.0f} seconds.")
    if middle[1] < 0.01:
        return no("The first pause is next to nothing: that is no pause for a service in trouble.")
    return yes("It grows, it has a part by chance, and it has a bound.")


def _drawn(function: Callable[[int], Any], attempt: int) -> list[Any]:
    return [function(attempt) for _ in range(_DRAWS)]


def _is_pause(seconds: object) -> bool:
    return (
        isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and math.isfinite(seconds)
        and seconds >= 0
    )


EXERCISES = (
    Exercise(
        "many-cost", NOTEBOOK,
        "How many requests does it take to learn the fields, the users and the devices of 5,000 "
        "rooms once, when no call fails and no token is held yet?",
        _cost,
        """\
my_requests = 5000 * 2 + 1 + 1  # A3 and A6 for each room, then B3 and A1 once
""",
    ),
    Exercise(
        "many-full", NOTEBOOK,
        "The numbers of all rooms of this sandbox that are full now, as a list.",
        _full,
        """\
now = ck.occupancy_frame(ck.sweep(client, client.sandbox.room_ids(), progress=False))
my_full = list(now[now.users >= now.attendee_max].room_id)
""",
        needs_client=True,
    ),
    Exercise(
        "many-report", NOTEBOOK,
        "A function of what was read, a dict of room number to number of users (None where the "
        "call failed), that gives three numbers: rooms in use, rooms empty, rooms not read.",
        _report,
        """\
def my_report(read):
    known = [users for users in read.values() if users is not None]
    in_use = sum(users > 0 for users in known)
    return in_use, len(known) - in_use, len(read) - len(known)
""",
    ),
    Exercise(
        "many-pause", NOTEBOOK,
        "A function of the number of failed attempts (1, 2, 3, ...) that gives the seconds to wait "
        "before the next one. The check calls it often, and it had better not wait itself.",
        _pause,
        """\
import random

def my_pause(attempt):
    return min(0.2 * 2 ** (attempt - 1), 30) * random.uniform(0.5, 1.5)
""",
    ),
)  # fmt: skip
