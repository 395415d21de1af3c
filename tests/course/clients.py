"""Clients for the checker: own_client.py as it is, or with a mistake."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
MISTAKES = tomllib.loads((HERE / "mistakes.toml").read_text("utf-8"))


def python(code):
    """The command that runs this."""
    return [sys.executable, "-S", "-c", code]


def client(old="", new=""):
    """The command of a client in Python, with one piece of its text changed."""
    text = (HERE / "own_client.py").read_text("utf-8")
    assert not old or text.count(old) == 1
    return python(text.replace(old, new) if old else text)


def mistaken(name):
    """The command of the client that makes this mistake."""
    return client(MISTAKES[name]["old"], MISTAKES[name]["new"])
