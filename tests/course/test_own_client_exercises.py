"""The exercises of notebook 07: right answers, and each usual mistake."""

import base64
import hmac
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from confkit import course

CLIENT = Path(__file__).parent / "own_client.py"
REPORTS = {"404": 404, "html": None, "lost": None, "found": 0, "602 twice": 602, "401": 401}


def signed(secret_key, message, hash, form):  # noqa: A002  # the exercise's own name
    mac = hmac.new(secret_key.encode(), message.encode(), hash)
    return base64.b64encode(mac.hexdigest().encode() if form == "hex" else mac.digest()).decode()


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (signed, "right in all 24 vectors"),
        (lambda key, message, name, form: signed(key, message, name, "hex"), "raw bytes"),
        (lambda key, message, name, form: signed(key, message, "sha1", form), "sha256"),
        (lambda key, message, name, form: signed(message, key, name, form), "swapped"),
        (lambda key, message, name, form: signed(key, message, name, form) + "\n", "newline"),
        (lambda key, message, name, form: signed(key, message, name, form).encode(), "a text"),
        (lambda *given: quote(signed(*given), safe=""), "percent-encoded already"),
        (lambda *given: quote(quote(signed(*given), safe="")), "percent-encoded twice"),
        (lambda *given: "x", "no known mistake"),
        ("a signature", "Hand in the function itself"),
    ],
)
def test_a_signature_is_tried_with_every_vector(function, told):
    """The right function is right, and a wrong one is told which mistake it makes, in which
    vector."""
    finding = course.check("signature", function)
    assert finding.right == (function is signed)
    assert told in finding.told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            [sys.executable, "-S", str(CLIENT), "none"],
            "A1, A4, A7 and B2 are right in three services. For all rows",
        ),
        (
            [sys.executable, "-S", str(CLIENT), "no force_offline"],
            "A7, force a user offline: it does not know",
        ),
        (
            [sys.executable, "-S", str(CLIENT), "accessToken in B2"],
            "B2, delete external user: the usual service",
        ),
        (["/nowhere/client"], "cannot be started"),
        ("sh client.sh", "Hand in a list"),
        ([], "a list of words"),
    ],
)
def test_a_client_is_tried_in_the_rows_that_the_skeleton_lacks(command, told):
    """A client that knows them is right; else the first row that is not is named, with the why."""
    finding = course.check("own-client", command)
    assert finding.right == ("right in three services" in told)
    assert told in finding.told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "an empty list"),
        ({"html": 0}, "html: "),
        ({"lost": 0}, "lost: "),
        ({"401": 602}, "401: "),
        ({"found": None}, "found: "),
        ({"found": False}, "found: "),
        ({"404": None}, "404: "),
        ({"404": "404"}, "hand it in as a number"),
        ({"602 twice": None}, "602 twice: "),
        ({"more": 1}, "these names"),
    ],
)
def test_what_a_client_reports_is_told_one_by_one(change, told):
    """The right dict is right, and a wrong value is explained."""
    finding = course.check("reports", {**REPORTS, **change})
    assert finding.right == (not change)
    assert told in finding.told
