"""The table of commands, rightly typed and wrongly, of which what they write is looked at."""

from functools import partial

from tests.commands import run
from tests.secrets.given import Drive
from tests.secrets.worlds import environment

# What is typed in a world `w`, and the exit status that is due where all is well: 2 is what click
# says of words that it does not know.
COMMANDS = {
    "diagnose {w.room_id} --timeout 8": 0,
    "diagnose {w.room_id} x --address {w.login} --login-name u": 1,
    "doctor {w.room_id}": 0,
    "doctor {w.room_id} {w.login}": 2,
    "interface {w.login}": 1,
    "lab --rooms {w.login}": 2,
    "preflight {w.with_login} --timeout 5": 0,
    "preflight {w.address} --login-name admin --timeout 5": 1,
    "preflight {w.broken} --timeout 1": 1,
    "probe": 0,
    "profile add x --base-url {w.login} --outgoing-url http://h --access-key k": 1,
    "profile add x --base-url http://h --outgoing-url http://h --access-key k": 0,
    "record {w.folder}/kept --rooms {w.folder}/rooms.txt --sweeps 1": 0,
    "runbook media-server-gone --report {w.folder}/report.html": 0,
    "runbook media-server-gone -p rooms={w.login} --profile sandbox": 1,
    "sandbox --dialect {w.login}": 1,
    "token --secret={w[secret_key]}": 2,
}


def typed(world, words):
    """What comes of the command, in this process."""
    world.file("rooms.txt", world.room_id)
    found = [word.format(w=world) for word in words.split()]
    return run(*found, typed="\n", **environment(world))


TYPED = {words: Drive(partial(typed, words=words), due) for words, due in COMMANDS.items()}
