"""Plays a runbook in this process: its code cells in order, each on the namespace of those before.

`play("media-server-gone", scene="stopped")` plays it on a sandbox of its own, `play(name,
client=...)` on a service that a test has built; inputs are given as papermill gives them, after the
cell tagged `parameters`.
"""

import ast
import json
import os
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import confkit as ck
from confkit.checklist import Checklist

RUNBOOKS = Path(__file__).resolve().parent.parent.parent / "notebooks" / "runbooks"


@dataclass
class Played:
    """What a run left: its `checks`, all that was shown (`text`), and the notebook's names."""

    checks: Checklist
    text: str
    names: dict[str, Any]

    @property
    def verdict(self) -> str:
        return self.checks.verdict

    def __getitem__(self, check: str) -> ck.Check:
        """The last check of this name."""
        return {one.check: one for one in self.checks}[check]

    def __str__(self) -> str:
        return str(self.checks)


def play(name: str, client: ck.Client | None = None, **inputs: Any) -> Played:
    """The runbook, played on this client, or on what `ck.connect()` gives: a sandbox of its own
    unless the environment names a service. Any exception of a cell is raised."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = StringIO()
    connect = ck.connect
    named = os.environ.get("CONFKIT_BASE_URL") or os.environ.get("CONFKIT_PROFILE")
    mine: list[ck.Client] = []

    def service(**given: Any) -> ck.Client:
        """What `ck.connect()` gives; with arguments a notebook names a service itself."""
        if given or client is None:
            mine.append(connect(None if named or given else "sandbox", **given))
            return mine[-1]
        return client

    ck.connect = service
    last = None
    try:
        with redirect_stdout(shown):
            for tags, source in cells(name):
                last = _run(source, names, shown, name)
                if "parameters" in tags:
                    unknown = set(inputs) - set(names)
                    assert not unknown, f"{name} has no inputs {unknown}"
                    names.update(inputs)
    finally:
        ck.connect = connect
        for one in mine:
            one.close()
    assert isinstance(last, Checklist), "the last cell of a runbook is book.verdict()"
    return Played(last, shown.getvalue(), names)


def cells(name: str) -> list[tuple[list[str], str]]:
    """The code cells of a runbook: tags and source."""
    stored = json.loads((RUNBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return [(cell["metadata"].get("tags", []), "".join(cell["source"]))
            for cell in stored if cell["cell_type"] == "code"]  # fmt: skip


def _run(source: str, names: dict[str, Any], shown: StringIO, name: str) -> Any:
    """Runs a cell; its last expression is its value, which shows as in a notebook."""
    tree = ast.parse(source)
    final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if final is None:
        return None
    value = eval(compile(ast.Expression(final.value), name, "eval"), names)
    if value is not None:
        table = getattr(value, "_repr_html_", str)
        shown.write(f"{value!r}\n{table()}\n")
    return value
