"""The table of commands, rightly typed and wrongly, of which what they write is looked at."""

from functools import partial

from tests.commands import run
from tests.secrets.given import Drive
from tests.secrets.worlds import environment

# What is typed, and the exit status that is due where all is well: 2 is what click says of words
# that it does not know. Words in capitals are filled in.
COMMANDS = {
    "diagnose ROOM --timeout 8": 0,
    "diagnose ROOM x --address LOGIN --login-name u": 1,
    "doctor ROOM": 0,
    "doctor ROOM LOGIN": 2,
    "interface LOGIN": 1,
    "lab --rooms LOGIN": 2,
    "preflight INSIDE --timeout 5": 0,
    "preflight CAMERA --login-name admin --timeout 5": 1,
    "preflight BROKEN --timeout 1": 1,
    "probe": 0,
    "profile add marked --base-url A --outgoing-url B --access-key k": 0,
    "profile add marked --base-url WRONG --outgoing-url B --access-key k": 1,
    "record FOLDER --rooms ROOMS --sweeps 1": 0,
    "record FILE --rooms FILE": 1,
    "runbook media-server-gone --report REPORT": 0,
    "runbook media-server-gone -p rooms=LOGIN --sandbox": 2,
    "sandbox --dialect LOGIN": 1,
    "sandbox --host 192.0.2.1 --port 0 --outgoing-port 0": 1,
    "token --secret=KEY": 2,
}


def typed(world, words):
    """What comes of the command, in this process."""
    known = {
        "ROOM": world.room_id,
        "LOGIN": world.login,
        "CAMERA": world.address,
        "INSIDE": world.with_login,
        "A": world.client.base_url,
        "B": world.client.outgoing_url,
        "BROKEN": world.broken,
        "WRONG": f"http://u:{world['password in base_url']}@host:1",
        "FILE": world.file("notes.bin", world.login),
        "KEY": world["secret_key"],
        "ROOMS": world.file("rooms.txt", world.room_id),
        "FOLDER": str(world.folder / "rec"),
        "REPORT": str(world.folder / "report.html"),
    }
    found = []
    for word in words.split():
        name, equals, value = word.rpartition("=")
        found.append(name + equals + known.get(value, value))
    return run(*found, typed="\n", **environment(world))


TYPED = {words: Drive(partial(typed, words=words), due) for words, due in COMMANDS.items()}
