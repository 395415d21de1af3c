"""How each command of `confkit` is typed, rightly and wrongly, and what it then writes."""

from functools import partial

from tests.commands import Done, run
from tests.secrets.given import Drive, device
from tests.secrets.worlds import World, environment

# Words that are typed, and the exit status that is due where all is well; those in capitals are
# filled in. Some are wrong on purpose: 2 is what click says of words that it does not know.
COMMANDS: dict[str, dict[str, int]] = {
    "diagnose": {"ROOM --timeout 8": 0, "ROOM x --address LOGIN --login-name u": 1},
    "doctor": {"ROOM": 0, "ROOM LOGIN": 2},
    "interface": {"LOGIN": 1},
    "lab": {"--rooms LOGIN": 2, "--port LOGIN": 2},
    "preflight": {
        "INSIDE --timeout 5": 0,
        "CAMERA --login-name admin --timeout 5": 1,
        "CAMERA --timeout LOGIN": 2,
        "BROKEN --timeout 1": 1,
        "CAMERA -pKEY": 2,
    },
    "probe": {"": 0, "--wait LOGIN": 2},
    "profile add": {
        "marked --base-url A --outgoing-url B --access-key k": 0,
        "marked --base-url WRONG --outgoing-url B --access-key k": 1,
        "LOGIN --base-url A": 1,
    },
    "record": {"FOLDER --rooms ROOMS --sweeps 1": 0, "FILE --rooms FILE": 1},
    "runbook": {"--list": 0, "media-server-gone -p rooms=LOGIN --sandbox": 2, "nope -p LOGIN": 2},
    "sandbox": {"--dialect LOGIN": 1, "--host 192.0.2.1 --port 0 --outgoing-port 0": 1},
    "token": {"--profile nope": 1, "--secret=KEY": 2},
}


def typed(world: World, command: str, words: str) -> Done:
    """What comes of the command, in this process."""
    device(world)  # there is one to diagnose
    given = environment(world)
    if command == "lab":  # without a service of ours, and without a server
        given = {name: value for name, value in given.items() if "CONFKIT" not in name}
    known = {
        "ROOM": world.room_id,
        "LOGIN": world.login,
        "CAMERA": world.address,
        "INSIDE": world.with_login,
        "A": world.client.base_url,
        "B": world.client.outgoing_url,
        "BROKEN": world.broken,
        "WRONG": f"http://u:{world['password in base_url']}@host:1",
        "FILE": str(world.file("notes.bin", world.login)),
        "KEY": world["secret_key"],
        "ROOMS": str(world.file("rooms.txt", world.room_id)),
        "FOLDER": str(world.folder / "rec"),
        "REPORT": str(world.folder / "report.html"),
    }
    found = command.split()
    for word in words.split():
        name, equals, value = word.rpartition("=")
        found.append(name + equals + known.get(value, value))
    return run(*found, typed="\n", **given)


TYPED = {
    f"confkit {command} {words}": Drive(partial(typed, command=command, words=words), status)
    for command, ways in COMMANDS.items()
    for words, status in ways.items()
}
# Of a service that says back what it hears.
ELSEWHERE = {
    words: Drive(partial(typed, command=words.split()[0], words=words.partition(" ")[2]))
    for words in (
        "doctor 1",
        "probe",
        "diagnose 1 --timeout 2",
        "record FOLDER --rooms ROOMS --sweeps 1",
    )
}
