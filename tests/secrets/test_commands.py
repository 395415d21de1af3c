"""No command of `confkit` shows a secret, whatever is typed and whatever a service answers."""

import os
import random
import stat

import pytest

from tests.secrets import commanded, drives, names
from tests.secrets.worlds import world


def test_every_command_is_on_the_list():
    """A new command is typed here, too, and no entry names nothing."""
    assert set(commanded.COMMANDS) == names.commands()


def shown(made, commands=commanded.COMMANDS):
    """The secrets that a command shows, by what is typed."""
    told = {
        f"{command} {words}": commanded.typed(made, command, words)
        for command, ways in commands.items() for words in ways
    }  # fmt: skip
    marks = made.all_marks()
    return {typed: found for typed, said in told.items() if (found := marks.found(said))}


def test_no_command_shows_a_secret(tmp_path):
    """Typed rightly and wrongly, no command writes a marked secret into its streams or files; the
    profile's file, which holds the key, is its owner's alone."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        drives.imported(made)
        assert shown(made) == {}
        marks = made.all_marks()
        files = commanded.written(made)
        assert {path: found for path, text in files.items() if (found := marks.found(text))} == {}
        if os.name == "posix":
            assert commanded.profile_mode(made) == stat.S_IRUSR | stat.S_IWUSR


@pytest.mark.parametrize("answers", ["code", "head", "redirect"])
def test_no_command_shows_what_a_service_says_back(tmp_path, answers):
    """Of a service that quotes what it was asked, no command writes a marked secret."""
    with world(answers, tmp_path, random.Random(7)) as made:
        some = {
            "doctor": ("1 --timeout 5",), "probe": ("--no-room",), "diagnose": ("1 --timeout 2",),
            "record": ("FOLDER --rooms ROOMS --sweeps 1",),
        }  # fmt: skip
        assert shown(made, some) == {}


def test_a_sandbox_of_its_own_process_shows_no_secret(tmp_path):
    """What `confkit sandbox --explain` says of refused calls, and its arguments, hold no secret."""
    with world("good", tmp_path, random.Random(7)) as made:
        said = commanded.served(made)
        assert "interface A" in said
        assert "signature" in said or "token" in said
        assert made.all_marks().found(said) == []
