"""The exercises of notebook 01: the service in pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..reading import in_order, room_of
from ..records import Exercise, Judged, no, yes

NOTEBOOK = "01-the-service"
_OPERATIONS = ("create", "users", "offline", "join", "lock", "import")


def _order(answer: Any, _: Any) -> Judged:
    listed = in_order(answer)
    if isinstance(listed, Judged):
        return listed
    names = [str(name).strip().upper() for name in listed]
    if names == ["A1", "A3", "A6"]:
        return yes("One login for both: a token is made once and serves until it is refused.")
    if "A1" not in names:
        return no("Before the first call with a token there is one that brings the token.")
    if names == ["A1", "A3", "A1", "A6"]:
        return no("The token is kept: the second function needs no login of its own.")
    if sorted(names) == ["A1", "A3", "A6"]:
        return no("The right three, in another order. client.calls has the oldest call first.")
    return no("Connect a second client, call both functions, and read its client.calls.")


def _raw(answer: Any, _: Any) -> Judged:
    if isinstance(answer, str) and answer.strip() == "602":
        answer = 602
    if isinstance(answer, bool) or not isinstance(answer, int):
        return no("The code is a number: the member ret of the JSON that came.")
    if answer == 602:
        return yes(
            "602, access_token incorrect: the token is looked at before everything else (assumed: "
            "the order is ours). The HTTP status was 200 all the same."
        )
    told = {
        200: "This is the HTTP status. The service says its own result in the body: read ret.",
        0: "0 would be success. Leave access_token out of the parameters altogether.",
        401: "401 is what a failed login (A1) answers. This call is room get (A3).",
        404: "404 is what a good token gets for an unknown room. Send no token at all.",
        407: "407, parameter error, would be sensible too. The sandbox says another: try it.",
        408: "408 means that path or method is unknown. The path of A3 is /rtc/room/get.",
    }
    return no(told.get(answer, "Another code came. Send it with requests and read ret."))


def _first_room(answer: Any, client: Any) -> Judged:
    room = room_of(answer, client)
    if isinstance(room, Judged):
        return room
    if room.topic != "My first room":
        return no("The room is there, but its topic is another: My first room, letter by letter.")
    if room.attendee_max is None:
        return no("The room has no cap: attendee_max is optional, and absent it stays absent.")
    if room.attendee_max != 5:
        return no(f"The room takes {room.attendee_max} people; five are asked for.")
    return yes("The sandbox has this room, its topic is right, and it takes five people.")


def _missing(answer: Any, _: Any) -> Judged:
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return no("Hand in a set or a list of words.")
    words = {str(word).strip().lower() for word in answer}
    if words == {"join", "lock"}:
        return yes(
            "People join with their own clients, and a moderator locks: the interface only shows "
            "what came of it, in A6 and in room_status."
        )
    if unknown := len(words - set(_OPERATIONS)):
        return no(f"{unknown} of them are none of the words to choose from.")
    if there := words - {"join", "lock"}:
        return no(f"The interface has a call for: {', '.join(sorted(there))}. See the table above.")
    return no(f"Yes, but not all: {len(words)} found, there are more.")


EXERCISES = (
    Exercise(
        "first-room", NOTEBOOK,
        "Create a room with the topic My first room that takes five people; hand in its number.",
        _first_room,
        """\
my_room = ck.create_room(client, "My first room", owner_id="me", attendee_max=5)
""",
        needs_client=True,
    ),
    Exercise(
        "order-of-calls", NOTEBOOK,
        "A client that has just been connected is asked for get_room and then for get_room_users. "
        "Which calls travel, in which order? A list of their names, such as ['B1', 'B2'].",
        _order,
        """\
room_id = ck.create_room(client, "For a second client", owner_id="me")
second = client.sandbox.connect()
ck.get_room(second, room_id)
ck.get_room_users(second, room_id)
my_order = [call.endpoint for call in second.calls]
""",
    ),
    Exercise(
        "no-token", NOTEBOOK,
        "Ask for a room (A3) with requests and without any token. Which result code comes?",
        _raw,
        """\
answer = web.get(client.base_url + "/rtc/room/get", params={"room_id": "1"}, timeout=10)
my_code = answer.json()["ret"]
""",
    ),
    Exercise(
        "no-such-call", NOTEBOOK,
        "create (a room), users (list them), offline (force one), join (a room), lock (a room), "
        "import (a camera): for which of these has the interface no call? A set of the words.",
        _missing,
        """\
my_words = {"join", "lock"}
""",
    ),
)  # fmt: skip
