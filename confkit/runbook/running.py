"""Runs a runbook without anybody before it, and tells what came of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checklist import Check, Checklist
from ..secret import mask
from .kernel import Kernel, KernelDied, Message, kernel
from .showing import CHECK, VERDICT

ENDED = "the runbook ran to its end"
_OUTPUTS = ("stream", "display_data", "execute_result", "error")


@dataclass(frozen=True)
class Run:
    """What came of a runbook: its `checks`, and the executed `notebook` (of nbformat; None when it
    was interrupted before that was read). When it did not run to its end the last check says why,
    and its verdict is UNKNOWN."""

    checks: Checklist
    notebook: Any


def run(
    path: Path,
    inputs: Mapping[str, object],
    environment: Mapping[str, str],
    seconds: float,
    tell: Callable[[Check], object],
) -> Run:
    """What came of the notebook, run in a kernel with this environment and these inputs.

    Each cell may take so many `seconds`. `tell` is called with each check as it comes. When a cell
    breaks, takes too long or is interrupted (Ctrl-C), those tagged `always` are run nonetheless.
    A second Ctrl-C ends all that at once. The kernel is ended in every case. The last check tells
    the first cause first, then what else broke.
    """
    notebook = None
    outputs = _Outputs(tell)
    causes: list[str] = []
    begun = False
    try:
        import nbformat  # it takes a while, in which Ctrl-C can come

        notebook = nbformat.read(path, as_version=4)
        _give(notebook, inputs)
        with kernel(environment) as running:
            for number, cell in enumerate(notebook.cells, 1):
                if cell.cell_type != "code":
                    continue
                cell.outputs, cell.execution_count = [], None
                if not causes or "always" in cell.metadata.get("tags", []):
                    begun = True
                    causes += _run(running, cell, seconds, outputs, f"cell {number}")
    except KernelDied:
        causes.append("its kernel died; look at the memory of this machine and run it again")
    except KeyboardInterrupt:  # before its first cell, or a second time
        undone = ", and what it has to undo may not be undone"
        causes.append(f"it was interrupted{undone if begun else ' before its first cell'}")
    except RuntimeError as error:  # what jupyter_client raises for a kernel that does not start
        causes.append(f"its kernel did not start ({mask(str(error))})")
    if not causes and outputs.verdict is None:
        causes.append("its last cell gave no verdict; a runbook ends with book.verdict()")
    checks = outputs.checks
    if causes:
        told = "; then ".join(causes)
        checks = [*checks, Check(ENDED, "UNKNOWN", told, "What it did not check is not known.")]
        tell(checks[-1])
    return Run(Checklist(checks), notebook)


def _run(running: Kernel, cell: Any, seconds: float, outputs: _Outputs, where: str) -> list[str]:
    """Runs one cell; what kept it from its end, empty when nothing did."""

    def take(message: Message) -> None:
        outputs.take(message, cell)

    outputs.error = ""
    try:
        in_time = running.execute(cell.source, seconds, take)
    except KeyboardInterrupt:
        running.interrupt(take)
        return [f"it was interrupted in {where}"]
    if not in_time:
        running.interrupt(take)
        return [f"{where} took longer than {seconds:g} s"]
    return [f"{where} broke: {outputs.error}"] if outputs.error else []


class _Outputs:
    """Puts messages of a kernel into cells, and collects the checks that they hold."""

    def __init__(self, tell: Callable[[Check], object]) -> None:
        self._tell = tell
        self._came: list[Check] = []
        self.verdict: list[Check] | None = None
        self.error = ""

    @property
    def checks(self) -> list[Check]:
        """Those of the verdict; where none was given, those that came."""
        return self._came if self.verdict is None else self.verdict

    def take(self, message: Message, cell: Any) -> None:
        """Takes one message of this cell's run."""
        from nbformat.v4 import output_from_msg

        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "execute_input":
            cell.execution_count = content["execution_count"]
        elif kind == "clear_output":
            cell.outputs = []
        elif kind in _OUTPUTS:
            last = cell.outputs[-1] if cell.outputs else {}
            if kind == "stream" and last.get("name") == content["name"]:
                last["text"] += content["text"]
            else:
                cell.outputs.append(output_from_msg(message))
            if kind == "error":
                self.error = mask(f"{content['ename']}: {content['evalue']}")
            self._collect(content.get("data", {}))

    def _collect(self, data: Mapping[str, str]) -> None:
        if CHECK in data:
            check = Check(**json.loads(data[CHECK]))
            self._came.append(check)
            self._tell(check)
        if VERDICT in data:
            self.verdict = [Check(**one) for one in json.loads(data[VERDICT])["checks"]]


def _give(notebook: Any, inputs: Mapping[str, object]) -> None:
    """Puts a cell with the inputs after the one tagged `parameters`, as papermill does."""
    from nbformat.v4 import new_code_cell

    source = "\n".join(f"{name} = {value!r}" for name, value in inputs.items())
    if not source:
        return
    tags = [cell.metadata.get("tags", []) for cell in notebook.cells]
    place = next(index for index, names in enumerate(tags, 1) if "parameters" in names)
    cell = new_code_cell(f"# Given\n{source}", metadata={"tags": ["injected-parameters"]})
    notebook.cells.insert(place, cell)
