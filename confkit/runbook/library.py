"""The runbooks that there are, as they are stored: what each is for, and its inputs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ConfigError

_NUMBER = re.compile(r"\A[0-9]+-")
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
    folders = (package.parent / "notebooks" / "runbooks", package / "_notebooks" / "runbooks")
    folder = next((folder for folder in folders if folder.is_dir()), None)
    if folder is None:
        raise ConfigError("the runbooks are not installed", "Install confkit-notebooks again.")
    return sorted(map(read, folder.glob("*.ipynb")), key=lambda one: one.name)


def find(name: str) -> Stored:
    """The runbook of this name; ConfigError, which names them all, when there is none."""
    there = stored()
    for one in there:
        if one.name == name:
            return one
    raise ConfigError(
        f"there is no runbook {name!r}",
        f"There are {', '.join(one.name for one in there)}. "
        "`confkit runbook --list` says what each is for.",
    )


def listing(runbooks: list[Stored]) -> str:
    """Name and purpose of each, its inputs with their defaults; at last where they are
    explained."""
    lines = [
        f"  {one.name}: {one.purpose}\n      -p {', '.join(map(_default, one.inputs.items()))}"
        for one in runbooks
    ]
    folders = sorted({str(one.path.parent) for one in runbooks})
    told = [
        f'What each input means stands under "Inputs" in NAME.ipynb, in {folder}'
        for folder in folders
    ]
    return "\n".join([*lines, *told])


def read(path: Path) -> Stored:
    """The runbook in a file."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    first = "".join(cells[0]["source"])
    told = [part for part in first.split("\n\n") if part.strip() and not part.startswith("#")]
    purpose = " ".join(told[0].split()) if told else ""
    inputs: dict[str, Input] = {}
    for cell in cells:
        if "parameters" in cell["metadata"].get("tags", []):
            inputs.update(_inputs("".join(cell["source"])))
    return Stored(_NUMBER.sub("", path.stem), path, purpose, inputs)


def _inputs(source: str) -> dict[str, Input]:
    """The inputs that a cell assigns: plain values, and the defaults of given()."""
    found: dict[str, Input] = {}
    for node in ast.parse(source).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        value: Any = node.value
        if isinstance(value, ast.Call):
            value = value.args[1]
        found[node.targets[0].id] = ast.literal_eval(value)
    return found


def _default(item: tuple[str, Input]) -> str:
    name, value = item
    shown = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
    return f"{name}={shown}"
