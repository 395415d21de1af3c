"""explain: both tables of section 7 and the codes seen in the field, each with its next step."""

from html import unescape

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
        assert told.codes[0].meaning == row[0]
        assert told.sure == "specified"
        assert f"{row[0]} (specified)" in str(told)
    for said in (told.cause, told.advice):
        assert said.endswith(".")
        assert "\n" not in said
        assert len(said) > 20
        assert ".;" not in said
    assert "(assumed)" in str(told)
    html = unescape(told._repr_html_())
    assert html.count("<tr>") == len(told.codes)
    for code in told.codes:
        for said in (code.meaning, code.cause, code.advice, f"({code.sure})"):
            assert said in unwrapped(told)
            assert said in html
    for other in (None, "A", "B") if ret in FIELD else ():
        told = ck.explain(ret, other)
        assert FIELD[ret].lower() in told.meaning.lower()
        assert told.sure == "seen"
        assert "other deployments" in str(told)
        assert "specified" not in str(told)


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


@pytest.mark.parametrize(
    ("ret", "interface"), [(401, " a "), (401, "a"), *((code, "A") for code in ("401", " 0401"))]
)
def test_code_and_interface_may_be_written_otherwise(ret, interface):
    """A quoted code is the same code; letter case and spaces of the interface do not matter."""
    assert ck.explain(ret, interface) == ck.explain(401, "A")


@pytest.mark.parametrize("interface", ["C", "", "AB", "8080"])
def test_another_interface_is_refused(interface):
    """There are two interfaces; another name is a ValueError that names both."""
    with pytest.raises(ValueError, match=r"A .*B"):
        ck.explain(401, interface)


UNKNOWN = [1, -1, 999, 10**30, "E17", "", "4\u06604", "²", "4 04", "--1", "<script>alert('x')&\""]


@pytest.mark.parametrize("ret", UNKNOWN)
def test_an_unknown_code_is_told_to_be_unknown(ret):
    """A code that nobody knows keeps its text, in a notebook too, has no meaning and still names a
    next step."""
    for interface in (None, "A", "B"):
        told = ck.explain(ret, interface)
        assert str(told.ret) == str(ret)
        assert (told.sure, told.codes, told.retry) == ("unknown", (), False)
        assert "not a code of the interface" in told.meaning
        assert told.advice.endswith(".")
        assert told.advice in unwrapped(told)
        assert repr(told) == str(told)
        assert "<script" not in told._repr_html_()
        assert str(ret) in unescape(told._repr_html_())


@pytest.mark.parametrize(
    ("interface", "ret", "retry"),
    [
        *(("A", ret, True) for ret in (504, 409)),
        ("B", 310, True),
        (None, 503, True),
        *((interface, 401, False) for interface in "AB"),
        ("A", 404, False),
        ("B", 423, False),
    ],
)
def test_another_try_is_advised_where_it_may_help(interface, ret, retry):
    """After a time-out or an overload it may; a wrong argument does not become right by it."""
    told = ck.explain(ret, interface)
    assert told.retry is retry
    said = "yes, in a moment" if retry else "no, not before something has changed"
    assert said in str(told)


def test_who_is_refused_is_sent_to_the_doctor(script):
    """401 of A and 602 name the command that looks into it, in `explain` and in the error."""
    for ret, interface in ((401, "A"), (602, "A"), (401, "B")):
        found = "confkit doctor" in ck.explain(ret, interface).advice
        assert found == (interface == "A")
    with pytest.raises(ck.AuthenticationFailed, match="confkit doctor"):
        script({"/rtc/auth/valid": {"ret": 401}}).client().token()
