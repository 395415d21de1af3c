"""What a terminal shows of other people's texts, and files that are written atomically."""

from importlib.util import find_spec

import pytest

from confkit.text import echo, one_line, printable, write_atomically
from tests.conftest import need

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
SHOWN = [  # a text, what one line shows of it, and what stays where a text may have lines
    *((text, text, text) for text in ("Café", "会議室", "O'Brien", FAMILY, PERSIAN, "a\u0301")),
    *((f"a{control}b", "a b", "a b") for control in "\x1b\x07\x9b\u202e\u2066\u200d\ufeff"),
    ("a\n\tb\r", "a  b ", "a\n\tb "),
]


@pytest.mark.parametrize(("text", "line", "lines"), SHOWN)
def test_letters_stay_and_controls_are_spaces(text, line, lines):
    """Letters of all scripts stay, with the joiners that belong to a word or an emoji; controls and
    marks that turn a line around do not, nor line ends where a text may have none."""
    assert (one_line(text), printable(text)) == (line, lines)


def test_what_is_printed_is_printable(capsys):
    """The function that prints lets no control character through, to neither stream."""
    echo("a\x1b[2J\x9b\tb\n c")
    echo("d\x07\ud800", err=True)
    assert capsys.readouterr() == ("a [2J \tb\n c\n", "d  \n")


@pytest.mark.parametrize("private", [False, True])
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, private):
    """A disk that is full (here a bound on the size of files) leaves the file that was there, and
    nothing beside it."""
    need("a limit for files", find_spec("resource"), "use a POSIX system")
    import resource

    path = tmp_path / "table.csv"
    path.write_bytes(b"good")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="large"):
            write_atomically(path, b"x" * 5000, private=private)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"good"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_keeps_its_rights_and_a_link_leads_to_it(tmp_path):
    """What is replaced keeps its rights, what is new has the usual ones; of a link the file that it
    leads to is replaced; a private file is for its owner alone."""
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_bytes(b"old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    usual = tmp_path / "usual"
    usual.touch()
    write_atomically(tmp_path / "other", b"")
    assert (tmp_path / "other").stat().st_mode == usual.stat().st_mode
    write_atomically(path, b"secret", private=True)
    assert path.stat().st_mode & 0o777 == 0o600
