"""explain: both tables of section 7 and the codes seen in the field, each with its next step."""

import pytest

import confkit as ck
from tests.codes import EVERY, FIELD, SPECIFIED


def shown(code):
    """The text on one line."""
    return " ".join(str(code).split())


@pytest.mark.parametrize(("interface", "ret"), EVERY)
def test_each_code_has_its_meaning_and_a_next_step(interface, ret):
    """The specification's meaning word for word, and is said to be specified, that of other
    deployments to be seen there; the advice is in sentences."""
    code = ck.explain(ret, interface)
    if row := SPECIFIED.get((interface, ret)):
        assert code.sure == "specified"
        assert code.meaning == row[0] or ret == 416  # which has another meaning elsewhere
    elif ret in FIELD:
        assert FIELD[ret].lower() in code.meaning.lower()
        assert (code.sure, code) == ("seen", ck.explain(ret, "A"))
        assert "(seen in other deployments)" in str(code)
    assert code.advice.endswith(".")
    assert len(code.advice) > 20
    for text in (f"{ret}", code.meaning, code.advice):
        assert text in shown(code)


A_READ, A_CHANGE = "A read may be sent again", "A change may have happened: look before you"
# What is asked for, and what the explanation says, and does not say.
SAYS = [
    ((401,), ["A: authentication failed; B: wrong parameters", "A: The service", "B: A param"], []),
    ((401, "A"), ["401 in interface A: authentication failed (specified)", "doctor"], ["wrong"]),
    ((401, " b "), ["401 in interface B: wrong parameters"], ["authentication", "doctor"]),
    *(((424, where), ["meaning not known anywhere", "(unknown)", "No cause", A_CHANGE], [A_READ])
      for where in (None, "B")),
    ((416, "A"), ["416 in interface A: room closed; other deployments: the MCU does not have"], []),
    ((602, "B"), ["602 in interface A: access_token incorrect", "confkit doctor"], [A_CHANGE]),
    ((" 0404",), ["404 in interface A: room not found"], []),
    ((ck.RoomNotFound("no code"),), ["no result code: not a code of the interface"], []),
    *(((ret,), [A_READ, A_CHANGE], []) for ret in (504, 409, 310, 503)),
    *(((ret,), [A_CHANGE], [A_READ]) for ret in (427, 700)),
    *(((ret,), [], [A_READ, A_CHANGE]) for ret in (404, 423, 426)),
    *(((ret,), [f"{ret}: not a code of the interface, and none seen", A_CHANGE], [A_READ])
      for ret in (1, -1, 10**30, "E17", "4\u06604", "²", "4 04", "--1", "<b>'x'&\"")),
]  # fmt: skip


@pytest.mark.parametrize(("given", "says", "not_said"), SAYS)
def test_what_an_explanation_says(given, says, not_said):
    """Where A and B differ, both; what is not known, that; whether a read or a change may be sent
    again. Its repr, which a notebook shows, is its text."""
    text = shown(ck.explain(*given))
    assert [part for part in says if part not in text] == []
    assert [part for part in not_said if part in text] == []
    assert repr(ck.explain(*given)) == str(ck.explain(*given))


@pytest.mark.parametrize("interface", ["C", "", "AB", "8080"])
def test_there_are_two_interfaces(interface):
    """Another name is a ValueError that names both."""
    with pytest.raises(ValueError, match=r"A .*B"):
        ck.explain(401, interface)


def test_who_is_refused_is_sent_to_the_doctor(script):
    """401 of A and 602 name the command that looks into it."""
    with pytest.raises(ck.AuthenticationFailed, match="confkit doctor") as raised:
        script({"/rtc/auth/valid": {"ret": 401}}).client().token()
    assert ck.explain(raised.value) == ck.explain(401, "A")
