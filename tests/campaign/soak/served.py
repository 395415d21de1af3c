"""A sandbox in a process of its own that is steered by lines: FILE (":memory:" for none).

A line in is a method of `Sandbox` and its arguments, a JSON array; a line out is what it `gave`, or
why it `refused`. The first line out holds its addresses. It ends with its standard input.
"""

import json
import os
import sys

from confkit.sandbox import Sandbox


def main(file: str) -> None:
    """Serves until nobody steers it any more."""
    with Sandbox(path=None if file == ":memory:" else file) as sandbox:
        print(json.dumps([os.getpid(), sandbox.base_url, sandbox.outgoing_url]), flush=True)
        for line in sys.stdin:
            method, *arguments = json.loads(line)
            told = {}
            try:
                given = getattr(sandbox, method)(*arguments)
                plain = isinstance(given, str | int | float | None)
                told["gave"] = given if plain else type(given).__name__
            except Exception as error:  # noqa: BLE001  # it is for who asked, and service goes on
                told["refused"] = f"{type(error).__name__}: {error}"
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
