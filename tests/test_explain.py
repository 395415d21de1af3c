"""explain: both tables of section 7 and the codes seen in the field, each with its next step."""

from html import escape, unescape

import pytest

import confkit as ck
from tests.codes import EVERY, FIELD, SPECIFIED


def unwrapped(told):
    """The text as one line."""
    return " ".join(str(told).split())


@pytest.mark.parametrize(("interface", "ret"), EVERY)
def test_each_code_is_told_with_a_cause_and_a_next_step(interface, ret):
    """The specification's meaning stands word for word, and is said to be specified, that of other
    deployments to be seen; a cause, marked as assumed, and advice are sentences of one line; what a
    notebook shows holds all that the text holds."""
    told = ck.explain(ret, interface)
    assert (told.ret, told.interface) == (ret, interface)
    if row := SPECIFIED.get((interface, ret)):
        assert f"{row[0]} (specified)" in str(told)
        assert (told.codes[0].meaning, told.sure) == (row[0], "specified")
    if ret in FIELD:
        assert FIELD[ret].lower() in told.meaning.lower()
        assert "(other deployments)" in str(told)
        assert (told.sure, [*told.codes]) == ("seen", [*ck.explain(ret, "A").codes])
    for said in (told.cause, told.advice):
        assert said.endswith(".")
        assert "\n" not in said
        assert len(said) > 20
    html = unescape(told._repr_html_())
    assert html.count("<tr>") == len(told.codes)
    for code in told.codes:
        for said in (code.meaning, f"{code.cause} (assumed)", code.advice, f"({code.sure})"):
            assert said in unwrapped(told)
            assert said in html.replace("<small>", "")


def test_what_codes_mean_differs():
    """401 differs in A and B, and is both without an interface; 424 has no known meaning anywhere;
    416 reads otherwise elsewhere; 602 comes from B too, with A's meaning, named as such."""
    both = ck.explain(401)
    assert both.meaning == "A: authentication failed; B: wrong parameters"
    assert [code.interface for code in both.codes] == ["A", "B"]
    for interface, wrong in (("A", "wrong parameters"), ("B", "authentication failed")):
        assert wrong not in str(ck.explain(401, interface))
    for interface in (None, "B"):
        told = ck.explain(424, interface)
        assert "not known" in told.meaning
        assert "no cause can be named" in told.cause
        assert not told.retry
    closed = ck.explain(416, "A")
    assert "room closed" in closed.meaning
    for shown in (unwrapped(closed), closed._repr_html_()):
        assert "the MCU does not have this room" in shown
    rejected = ck.explain(602, "B")
    assert rejected.meaning == "access_token incorrect"
    assert "in interface A" in str(rejected)


def test_code_and_interface_may_be_written_otherwise():
    """A quoted code is the same code; letter case and spaces of the interface do not matter; there
    are two interfaces, and another name is a ValueError that names both."""
    for ret, interface in ((401, " a "), (401, "a"), ("401", "A"), (" 0401", "A")):
        assert ck.explain(ret, interface) == ck.explain(401, "A")
    for interface in ("C", "", "AB", "8080"):
        with pytest.raises(ValueError, match=r"A .*B"):
            ck.explain(401, interface)


@pytest.mark.parametrize("ret", [1, -1, 10**30, "E17", "4\u06604", "²", "4 04", "--1", "<b>'x'&\""])
def test_an_unknown_code_is_told_to_be_unknown(ret):
    """A code that nobody knows keeps its text, in a notebook too, has no meaning and still names a
    next step."""
    told = ck.explain(ret)
    assert str(told.ret) == str(ret)
    assert (told.sure, told.codes, told.retry) == ("unknown", (), False)
    assert "not a code of the interface" in told.meaning
    assert told.advice.endswith(".")
    assert told.advice in unwrapped(told)
    assert repr(told) == str(told)
    assert f"{escape(str(ret))} " in told._repr_html_()


def test_another_try_is_advised_where_it_may_help():
    """After a time-out or an overload it may; a wrong argument does not become right by it."""
    for ret, interface in ((504, "A"), (409, "A"), (310, "B"), (503, None)):
        told = ck.explain(ret, interface)
        assert told.retry
        assert "yes, in a moment" in str(told)
    for ret, interface in ((401, "A"), (401, "B"), (404, "A"), (423, "B")):
        told = ck.explain(ret, interface)
        assert not told.retry
        assert "no, not before something has changed" in str(told)


def test_who_is_refused_is_sent_to_the_doctor(script):
    """401 of A and 602 name the command that looks into it, in `explain` and in the error."""
    for ret, interface in ((401, "A"), (602, "A"), (401, "B")):
        found = "confkit doctor" in ck.explain(ret, interface).advice
        assert found == (interface == "A")
    with pytest.raises(ck.AuthenticationFailed, match="confkit doctor"):
        script({"/rtc/auth/valid": {"ret": 401}}).client().token()
