"""Imports a table for each job that comes, in a child each: a line begins it, "kill" or "wait" ends
it, and a line tells how."""

import importlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import confkit as ck

LOADED = (  # what an import loads when it is first called
    "pandas", "confkit.connect", "confkit.deadline", "confkit.dialect", "confkit.bulk.imports",
    "confkit.bulk.trials", "confkit.rtsp.preflight", "confkit.decoding", "av",
)  # fmt: skip


def main() -> None:
    """Runs a job for each line that comes, in a child each."""
    for module in LOADED:
        importlib.import_module(module)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(_import(json.loads(line)))
        if sys.stdin.readline().strip() == "kill":
            os.kill(child, signal.SIGKILL)  # one that has ended is kept until waitpid
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        told = {0: "finished", -signal.SIGKILL: "killed"}
        print(told.get(ended, f"exit code {ended}"), flush=True)


def _import(job: Mapping[str, Any]) -> int:
    try:
        with ck.connect(**job["service"]) as client:
            result = ck.import_devices(client, job["table"], progress=False, **job["options"])
        result.to_json(Path(job["result"]), orient="records")
    except BaseException as error:  # noqa: BLE001  # the exit code tells; the text says why
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    main()
