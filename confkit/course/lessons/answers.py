"""Answers as they come, to try a learner's reading function on: exercise errors-read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..records import Judged, no, yes

PAGE = b"<html><head><title>502 Bad Gateway</title></head></html>"


class _Case(NamedTuple):
    """An answer, the code to read from it (None: it is none), and what is learnt from it."""

    what: str
    status: int
    body: bytes
    code: int | None
    lesson: str


_CASES = (
    _Case("success", 200, b'{"ret":0,"room_id":"7"}', 0, "0 is a code too, and not None"),
    _Case("a plain 404", 200, b'{"ret":404,"msg":"room not found"}', 404,
          "the code stands in ret, as a number"),
    _Case("a code that came as text", 200, b'{"ret":"404","msg":"room not found"}', 404,
          "numbers may arrive quoted: make an int of it"),
    _Case("success that came as text", 200, b'{"ret":"0"}', 0, "numbers may arrive quoted"),
    _Case("an older answer of B", 200, b'{"result":426,"err":"joining the room failed"}', 426,
          "older deployments call the field result"),
    _Case("a code with HTTP status 500", 500, b'{"ret":700,"msg":"database error"}', 700,
          "where there is a code it decides, whatever the HTTP status is"),
    _Case("a code of no table", 200, b'{"ret":31337}', 31337, "an unknown code stays as it came"),
    _Case("a proxy's page", 502, PAGE, None, "HTML is no answer of the interface"),
    _Case("a page with HTTP status 200", 200, PAGE, None,
          "HTTP status 200 does not make an answer of it"),
    _Case("JSON that is cut off", 200, b'{"ret":0,"user_list":[{"user_na', None,
          "half an answer is none, whatever stands in the half that came"),
    _Case("nothing", 200, b"", None, "an empty body is no answer"),
    _Case("JSON without a code", 200, b'{"user_list":[]}', None,
          "without a result code nothing is known, least of all that the room is empty"),
    _Case("a JSON array", 200, b"[]", None, "an answer is a JSON object"),
    _Case("JSON's null", 200, b"null", None, "an answer is a JSON object"),
)  # fmt: skip


def read(answer: Any, _: Any) -> Judged:
    """Whether a function reads every answer right, and which is the first that it does not."""
    if not callable(answer):
        return no("A function is asked for: hand it in by its name, without brackets.")
    wrong = [(case, found) for case in _CASES if (found := _wrong(answer, case))]
    if not wrong:
        return yes(f"All {len(_CASES)} answers are read right, those included that are none.")
    case, found = wrong[0]
    return no(
        f"{len(_CASES) - len(wrong)} of {len(_CASES)} are read right. The first that is not, "
        f"{case.what}: {found}; {case.lesson}."
    )


def _wrong(function: Callable[[int, bytes], object], case: _Case) -> str:
    """What is wrong with what the function makes of an answer; nothing when it is right."""
    try:
        found = function(case.status, case.body)
    except Exception as error:  # noqa: BLE001  # that it raises is what is told
        return f"your function raised {type(error).__name__}"
    if case.code is None:
        if found is None:
            return ""
        return "it was taken for success" if found == 0 else "it is no answer, so None is right"
    if isinstance(found, int) and not isinstance(found, bool) and found == case.code:
        return ""
    if found is None:
        return "it was taken for no answer"
    return f"{case.code} as an int is right"
