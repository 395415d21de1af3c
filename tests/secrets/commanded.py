"""How each command of `confkit` is typed, rightly and wrongly, and what it then writes."""

import os
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path
from unittest import mock

from confkit import profiles
from tests.commands import run
from tests.secrets.children import environment
from tests.secrets.worlds import World

# Words that are typed, and the exit status that is due where all is well; those in capitals are
# filled in. Some are wrong on purpose: 2 is what argparse says of words that it does not know.
COMMANDS: dict[str, dict[str, int]] = {
    "course check": {"--only A3 -- CLIENT": 1, "--only NOPE -- CLIENT": 1, "": 1},
    "course contract": {"": 0},
    "course skeleton": {"sh": 0, "LOGIN": 1},
    "course vectors": {"": 0},
    "diagnose": {
        "ROOM --timeout 8": 0, "ROOM nobody --address LOGIN --timeout 2": 1,
        "ROOM x --address LOGIN --login-name u": 1, "ROOM x --timeout LOGIN": 2},
    "doctor": {"ROOM --timeout 10": 0, "ROOM --json --timeout 10": 0, "--sandbox": 0,
               "--timeout 0 LOGIN": 1},
    "interface": {"A1": 0, "LOGIN": 1},
    "lab": {"--rooms FILE": 1, "--port LOGIN": 2},
    "preflight": {
        "LOGIN --timeout 3": 1, "INSIDE --timeout 5": 0,
        "CAMERA --login-name admin --timeout 5": 1, "CAMERA --timeout LOGIN": 2, "LOGIN LOGIN": 2,
        "BROKEN --timeout 1": 1, "CAMERA --login-name u --login-password KEY --timeout 1": 2,
        "CAMERA -pKEY": 2},
    "probe": {"--no-room": 2, "--no-room --json": 2, "--wait LOGIN": 2, "--save nowhere": 0},
    "profile add": {
        "marked --base-url A --outgoing-url B --access-key k": 0,
        "marked --base-url WRONG --outgoing-url B --access-key k": 1, "LOGIN --base-url A": 1},
    "profile list": {"": 0, "LOGIN": 2},
    "profile remove": {"marked": 0, "LOGIN": 1},
    "record": {
        "FOLDER --rooms ROOMS --sweeps 1": 0, "FOLDER --rooms LOGIN": 1, "FILE --rooms FILE": 1},
    "runbook": {
        "--list": 0, "media-server-gone -p rooms=LOGIN --sandbox": 2,
        "media-server-gone -p rooms=KEY": 2, "media-server-gone -p LOGIN=1": 2, "nope -p LOGIN": 2},
    "sandbox": {
        "--dialect LOGIN": 1, "--port LOGIN": 2,
        "--host 192.0.2.1 --port 0 --outgoing-port 0": 1},
    "token": {"--profile nope": 1, "--secret-key KEY": 2, "--secret=KEY": 2},
}  # fmt: skip


def typed(world: World, command: str, words: str) -> tuple[str, int]:
    """All that the command writes in this process, into both streams, and its exit status."""
    given = environment(world)
    if command == "lab":  # without a service of ours, and without a server
        given = {name: value for name, value in given.items() if "CONFKIT" not in name}
    done = run(*command.split(), *_filled(world, words), typed="\n", **given)
    return done.stdout + done.stderr, done.returncode


def _filled(world: World, words: str) -> list[str]:
    client = [sys.executable, "-S", "-c", "import os; print(dict(os.environ))"]
    known = {
        "ROOM": world.room_id,
        "LOGIN": world.marks.login(),
        "CAMERA": world.address,
        "INSIDE": world.with_login,
        "A": world.client.base_url,
        "B": world.client.outgoing_url,
        "BROKEN": world.broken,
        "WRONG": f"http://u:{world.marks['password in base_url']}@host:1",
        "FILE": str(world.file("notes.bin", world.marks.login())),
        "KEY": world.marks["secret_key"],
        "ROOMS": str(world.file("rooms.txt", world.room_id)),
        "FOLDER": str(world.folder / "rec"),
    }
    found: list[str] = []
    for word in words.split():
        name, equals, value = word.rpartition("=")
        found += client if word == "CLIENT" else [name + equals + known.get(value, value)]
    return found


def written(world: World) -> dict[str, str]:
    """The files that were written, but for the profiles', which has to hold the key: their text by
    their path, with their mode in front where others may read them."""
    kept = {"profiles.toml", "notes.bin", "rooms.txt", "cameras.csv"}
    return {
        str(path): path.read_bytes().decode("latin-1")
        for path in world.folder.rglob("*")
        if path.is_file() and path.name not in kept
    }


def profile_mode(world: World) -> int:
    """The permissions of the profiles' file once one with a key is in it."""
    with mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(world.folder)}):
        path = profiles.save("mode", {"secret_key": world.marks["profile's key"]})
    return stat.S_IMODE(Path(path).stat().st_mode)


def served(world: World) -> str:
    """What `confkit sandbox --explain` writes while it refuses calls, its arguments, and what it
    writes at Ctrl-C."""
    import confkit as ck
    from tests.secrets.steered import refused

    words = "-X dev -m confkit sandbox --port 0 --outgoing-port 0 --access-key 'marked access'"
    file = str(world.folder / "rooms.sqlite")
    command = [sys.executable, *shlex.split(words), "--explain", "--db", file]
    with subprocess.Popen(
        command, env=environment(world), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            head = [process.stdout.readline() for _ in range(4)]
            urls = [line.split()[-1] for line in head if line.startswith("interface")]
            client = ck.Client(*urls, "marked access", world.marks["secret_key"])
            with client:
                world.client, world.sandbox = client, mock.Mock()
                world.room_id = ck.create_room(
                    client, "t", "ops", host_password=world.marks["host_password"]
                )
                refused(world)
                arguments = Path(f"/proc/{process.pid}/cmdline").read_text()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            process.wait(20)
        finally:
            process.kill()
    return "".join([*head, arguments, rest])
