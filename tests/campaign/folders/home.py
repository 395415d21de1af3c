"""Where profiles and the course's file are, for a while."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """While profiles and the course's file are those of this folder."""
    names = {"XDG_CONFIG_HOME": folder / "config", "CONFKIT_COURSE": folder / "course.jsonl"}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update({name: str(path) for name, path in names.items()})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
