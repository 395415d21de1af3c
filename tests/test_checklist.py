"""Checks and the verdict of all of them."""

import json

import pytest

import confkit as ck


@pytest.mark.parametrize(
    ("verdicts", "all_of_them", "status"),
    [
        ("PASS PASS", "PASS", 0),
        ("PASS SKIP", "PASS", 0),
        ("PASS FAIL UNKNOWN", "FAIL", 1),
        ("PASS UNKNOWN", "UNKNOWN", 2),
        ("SKIP SKIP", "UNKNOWN", 2),
        ("", "UNKNOWN", 2),
    ],
)
def test_the_verdict_of_a_checklist(verdicts, all_of_them, status):
    """One failure fails all; without one, what is not known stays unknown; a skip does not count;
    nothing that passed is no PASS."""
    made = ck.Checklist(ck.Check("c", verdict, "f") for verdict in verdicts.split())
    assert (made.verdict, made.exit_status, made.ok) == (all_of_them, status, status == 0)
    assert str(made).endswith(f"{all_of_them:<7} over all")


def test_a_check_holds_no_secret():
    """A password in an address is masked as soon as the check is made, in every form of it."""
    made = ck.Checklist([ck.Check("camera", "FAIL", "rtsp://a:geheim@h/x is down", "<call> us")])
    for text in (repr(made), made._repr_html_(), made.as_json(), str(made.to_frame())):
        assert "geheim" not in text
    assert "&lt;call&gt;" in made._repr_html_()


def test_a_checklist_as_data():
    """The frame has one row per check and its columns when empty; the JSON says verdict and
    checks."""
    made = ck.Checklist([ck.Check("a", "PASS", "fine"), ck.Check("b", "SKIP", "no", "try")])
    frame, empty = made.to_frame(), ck.Checklist().to_frame()
    rows = frame.to_dict("records")
    assert rows[1] == {"check": "b", "verdict": "SKIP", "found": "no", "advice": "try"}
    assert [*empty.dtypes.items()] == [*frame.dtypes.items()]
    assert json.loads(made.as_json()) == {"verdict": "PASS", "checks": rows}


def test_an_unknown_verdict_is_refused():
    """There are four verdicts."""
    with pytest.raises(ValueError, match="PASS, FAIL, UNKNOWN, SKIP"):
        ck.Check("c", "OK", "f")
