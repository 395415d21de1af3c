"""All commands of `confkit`: a new one is among them by itself."""

from confkit import cli


def commands():
    """All commands of `confkit`, such as `profile add`."""
    return {*cli.commands.commands} - {"profile"} | {"profile add"}
