"""The packaged reference: all of it, or the part that was asked for."""

import re

import pytest

import confkit as ck
from confkit.cli.services import reference
from confkit.errors import codes
from confkit.operations import OPERATIONS

PARTS = [*(("## ", str(number)) for number in range(1, 10)), *(("### ", key) for key in OPERATIONS)]


def test_a_section_or_an_operation_is_found_by_its_number():
    """The part begins with its heading, ends before the next, has a text, and stands in the whole;
    an operation's holds path, every parameter and its codes."""
    for level, name in PARTS:
        part = reference(name)
        assert part == reference(f" {name.lower()} ")
        assert part.startswith(f"{level}{name}. ")
        assert part in reference()
        assert not re.search(r"\n## ", part)
        assert part.count("```") % 2 == 0  # code in it is not taken for a heading
        assert len(part.splitlines()) > 2
        if endpoint := OPERATIONS.get(name):
            assert "\n### " not in part
            given = (*endpoint.required, *endpoint.optional, endpoint.token or "digest")
            for word in (endpoint.path, *given, *map(str, endpoint.codes[1:])):
                assert re.search(rf"(?<!\w){re.escape(word)}\b", part), word
    assert "hmac" in reference("5")


def test_a_part_is_found_by_a_word_of_its_heading():
    """The first heading that holds the word is taken, whatever its letter case."""
    assert reference("EVENTS").startswith("## 6. Events")
    assert reference("create room").startswith("### A2. Create room")


def test_section_7_tells_what_explain_tells():
    """Each specified code stands in section 7 with the meaning that explain gives."""
    flat = re.sub(r"\s+", " ", reference("7"))
    for code in codes():
        if code.sure == "specified" and code.ret != 424:
            assert re.search(rf"\| {code.ret} +\| {re.escape(code.meaning)}", flat), code.ret
    assert "424" in flat


def test_an_unknown_part_is_refused_with_the_ones_there_are():
    """A part that does not exist is a ConfigError that lists all headings."""
    for part in ("", " ", "A9", "10", "nonsense"):
        with pytest.raises(ck.ConfigError) as caught:
            reference(part)
        for heading in ("A1. ", "B3. ", "7. Errors", "9. "):
            assert heading in str(caught.value)
