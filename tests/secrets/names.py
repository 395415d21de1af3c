"""All that is public, found where it is made: a new name is among them by itself."""

import inspect
from types import ModuleType

from confkit import cli


def functions(module: ModuleType) -> set[str]:
    """The names of a module's public functions."""
    return {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}


def commands() -> set[str]:
    """All commands of `confkit`, such as `profile add`."""
    return {*cli.commands.commands} - {"profile"} | {"profile add"}
