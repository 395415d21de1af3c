"""`import confkit` beside `import requests`, a call beside the same request of a requests.Session,
and many rooms as a frame beside pandas alone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import pandas as pd
import requests

import confkit as ck
from tests.bench.figures import Figure, take_turns
from tests.bench.servers import SANDBOX, program

STATEMENTS = ("pass", "import requests", "import confkit")
ROOMS = 100_000


def figures() -> Iterator[Figure]:
    # As installed: whoever has bytecode turned off would measure the compiler.
    compiled = {
        name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    run = partial(subprocess.run, check=True, env=compiled)
    ways = {text: partial(run, [sys.executable, "-c", text]) for text in STATEMENTS}
    bare, usual, ours = (each.seconds for each in take_turns(ways, 21).values())
    yield Figure("`import confkit` / `import requests`", (ours - bare) / (usual - bare), 1.25)
    with (
        program(SANDBOX) as url,
        requests.Session() as session,
        ck.Client(url, url, "demo_access", "demo_secret") as client,
    ):
        session.trust_env = False  # as confkit's on this machine
        room_id = ck.create_room(client, "Weekly sync", "ops", attendee_max=25)
        address = f"{url}/rtc/room/get"
        query = {"access_token": client.token().reveal(), "room_id": room_id}
        asks = {
            "requests": lambda: [session.get(address, params=query).json() for _ in range(100)],
            "get_room": lambda: [ck.get_room(client, room_id) for _ in range(100)],
        }
        usual, ours = (each.seconds for each in take_turns(asks, 21).values())
        yield Figure("a `get_room` / the same with requests", ours / usual, 1.5)
        room = ck.get_room(client, room_id)
        body = session.get(address, params=query).text
    types = {"room_id": "string", "topic": "string", "room_status": "Int64"}
    frames = {
        "pandas": lambda: pd.DataFrame([json.loads(body) for _ in range(ROOMS)]).astype(types),
        "confkit": lambda: ck.rooms_frame([room] * ROOMS),
    }
    usual, ours = (each.seconds for each in take_turns(frames, 3).values())
    yield Figure("100,000 rooms to a frame / json, DataFrame and astype", ours / usual, 1.0)
