"""No command of `confkit` shows a secret, whatever is typed and whatever a service answers."""

import os
import random
import stat

import pytest

from tests.secrets import commanded, names
from tests.secrets.given import imported
from tests.secrets.worlds import world


def test_every_command_is_on_the_list():
    """A new command is typed here, too, and no entry names nothing."""
    assert set(commanded.COMMANDS) == names.commands()


def amiss(made, commands=commanded.COMMANDS):
    """By what is typed, the secrets that it shows, or the exit status that is not the due one."""
    wrong = {}
    for command, ways in commands.items():
        for words, due in ways.items():
            said, status = commanded.typed(made, command, words)
            found = made.all_marks().found(said)
            if found or (made.well and status != due):
                wrong[f"{command} {words}"] = (found, status, said[-300:])
    return wrong


def test_no_command_shows_a_secret(tmp_path):
    """Typed rightly and wrongly, no command writes a marked secret into its streams or files; the
    profile's file, which holds the key, is its owner's alone."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        imported(made)
        assert amiss(made) == {}
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
            "doctor": ("1 --timeout 5",),
            "probe": ("--no-room",),
            "diagnose": ("1 --timeout 2",),
            "record": ("FOLDER --rooms ROOMS --sweeps 1",),
        }
        before = made.heard()
        assert amiss(made, {command: dict.fromkeys(ways) for command, ways in some.items()}) == {}
        assert made.heard() >= before + len(some)


def test_a_sandbox_of_its_own_process_shows_no_secret(tmp_path):
    """What `confkit sandbox --explain` says of refused calls, and its arguments, hold no secret."""
    with world("good", tmp_path, random.Random(7)) as made:
        said = commanded.served(made)
        assert "interface A" in said
        assert "signature" in said or "token" in said
        assert made.all_marks().found(said) == []
