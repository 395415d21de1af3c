"""All that is public, found where it is made: a new name is among them by itself."""

import inspect
import tomllib
from importlib.resources import files
from types import ModuleType


def functions(module: ModuleType) -> set[str]:
    """The names of a module's public functions."""
    return {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}


def commands() -> set[str]:
    """All commands of `confkit`, such as `profile add`."""
    rows = tomllib.loads(files("confkit.cli").joinpath("commands.toml").read_text("utf-8"))
    return {words for words, row in rows.items() if "run" in row}
