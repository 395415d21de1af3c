"""The packaged reference: all of it, or the part that was asked for."""

import re

import pytest

import confkit as ck
from confkit.cli.services import reference
from confkit.endpoints import ENDPOINTS
from confkit.errors import codes


def test_without_a_part_the_whole_reference_comes():
    """All ten operations and all nine sections are in it."""
    whole = reference()
    for number in range(1, 10):
        assert re.search(rf"(?m)^## {number}\. ", whole)
    for key in ENDPOINTS:
        assert re.search(rf"(?m)^### {key}\. ", whole)


@pytest.mark.parametrize("key", ENDPOINTS)
def test_an_operation_is_found_by_its_number(key):
    """The part of an operation begins with its heading and holds path and every parameter."""
    endpoint = ENDPOINTS[key]
    part = reference(key)
    assert part.startswith(f"### {key}. ")
    assert part.count("\n### ") == 0
    assert part.count("\n## ") == 0
    assert endpoint.path in part
    for name in (*endpoint.required, *endpoint.optional, endpoint.token or "digest"):
        assert re.search(rf"\b{name}\b", part), name
    for code in endpoint.codes[1:]:
        assert str(code) in part
    assert reference(f" {key.lower()} ") == part


@pytest.mark.parametrize("number", range(1, 10))
def test_a_section_is_found_by_its_number(number):
    """The part of a section begins with its heading, ends before the next, and has a text."""
    part = reference(str(number))
    assert part.startswith(f"## {number}. ")
    assert part.count("\n## ") == 0
    assert len(part.splitlines()) > 2
    assert part in reference()


@pytest.mark.parametrize(
    ("word", "heading"),
    [
        ("errors", "## 7. Errors"),
        ("Limits", "## 8. Limits"),
        ("create room", "### A2. Create room"),
        ("EVENTS", "## 6. Events"),
        ("authentication", "## 5. Authentication"),
    ],
)
def test_a_part_is_found_by_a_word_of_its_heading(word, heading):
    """The first heading that holds the word is taken, whatever its letter case."""
    assert reference(word).startswith(heading)


def test_section_7_tells_what_explain_tells():
    """Each specified code stands in section 7 with the meaning that explain gives."""
    flat = re.sub(r"\s+", " ", reference("7"))
    for code in codes():
        if code.sure == "specified" and code.ret != 424:
            assert re.search(rf"\| {code.ret} +\| {re.escape(code.meaning)}", flat), code.ret
    assert re.search(r"\| 424 +\|", flat) or "424" in flat


def test_code_in_a_part_is_not_taken_for_a_heading():
    """Section 5, which shows how the token is made, is there up to its end."""
    section = reference("5")
    assert section.count("```") % 2 == 0
    assert "hmac" in section


@pytest.mark.parametrize("part", ["", " ", "A9", "10", "0", "nonsense", "C1"])
def test_an_unknown_part_is_refused_with_the_ones_there_are(part):
    """A part that does not exist is a ConfigError that lists all headings."""
    with pytest.raises(ck.ConfigError) as caught:
        reference(part)
    for heading in ("A1. ", "B3. ", "7. Errors", "9. "):
        assert heading in str(caught.value)
