"""Files that people name: whole, or as they were before."""

import os
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest

from confkit import profiles
from confkit.text import write_whole
from tests.conftest import need


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
            write_whole(path, b"x" * 5000, private=private)
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
    write_whole(link, b"new")
    assert link.is_symlink()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
    usual = tmp_path / "usual"
    usual.touch()
    write_whole(tmp_path / "other", b"")
    assert (tmp_path / "other").stat().st_mode == usual.stat().st_mode
    write_whole(path, b"secret", private=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_is_no_plain_file_is_written_to(tmp_path):
    """A device such as /dev/null is written to, and not replaced by a file."""
    write_whole(os.devnull, b"x")
    assert not Path(os.devnull).is_file()


def test_profiles_that_are_added_at_once_all_stay():
    """Of several that add a profile at the same time nobody's is lost."""

    def add(name: str) -> None:
        for number in range(10):
            profiles.save(f"{name}{number}", {"base_url": "http://h"})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, "abcd"))
    assert len(profiles.names()) == 1 + 40


def test_a_change_of_the_profiles_leaves_the_others_as_they_are():
    """A key that stands as a number is a text then; a setting that nobody knows stays."""
    file = profiles.path()
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    file.write_text("[num]\nsecret_key = 123456\n[wrong]\ncolour = 'blue'\n")
    profiles.save("new", {"base_url": "http://h"})
    assert tomllib.loads(file.read_text()) == {
        "num": {"secret_key": "123456"},
        "wrong": {"colour": "blue"},
        "new": {"base_url": "http://h"},
    }
