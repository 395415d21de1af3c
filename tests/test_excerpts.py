"""What is shown of an answer: enough to see what is wrong with it, and nothing secret."""

import json
import random

import pytest

from confkit.secret import excerpt

PASSWORD = "Qu8jzPde0Ig"
ROOM = {"ret": 0, "id": 2, "room_id": "1002", "topic": "Weekly sync", "owner_id": "ops"}
ROOM |= {"host_password": PASSWORD, "attendee_max": "25", "room_mode": 1}
WHOLE = json.dumps(ROOM)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        *((answer, answer) for answer in (
            '{"ret": 602, "msg": "no such room"}', '{"ret": 602, "msg": "no such room",}',
            "{'ret': 0, 'topic': 'x'}", '{"ret": 0, "topic": "Wee', '{"ret":0}<html>Bad</html>',
            'cb({"ret":404,"msg":"room not found"})', 'cb({"ret":404,"msg":"room not found",})',
            'cb({"ret":404,"msg":"room not found"}', '{"ret":0}{"ret":0,"host_passwo',
            "<html>502 Bad Gateway</html>", "[ERROR] 502: upstream refused", "")),
        ('$.a_1({"host_password":"x9"});\n', '$.a_1({"host_password":"***"}); '),
        ('{"ret":0}{"ret":0,"host_password":"x9"}', '{"ret":0}{"ret":0,"host_password":"***"}'),
        ('{"ret":0}\nWarning: connect failed', '{"ret":0} Warning: connect failed'),
        ('{"ret": 0, "host_password": "Qu8jz', '{"ret": 0, "host_password": "***'),
        ('\ufeff {"ret": 0}', '  {"ret": 0}'),
        ('{"ret": %s}' % ("9" * 4400), '{"ret": ' + "9" * 112),
        ("[" * 5000, "[" * 120),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_seen(answer, shown):
    """An answer shows as it is, whole or cut off, on one line, without its passwords."""
    assert excerpt(answer.encode(), ()) == shown


def test_an_answer_that_is_cut_anywhere_shows_no_part_of_a_password():
    """Wherever its bytes end, inside the password too, with more JSON or a page around it; also in
    another encoding."""
    for before in ("", "callback(", "49\r\n", "<br />", '{"ret":0}'):
        for end in range(WHOLE.index(PASSWORD) + 1, len(WHOLE)):
            for behind in ("", "\r\n0\r\n", "<html>", "\ufffd"):
                told = excerpt((before + WHOLE[:end] + behind).encode(), (), 2000)
                assert "Weekly sync" in told
                assert PASSWORD[:2] not in told, (before, end, behind)
    for letters in ("utf-16", "utf-16-le", "utf-32-be", "utf-8-sig"):
        told = excerpt(WHOLE.encode(letters), (), 2000)
        assert "Weekly sync" in told
        assert PASSWORD not in told.replace(" ", "")


def test_an_answer_that_was_torn_anywhere_shows_no_known_secret():
    """However its bytes around it were lost, doubled or changed, names of passwords too, a value
    that the client knows does not show."""
    chance, shown = random.Random(7), 0
    for _ in range(2000):
        torn = WHOLE
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(torn))
            lost = ["", "om", torn[max(0, at - 9) : at], '"', "}", "\ufffd", "\r\n2b\r\n"]
            torn = torn[:at] + chance.choice(lost) + torn[at + chance.randrange(20) :]
        told = excerpt(torn.encode(), (PASSWORD,), 2000)
        assert PASSWORD not in told, torn
        shown += "room_id" in told
    assert shown > 1000


def test_of_a_long_answer_the_beginning_shows_beside_the_secrets_of_a_call():
    """Nothing was torn but by us: token, digest and key are hidden in it, and take nothing else of
    what is shown; one that is torn by a quote in it shows none of its pieces."""
    usual = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="
    for token in (usual, "eyJh" + "dG9r" * 150):  # the second as long as a JWT
        body = json.dumps({"ret": 500, "said": token, "message": "NullPointer " * 2000})
        for size in (120, 2000):
            told = excerpt(body.encode(), (token, PASSWORD), size)
            assert told == body.replace(token, "***")[:size]
    torn = excerpt(b'{"ret": 500, "msg": "token Qu8jz"Pde0Ig?"}', ('Qu8jz"Pde0Ig',))
    assert "Qu8jz" not in torn
    assert "Pde0Ig" not in torn


@pytest.mark.parametrize(("length", "size"), [(30, 120), (56, 2000), (172, 120)])
def test_a_secret_quoted_again_and_again_is_hidden_each_time(length, size):
    """However often: where the part that is looked at ends inside a secret, none of it shows."""
    secret = ("Secret" + "0123456789" * 20)[:length]
    for repeats in (1, 24, 900):
        for more in range(0, length, 7):
            shown = excerpt(b"x" * more + repeats * secret.encode(), (secret,), size)
            assert not set(secret) & set(shown)
