"""What `import confkit` costs beside `import requests` (aim: at most 1.2 of it), and what putting a
call on record costs beside interpreting its answer."""

import os
import subprocess
import sys
from functools import partial

import confkit as ck
from confkit.attempt import Attempt
from confkit.endpoints import A3
from confkit.secret import Secret
from confkit.wire import Answer, Request, interpret
from tests.bench.turns import taken

ROUNDS, CALLS = 21, 2000
STATEMENTS = ("pass", "import requests", "import confkit")
ANSWER = Answer(
    200, "", b'{"ret": 0, "room_id": "1", "topic": "Weekly sync", "attendee_max": "25"}'
)


def main() -> None:
    """Prints milliseconds over bare Python, microseconds a call, and the ratios."""
    # As installed: whoever has bytecode turned off would measure the compiler.
    compiled = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = partial(subprocess.run, check=True, env=compiled)
    ways = {one: partial(run, [sys.executable, "-c", one]) for one in STATEMENTS}
    bare, usual, ours = (1000 * each.seconds for each in taken(ways, ROUNDS).values())
    print(f"imports, milliseconds over bare Python ({bare:.0f}), median of {ROUNDS}")
    print(f"  import requests   {usual - bare:6.0f}")
    print(f"  import confkit    {ours - bare:6.0f}   {(ours - bare) / (usual - bare):.2f} of it\n")
    with ck.Client("http://h", "http://h", "key", "secret") as client:
        context = client._context()
        attempts = [Attempt(Request(A3, {"room_id": "1"}), context) for _ in range(CALLS)]
        for attempt in attempts:
            attempt.begin(Secret("token"))
        found = taken(
            {"interpreting": partial(_read, attempts), "recording": partial(_keep, attempts)},
            ROUNDS,
        )
    read, kept = (1e6 * each.seconds / CALLS for each in found.values())
    print(f"a call, microseconds, median of {ROUNDS}")
    print(f"  interpreting it   {read:6.1f}")
    print(f"  recording it      {kept:6.1f}   {kept / read:.2f} of it\n")


def _read(attempts: list[Attempt]) -> None:
    for attempt in attempts:
        attempt.land(ANSWER, interpret)


def _keep(attempts: list[Attempt]) -> None:
    for attempt in attempts:
        attempt.record(alone=True)
