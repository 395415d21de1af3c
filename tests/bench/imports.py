"""What `import confkit` costs beside `import requests` (aim: at most 1.2 of it)."""

import os
import subprocess
import sys
import time
from statistics import median

ROUNDS = 21
STATEMENTS = ("pass", "import requests", "import confkit")
# As installed: whoever has bytecode turned off would measure the compiler.
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def main() -> None:
    """Prints milliseconds over bare Python, and the ratio."""
    seconds: dict[str, list[float]] = {statement: [] for statement in STATEMENTS}
    for _ in range(ROUNDS):
        for statement in STATEMENTS:
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=COMPILED)
            seconds[statement].append(time.perf_counter() - began)
    bare, requests, confkit = (median(seconds[statement]) for statement in STATEMENTS)
    print(f"imports, over bare Python, median of {ROUNDS}")
    print(f"  import requests   {1000 * (requests - bare):6.0f} ms")
    print(f"  import confkit    {1000 * (confkit - bare):6.0f} ms")
    print(f"  ratio             {(confkit - bare) / (requests - bare):6.2f}      (aim: 1.2)\n")
