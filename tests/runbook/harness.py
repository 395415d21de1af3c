"""Plays a runbook's function as its notebook does: the scene, each check as it comes, the verdict.

`play("media-server-gone", scene="stopped")` plays it on a sandbox of its own, `play(name, client,
room=...)` on a service that a test has built.
"""

import json
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import confkit as ck
from confkit import runbook
from confkit.checklist import Checklist
from confkit.runbook import library

RUNBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks" / "runbooks"


@dataclass
class Played:
    """What a run left: its `checks`, and all that was shown (`text`)."""

    checks: Checklist
    text: str

    @property
    def verdict(self) -> str:
        return self.checks.verdict

    def __getitem__(self, check: str) -> ck.Check:
        """The last check of this name."""
        return {one.check: one for one in self.checks}[check]

    def __str__(self) -> str:
        return str(self.checks)


def play(name: str, client: ck.Client | None = None, scene: str = "", **inputs: Any) -> Played:
    """The runbook, played on this client, or on a sandbox of its own."""
    shown = StringIO()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(shown))
        client = client or stack.enter_context(ck.connect("sandbox"))
        book = runbook.begin(name, client)
        scene = scene or str(library.find(name).inputs["scene"])
        given = {"client": client, **book.scene(scene, **{**REQUIRED.get(name, {}), **inputs})}
        book.show(getattr(runbook, name.replace("-", "_"))(**given))
        print(book.verdict()._repr_html_())
    return Played(book.verdict(), shown.getvalue())


# What a function does not do without, as empty as its notebook gives it.
REQUIRED = {
    "nobody-can-join": {"room": ""},
    "force-user-offline": {"room": "", "user": ""},
    "camera-does-not-appear": {"room": ""},
    "bulk-camera-import": {"table": ""},
    "capacity-review": {"recording": ""},
}


def cells(name: str) -> list[tuple[list[str], str]]:
    """The code cells of a runbook: tags and source."""
    stored = json.loads((RUNBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return [
        (cell["metadata"].get("tags", []), "".join(cell["source"]))
        for cell in stored
        if cell["cell_type"] == "code"
    ]
