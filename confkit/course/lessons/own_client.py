"""The exercises of notebook 08: a client of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...errors import ConfigError
from ..records import Exercise, Judged, no, yes

if TYPE_CHECKING:
    from ...sandbox.service.signatures import Kind

NOTEBOOK = "08-your-own-client"
_LEFT_OUT = ("A4", "A7", "B2")
_REPORTS = {"404": 404, "html": None, "lost": None, "found": 0, "602 twice": 602, "401": 401}


def _signature(answer: Any, _: Any) -> Judged:
    from ..clients.vectors import all_vectors

    if not callable(answer):
        return no("Hand in a function of secret_key, message, hash and form, not what it gives.")
    vectors = all_vectors()
    for number, vector in enumerate(vectors):
        messages: tuple[tuple[Kind, str], ...] = (
            ("digest", vector.access_key), ("token", f"{vector.random}:{vector.key}"),
        )  # fmt: skip
        for name, message in messages:
            made = answer(vector.secret_key, message, vector.hash, vector.signature)
            if wrong := vector.mistake(name, made):
                return no(f"Right in {number} of {len(vectors)} vectors, then: {wrong}.")
    return yes(
        f"Digest and token are right in all {len(vectors)} vectors. In another language, do the "
        "same before you send the first request: confkit course vectors prints them."
    )


def _client(answer: Any, _: Any) -> Judged:
    from ..clients.checking import check_client

    words = isinstance(answer, list | tuple) and all(isinstance(word, str) for word in answer)
    if not words or not answer:
        return no("Hand in the command as a list of words, such as ['sh', 'client.sh'].")
    try:
        found = check_client(answer, only=("A1", *_LEFT_OUT))
    except ConfigError:
        return no(
            "This command cannot be started. Its first word is a program, as it is typed in a "
            "terminal, and each argument stands by itself: ['java', '-cp', 'folder', 'Client']."
        )
    if found.ok:
        return yes(
            "A1, A4, A7 and B2 are right in three services. For all rows, in a terminal: "
            "confkit course check -- and then your command."
        )
    first = next(check for check in found if check.verdict != "PASS")
    number = sum(check.verdict == "PASS" for check in found)
    return no(f"{number} of {len(found)} rows are right. {first.check}: {first.found}.")


def _reports(answer: Any, _: Any) -> Judged:
    if not isinstance(answer, Mapping) or set(map(str, answer)) != set(_REPORTS):
        return no(f"Hand in a dict of these names: {', '.join(_REPORTS)}.")
    given = {str(name): value for name, value in answer.items()}
    told = {
        "404": "An unknown room is the service's own answer: its code.",
        "html": "Nothing of the interface came: ret is null, in Python None.",
        "lost": "Without a room_extend_id nobody can tell whether the room is there: null.",
        "found": "The room is there, so the create did succeed: 0.",
        "602 twice": "A token that is made anew and refused too is the service's answer.",
        "401": "A login that is refused is the service's answer, and is not tried again.",
    }
    for name, right in _REPORTS.items():
        value = given[name]
        if isinstance(value, str) and value.strip() == str(right):
            return no(f"{name}: this is the right code, as a text: hand it in as a number.")
        if value != right or isinstance(value, bool):
            return no(f"{name}: {told[name]}")
    return yes("And none of them is an empty room: that would be ret 0 and an empty list.")


EXERCISES = (
    Exercise(
        "signature",
        NOTEBOOK,
        "A function of secret_key, message, hash and form that makes every signature of vectors.",
        _signature,
        """\
import base64
import hmac


def my_signature(secret_key, message, hash, form):
    mac = hmac.new(secret_key.encode(), message.encode(), hash)
    return base64.b64encode(mac.hexdigest().encode() if form == "hex" else mac.digest()).decode()
""",
    ),
    Exercise(
        "own-client",
        NOTEBOOK,
        "The command of a client, in any language, that knows A4, A7 and B2 too. These and A1 "
        "alone are tried.",
        _client,
        """\
whole = course.skeleton("sh").replace(
    "# Your turn: A4, path /rtc/room/del",
    'delete_room) ask A GET /rtc/room/del "$CONFKIT_TOKEN_PARAMETER" "$@" ;;',
).replace(
    "# Your turn: A7, path /rtc/force_offline_mcu",
    'force_offline) ask A GET /rtc/force_offline_mcu "$CONFKIT_TOKEN_PARAMETER" "$@" ;;',
).replace(
    "# Your turn: B2, path",
    'remove_device) ask B GET "$outgoing_path/destroyOutgoingUser" '
    '"$CONFKIT_REMOVE_TOKEN_PARAMETER" "$@" ;; #',
)
_ = script.write_text(whole, encoding="utf-8")
my_client = ["sh", str(script)]
""",
    ),
    Exercise(
        "reports",
        NOTEBOOK,
        "What ret a client prints for six things that happen to a call.",
        _reports,
        """\
my_reports = {"404": 404, "html": None, "lost": None, "found": 0, "602 twice": 602, "401": 401}
""",
    ),
)
