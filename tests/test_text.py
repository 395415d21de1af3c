"""What a terminal is shown of other people's texts."""

import pytest

from confkit.text import one_line, printable, say

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"


@pytest.mark.parametrize("text", ["Café", "会議室", "O'Brien", "محمد", FAMILY, PERSIAN, "a\u0301"])
def test_what_people_write_stays_as_it_is(text):
    """Letters of all scripts stay, with the joiners that belong to a word or an emoji."""
    assert one_line(text) == printable(text) == text


@pytest.mark.parametrize("letter", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200d", "\ufeff"])
def test_what_shows_nothing_is_a_space(letter):
    """Controls, marks that turn a line around, and joiners where there is nothing to join."""
    assert one_line(f"a{letter}b") == printable(f"a{letter}b") == "a b"


def test_lines_stay_where_a_text_may_have_them():
    """Line ends and tabs are ours in a report, and nobody's in a name."""
    assert printable("a\n\tb\r") == "a\n\tb "
    assert one_line("a\n\tb\r") == "a  b "


def test_what_is_said_is_printable(capsys):
    """The one place that prints lets no control character through, to neither stream."""
    say("a\x1b[2J\x9b\tb\n c")
    say("d\x07\ud800", aside=True)
    assert capsys.readouterr() == ("a [2J \tb\n c\n", "d  \n")
