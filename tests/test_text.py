"""What a terminal shows of other people's texts, and files that are written atomically."""

import resource

import pytest

from confkit.text import echo, one_line, printable, write_atomically


def test_letters_stay_and_controls_are_spaces(capsys):
    """Joiners, as of a word or an emoji, stay; nothing that moves a cursor or turns a line does."""
    for text in ("Café 会議室", "\U0001f468\u200d\U0001f469", "\u06cc\u200c\u062e", "a\u0301"):
        assert one_line(text) == printable(text) == text
    for control in "\x1b\x07\x9b\u202e\u2066\ufeff":
        assert one_line(f"a{control}b") == printable(f"a{control}b") == "a b"
    echo("a\x1b[2J\x9b\tb\n c\ud800")
    assert capsys.readouterr().out == "a [2J \tb\n c \n"


def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path):
    """A full disk (here a bound on the size of files) leaves the old file and nothing beside."""
    path = tmp_path / "table.csv"
    write_atomically(path, b"good")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="large"):
            write_atomically(path, b"x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [(file, file.read_bytes()) for file in tmp_path.iterdir()] == [(path, b"good")]
