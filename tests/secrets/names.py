"""All that is public, found where it is made: a new name is among them by itself."""

import inspect

from confkit import cli


def functions(module):
    """A module's public functions by their names."""
    found = {name: getattr(module, name) for name in module.__all__}
    return {name: one for name, one in found.items() if inspect.isfunction(one)}


def commands():
    """All commands of `confkit`, such as `profile add`."""
    return {*cli.commands.commands} - {"profile"} | {"profile add"}
