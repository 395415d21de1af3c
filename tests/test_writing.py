"""Files that people name: whole, or as they were before."""

import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

import confkit as ck
from confkit import create_room, profiles
from confkit.errors import ConfkitError
from confkit.sandbox import Sandbox
from confkit.text import write_whole
from tests.conftest import need

Limited = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def limited() -> Limited:
    """While `limited(n)` no file can grow beyond n bytes, as on a disk that is full."""
    need("a limit for files", find_spec("resource"), "use a POSIX system")
    import resource

    @contextmanager
    def to(most: int) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return to


@pytest.mark.parametrize("private", [False, True])
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path, limited, private):
    """A disk that is full leaves the file that was there, and nothing beside it."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"good")
    with limited(1000), pytest.raises(OSError, match="large"):
        write_whole(path, b"x" * 5000, private=private)
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
    assert (link.is_symlink(), path.read_bytes(), path.stat().st_mode & 0o777) == (
        True,
        b"new",
        0o640,
    )
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

    threads = [Thread(target=add, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(profiles.names()) == 1 + 40


def test_a_change_of_the_profiles_leaves_the_others_as_they_are():
    """A key that stands as a number is a text then, and a profile that is wrong can be removed."""
    file = profiles.path()
    file.parent.mkdir(parents=True)
    file.touch(mode=0o600)
    file.write_text("[num]\nsecret_key = 123456\n[wrong]\ncolour = 'blue'\n")
    profiles.save("new", {"base_url": "http://h"})
    profiles.remove("wrong")
    stored = tomllib.loads(file.read_text())
    assert stored == {"num": {"secret_key": "123456"}, "new": {"base_url": "http://h"}}
    with pytest.raises(ck.ConfigError, match="no profile"):
        profiles.remove("wrong")


def test_a_sandbox_goes_on_after_its_disk_was_full(tmp_path, limited):
    """What could not be kept is an error with its cause; once there is space, all goes on."""
    with Sandbox(seed=1, path=tmp_path / "rooms.sqlite") as sandbox, sandbox.connect() as client:
        room_id = create_room(client, "T", "o")
        with limited(0), pytest.raises(ConfkitError, match=r"nothing has changed\. Free space"):
            sandbox.join(room_id, "Ada")
        assert sandbox.people(room_id) == []
        sandbox.join(room_id, "Bo")
        assert [one["user_name"] for one in sandbox.people(room_id)] == ["Bo"]
