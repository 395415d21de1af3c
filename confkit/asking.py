"""Asks for a secret, so that it is never written into a notebook, a script or a command."""

import getpass
import sys

from .errors import ConfigError
from .masking import Secret

CAMERA_PASSWORD = "CONFKIT_CAMERA_PASSWORD"  # noqa: S105  # the variable's name


def ask_secret(question: str = "Password: ", *, variable: str = CAMERA_PASSWORD) -> Secret:
    """What somebody types, without showing it: in a notebook, in a terminal, or a line from a pipe.

    ConfigError where nobody can be asked; it names `variable`, in which commands look for it.
    """
    try:
        if _attended():
            return Secret(getpass.getpass(question))
        line = sys.stdin.readline() if sys.stdin else ""
    except (
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
    ):  # closed, or a front end without it
        line = ""
    if not line:
        raise ConfigError(
            f"nobody can be asked here ({question.rstrip(': ')})",
            f"Set {variable} in the environment, or run this where somebody can type.",
        )
    return Secret(line.rstrip("\r\n"))


def _attended() -> bool:
    """Whether there is a terminal, or a front end that has put its own question in getpass's place
    (Jupyter)."""
    return getpass.getpass.__module__ != "getpass" or bool(sys.stdin and sys.stdin.isatty())
