"""Clients that make one mistake each: the row that shows it is wrong, and says which it was."""

import json
import sys
from pathlib import Path

import pytest

from confkit import course

CLIENT = Path(__file__).parent / "own_client.py"


def checked(mistake, *only):
    command = [sys.executable, "-S", str(CLIENT), mistake]
    return course.check_client(command, only=only)


@pytest.mark.parametrize(
    ("mistake", "row", "why"),
    [
        ("raw", "A1", "of the raw bytes, this service wants the lowercase hex text"),
        ("raw", "sign", "of the raw bytes, this service wants the lowercase hex text"),
        ("digest for token", "A3", "this is the digest of A1, not the access token"),
        ("encoded twice", "A3", "it is percent-encoded twice"),
        ("plus not encoded", "A3", "a plus sign was not percent-encoded"),
        ("usual token name", "A3", "A3 spells it access_tocken, not access_token"),
        ("slash at the end", "A3", "A 408"),
        ("numbers as text", "A3", 'attendee_max is the text "25", not the number 25'),
        ("room number", "A3", 'room_id is the number 123, not the text "00123"'),
        ("empty for null", "A3", 'host_password is the text "", not null'),
        ("deletes nothing", "A4", "it reports success, and no request of A4"),
        ("access_token in B1", "B1", "B1 spells it accessToken, not access_token"),
        ("GET for all", "B1", "B 408"),
        ("always in the query", "B1", "not in the query string"),
        ("only ret", "B1", "result_field=result"),
        ("plus not encoded", "B1", "user_name lost its plus sign"),
        ("options as text", "options", "options is not a JSON object"),
        ("login beside options", "options", "the camera was not opened"),
        ("accessToken in B2", "B2", "B2 spells it access_token, not accessToken"),
        ("access_token in B2", "B2", "B2 spells it accessToken, not access_token"),
        ("camelCase", "B3", 'items[0].room_id is missing in what it printed: ["roomId"'),
        ("tries three times", "401-A", "it tried the wrong key 3 times Accounts may lock"),
        ("one table", "401-B", "there it means wrong parameters"),
        ("no words", "404", "ret is 404 and there is no error"),
        ("status 1", "404", "it ended with exit status 1"),
        ("empty for 404", "404", "it reports 0 users where the call failed: the service answered"),
        (
            "602 not renewed",
            "602",
            "it asked once where the first answer was 602 A token may expire at any time",
        ),
        ("same token again", "602", "with the token that was refused"),
        ("five times", "602", "it asked 5 times while each answer was 602"),
        ("empty for a failure", "html", "it reports 0 users where the call failed: no answer"),
        ("traceback", "html", "it ended with exit status 1, and says"),
        ("token alone in the log", "html", "a token or digest stands in its standard error"),
        ("digest in the log", "A3", "a token or digest stands in its standard error"),
        ("token in the log", "html", "a token or digest stands in its standard error"),
        ("secret in the log", "dropped", "the secret key stands in its standard error"),
        ("waits too long", "timeout", "it waited for more than 4 seconds beyond CONFKIT_TIMEOUT"),
        ("crashes when late", "timeout", "it ended with exit status 3"),
        ("form type for all", "B1", "B1 602: the body is not of the type application/json"),
        ("sends what is absent", "unicode", "A2: attendee_max came empty Send what is given"),
        ("sends what is absent", "B1", "B1: options came empty"),
        ("byte order mark", "A1", "a byte order mark before it is wrong"),
        ("ret as it came", "quoted", 'ret is "0"; it is a number without quotes'),
        ("not encoded", "unicode", "UnicodeEncodeError"),
        ("latin-1", "unicode", "topic is not UTF-8"),
        ("question marks", "unicode", "topic lost its letters beyond ASCII"),
        ("counts 149 as too long", "topic", "it reports ret 407"),
        ("creates again", "lost", "it sent the create 2 times, as the answer was lost"),
        ("does not look", "lost", "get_room of the room_extend_id says whether"),
        ("chatters", "A1", 'it printed 2 lines, the first is "logging in ..."'),
        ("utf-16", "A1", "no JSON object in UTF-8"),
    ],
)
def test_a_mistake_is_named(mistake, row, why):
    """The row in which a mistake shows is wrong, and the reason names the mistake."""
    (found,) = checked(mistake, row)
    assert found.verdict == "FAIL"
    assert why in f"{found.found} {found.advice}"
    assert "demo_secret" not in str(found)


def test_what_a_client_does_not_know_is_missing_and_not_wrong():
    """Exit status 64 makes a row UNKNOWN; the exit status of the check is then 2."""
    found = checked("no get_mcu", "A1", "A5", "416")
    assert [check.verdict for check in found] == ["PASS", "UNKNOWN", "UNKNOWN"]
    assert found[2].found == "it does not know get_mcu"
    assert found.exit_status == 2


@pytest.mark.parametrize("ret", [0, 404, 602, None])
def test_a_client_that_sends_nothing_has_no_row_right(ret):
    """One that prints the same answer to everything passes no row by chance."""
    line = json.dumps({"ret": ret, "error": "authentication failed, wrong parameters"})
    found = course.check_client(["printf", line.replace("%", "%%"), "%.0s"])
    assert {check.verdict for check in found} == {"FAIL"}


def test_ascii_is_as_good_as_utf_8():
    """JSON with escapes for what is beyond ASCII is right, too."""
    assert checked("ascii", "unicode").ok
