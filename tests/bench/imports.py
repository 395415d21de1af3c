"""What `import confkit` costs beside `import requests` (aim: at most 1.2 of it)."""

import os
import subprocess
import sys
from functools import partial

from tests.bench.turns import taken

ROUNDS = 21
STATEMENTS = ("pass", "import requests", "import confkit")
# As installed: whoever has bytecode turned off would measure the compiler.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> None:
    """Prints milliseconds over bare Python, and the ratio."""
    run = partial(subprocess.run, check=True, env=COMPILED)
    ways = {one: partial(run, [sys.executable, "-c", one]) for one in STATEMENTS}
    bare, usual, ours = (1000 * each.seconds for each in taken(ways, ROUNDS).values())
    print(f"imports, milliseconds over bare Python ({bare:.0f}), median of {ROUNDS}")
    print(f"  import requests   {usual - bare:6.0f}")
    print(f"  import confkit    {ours - bare:6.0f}   {(ours - bare) / (usual - bare):.2f} of it\n")
