"""The other end of `served`: starts it, and steers it from any thread."""

import json
import threading
from pathlib import Path
from typing import Any

from confkit.client import Client

from ..processes import Child


class RefusedError(Exception):
    """A method of the sandbox raised this."""


class Served:
    """A sandbox in a process of its own."""

    def __init__(self, file: str, log: Path) -> None:
        self._child = Child(["-P", str(Path(__file__).with_name("served.py")), file], log)
        self._turn = threading.Lock()
        line = self._child.taken()
        if line is None:
            raise AssertionError(f"the sandbox did not start; see {log}")
        self.pid, self.base_url, self.outgoing_url = json.loads(line)

    def do(self, method: str, *arguments: Any) -> Any:
        """What this method of `Sandbox` gives, as far as JSON can say it."""
        with self._turn:
            self._child.say(json.dumps([method, *arguments]))
            line = self._child.taken()
        if line is None:
            raise AssertionError(f"the sandbox did not answer {method}")
        told = json.loads(line)
        if "refused" in told:
            raise RefusedError(told["refused"])
        return told["gave"]

    def client(self, **options: Any) -> Client:
        """A client of it."""
        return Client(self.base_url, self.outgoing_url, "demo_access",
                      options.pop("secret_key", "demo_secret"), **options)  # fmt: skip

    def end(self) -> bool:
        """Whether it ended by itself, and well."""
        return self._child.end()
