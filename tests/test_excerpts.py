"""What is shown of an answer: enough to see what is wrong with it, and nothing secret."""

import json
import random

import pytest

from confkit.excerpts import excerpt

ROOM = {
    "ret": 0, "id": 2, "room_id": "1002", "topic": "Weekly sync", "room_status": 1,
    "owner_id": "ops", "host_password": "Qu8jzPde0Ig", "attendee_max": "25", "room_mode": 1,
}  # fmt: skip
PASSWORD = ROOM["host_password"]


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ('{"ret": 602, "msg": "no such room",}', '{"ret": 602, "msg": "no such room",}'),
        ("{'ret': 0, 'topic': 'x'}", "{'ret': 0, 'topic': '***'}"),
        ('{"ret": 0, "topic": "Wee', '{"ret": 0, "topic": "***'),
        ('{"ret":0}<html>Bad</html>', '{"ret":0}<html>Bad</html>'),
        ('{"ret":0}{"ret":0,"host_passwo', '{"ret":0}{"ret":0,"***'),
        ("<html>502 Bad Gateway</html>", "<html>502 Bad Gateway</html>"),
        ('\ufeff {"ret": 0}', '  {"ret": 0}'),
        ('{"ret": %s}' % ("9" * 4400), '{"ret": ' + "9" * 112),
        ("[" * 5000, "[" * 120),
        ("", ""),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_seen(answer, shown):
    """JSON shows up to where it breaks, from there on the interface's own words; other text shows
    as it is."""
    assert excerpt(answer, ()) == shown
    assert excerpt(answer.encode(), ()) == shown


def test_an_answer_that_was_torn_anywhere_shows_no_password():
    """However the bytes before a password were lost, doubled or changed, so that its name may be no
    name any more, it does not show."""
    chance = random.Random(7)
    whole = json.dumps(ROOM)
    value = whole.index(PASSWORD)
    shown = 0
    for _ in range(3000):
        at = chance.randrange(whole.index('"host_password') - 20, value)
        to = min(value, at + chance.randrange(1, 30))
        torn = (
            whole[:at] + chance.choice(["", "om", whole[at - 9 : at], '"', "}", "�"]) + whole[to:]
        )
        try:
            json.loads(torn)
        except ValueError:
            told = excerpt(torn, (), 2000)
            assert PASSWORD not in told, torn
            shown += told.startswith('{"ret": 0, "id": 2, "room_id": "1002"')
    assert shown > 1000


def test_a_secret_in_two_pieces_shows_none_of_them():
    """One with a quote in it that a service says back as it is tears the JSON, and itself."""
    told = excerpt('{"ret": 500, "msg": "token Qu8jz"Pde0Ig?"}', ('Qu8jz"Pde0Ig',))
    assert "Qu8jz" not in told
    assert "Pde0Ig" not in told
