"""The runbooks that there are, as they are stored: what each is for, and its inputs."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import ConfigError

Input = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Stored:
    """A runbook: its `name`, its file, what it is for in a sentence, and its inputs' defaults."""

    name: str
    path: Path
    purpose: str
    inputs: Mapping[str, Input]


def stored() -> list[Stored]:
    """All runbooks by name: the checkout's, or the installed ones where they lie."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package.parent / "notebooks", package / "_notebooks"):
        if paths := sorted(folder.glob("runbooks/*.ipynb")):
            return [read(path) for path in paths]
    raise ConfigError("the runbooks are not installed", "Install confkit-notebooks again.")


def find(name: str) -> Stored:
    """The runbook of this name; ConfigError, which names them all, when there is none."""
    there = {one.name: one for one in stored()}
    if name in there:
        return there[name]
    advice = f"There are {', '.join(there)}. `confkit runbook --list` says what each is for."
    raise ConfigError(f"there is no runbook {name!r}", advice)


def listing(runbooks: list[Stored]) -> str:
    """Name and purpose of each, its inputs with their defaults; at last where they are
    explained."""
    lines = []
    for one in runbooks:
        inputs = (f"{k}={str(v).lower() if v is False else v}" for k, v in one.inputs.items())
        lines.append(f"  {one.name}: {one.purpose}\n      -p {', '.join(inputs)}")
    folder = runbooks[0].path.parent
    return "\n".join([*lines, f'What each means stands under "Inputs" in NAME.ipynb, in {folder}'])


def read(path: Path) -> Stored:
    """The runbook in a file: its purpose is what its first cell says below the title, its inputs
    are plain values, or the defaults of given(), in the cell tagged `parameters`."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    purpose = "".join(cells[0]["source"]).split("\n\n")[1]
    tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
    inputs: dict[str, Input] = {}
    for node in ast.parse("".join(tagged[0]["source"])).body:
        if isinstance(node, ast.Assign):
            value = node.value.args[1] if isinstance(node.value, ast.Call) else node.value
            inputs[ast.unparse(node.targets[0])] = ast.literal_eval(value)
    return Stored(path.stem, path, " ".join(purpose.split()), inputs)
