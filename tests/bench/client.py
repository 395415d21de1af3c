"""What `import confkit` costs beside `import requests` (aim: at most 1.2 of it), and what one call
costs beside the same request of a requests.Session."""

import os
import subprocess
import sys
from functools import partial

import requests

import confkit as ck
from tests.bench.servers import program
from tests.bench.turns import taken

ROUNDS, CALLS = 21, 100
STATEMENTS = ("pass", "import requests", "import confkit")
SANDBOX = """
import sys, time
from confkit.sandbox import Sandbox
with Sandbox(port=int(sys.argv[1])):
    time.sleep(600)
"""


def main() -> None:
    """Prints milliseconds over bare Python, those of a call, and the ratios."""
    # As installed: whoever has bytecode turned off would measure the compiler.
    compiled = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = partial(subprocess.run, check=True, env=compiled)
    ways = {one: partial(run, [sys.executable, "-c", one]) for one in STATEMENTS}
    bare, usual, ours = (1000 * each.seconds for each in taken(ways, ROUNDS).values())
    print(f"imports, milliseconds over bare Python ({bare:.0f}), median of {ROUNDS}")
    print(f"  import requests   {usual - bare:6.0f}")
    print(f"  import confkit    {ours - bare:6.0f}   {(ours - bare) / (usual - bare):.2f} of it\n")
    with (
        program(SANDBOX) as url,
        requests.Session() as session,
        ck.Client(url, url, "demo_access", "demo_secret") as client,
    ):
        room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=25)
        address = f"{url}/rtc/room/get"
        query = {"access_token": client.token().reveal(), "room_id": room_id}
        asked = {
            "requests": lambda: [session.get(address, params=query) for _ in range(CALLS)],
            "get_room": lambda: [ck.get_room(client, room_id) for _ in range(CALLS)],
        }
        usual, ours = (1000 * each.seconds / CALLS for each in taken(asked, ROUNDS).values())
    print(f"a room-get on the sandbox, milliseconds, median of {ROUNDS}")
    print(f"  session.get       {usual:6.2f}")
    print(f"  get_room          {ours:6.2f}   {ours / usual:.2f} of it\n")
