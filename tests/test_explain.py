"""explain: both tables of section 7 and the codes seen in the field, each with its next step."""

from html import unescape

import pytest

import confkit as ck
from tests.codes import EVERY, FIELD, SPECIFIED


def unwrapped(told):
    """The text as one line."""
    return " ".join(str(told).split())


@pytest.mark.parametrize(("interface", "ret"), SPECIFIED)
def test_each_code_means_what_the_specification_says(interface, ret):
    """The specification's meaning stands word for word, and is said to be specified."""
    meaning, _ = SPECIFIED[interface, ret]
    told = ck.explain(ret, interface)
    assert told.codes[0].meaning == meaning
    assert meaning in told.meaning
    assert told.ret == ret
    assert told.interface == interface
    assert told.sure == "specified"
    assert f"{meaning} (specified)" in str(told)


@pytest.mark.parametrize("ret", FIELD)
def test_each_field_code_is_told_as_seen(ret):
    """A code that only other deployments use says so, in either interface and without one."""
    for interface in (None, "A", "B"):
        told = ck.explain(ret, interface)
        assert FIELD[ret].lower() in told.meaning.lower()
        assert told.sure == "seen"
        assert "other deployments" in str(told)
        assert "specified" not in str(told)


@pytest.mark.parametrize(("interface", "ret"), EVERY)
def test_each_code_names_a_cause_and_a_next_step(interface, ret):
    """Every code has a cause, marked as assumed, and advice, both as sentences of one line; what a
    notebook shows holds all that the text holds."""
    told = ck.explain(ret, interface)
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


def test_401_differs_in_a_and_b():
    """401 is a failed authentication in A, wrong parameters in B, and both without an interface."""
    assert ck.explain(401, "A").meaning == "authentication failed"
    assert "wrong parameters" not in str(ck.explain(401, "A"))
    assert ck.explain(401, "B").meaning == "wrong parameters"
    assert "authentication failed" not in str(ck.explain(401, "B"))
    both = ck.explain(401)
    assert both.meaning == "A: authentication failed; B: wrong parameters"
    assert [code.interface for code in both.codes] == ["A", "B"]
    assert both.interface is None


def test_424_has_no_known_meaning():
    """424 is said to have no meaning anywhere, without a cause of our invention."""
    for interface in (None, "B"):
        told = ck.explain(424, interface)
        assert "not known" in told.meaning
        assert "no cause can be named" in told.cause
        assert not told.retry


def test_416_says_both_meanings():
    """416 is "room closed" and says that elsewhere it reads "the MCU does not have this room"."""
    told = ck.explain(416, "A")
    assert told.codes[0].meaning == "room closed"
    assert "room closed" in told.meaning
    assert "the MCU does not have this room" in unwrapped(told)
    assert "the MCU does not have this room" in told._repr_html_()


def test_a_code_of_the_other_interface_is_told_as_that():
    """602 comes from B too, and its meaning is then A's, named as such."""
    told = ck.explain(602, "B")
    assert told.meaning == "access_token incorrect"
    assert "in interface A" in str(told)


@pytest.mark.parametrize("interface", [" a ", "a", "A"])
def test_the_interface_may_be_written_in_small_letters(interface):
    """Letter case and spaces of the interface's name do not matter."""
    assert ck.explain(401, interface) == ck.explain(401, "A")


@pytest.mark.parametrize("interface", ["C", "", "AB", "8080"])
def test_another_interface_is_refused(interface):
    """There are two interfaces; another name is a ValueError that names both."""
    with pytest.raises(ValueError, match=r"A .*B"):
        ck.explain(401, interface)


@pytest.mark.parametrize("ret", ["404", " 404 ", "0404"])
def test_a_code_may_come_as_text(ret):
    """A quoted code is the same code."""
    assert ck.explain(ret, "A") == ck.explain(404, "A")


@pytest.mark.parametrize(
    "ret", [1, -1, 999, 10**30, "E17", "", "4\u06604", "²", "4 04", "--1", "<b>x</b>"]
)
def test_an_unknown_code_is_told_to_be_unknown(ret):
    """A code that nobody knows keeps its text, has no meaning and still names a next step."""
    for interface in (None, "A", "B"):
        told = ck.explain(ret, interface)
        assert str(told.ret) == str(ret)
        assert told.sure == "unknown"
        assert told.codes == ()
        assert "not a code of the interface" in told.meaning
        assert told.advice.endswith(".")
        assert not told.retry
        assert told.advice in unwrapped(told)


def test_what_a_notebook_shows_is_escaped():
    """A code that looks like HTML shows as text."""
    html = ck.explain("<script>alert('x')</script>&\"")._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert "&amp;" in html


def test_a_repr_reads_like_the_text():
    """In a notebook's list or a debugger an explanation reads as a sentence."""
    assert repr(ck.explain(404, "A")) == str(ck.explain(404, "A"))


@pytest.mark.parametrize(
    ("interface", "ret", "retry"),
    [
        ("A", 504, True),
        ("A", 409, True),
        ("B", 310, True),
        (None, 503, True),
        ("A", 404, False),
        ("A", 401, False),
        ("B", 401, False),
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
    assert "confkit doctor" in ck.explain(401, "A").advice
    assert "confkit doctor" in ck.explain(602, "A").advice
    assert "confkit doctor" not in ck.explain(401, "B").advice
    with pytest.raises(ck.AuthenticationFailed, match="confkit doctor"):
        script({"/rtc/auth/valid": {"ret": 401}}).client().token()
