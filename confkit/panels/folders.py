"""The folder that a panel is given: there can be one, and what it holds is a recording."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import ConfigError
from ..occupancy.folder import contents


def placed(given: str | os.PathLike[str]) -> Path:
    """The whole path of a folder, which need not be there. ConfigError: there can be none."""
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(f"folder is of type {type(given).__name__}", "Give a path.")
    text = os.fsdecode(given).strip()
    if not text:
        raise ConfigError("no folder is given", "Name one, it is made when it is not there.")
    try:
        path = Path(text).expanduser().absolute()
        with suppress(FileNotFoundError):
            path.stat()
    except (RuntimeError, ValueError, OSError) as error:  # no such user, a NUL, a name too long
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{text} can be no folder ({why})", "Give a path such as occupancy/"
        ) from error
    return path


def of_a_recording(path: Path) -> Path:
    """The folder, as it is. ConfigError: it holds other things and no sample, or is closed to us.

    To look into it as if it were a recording would name its files in a warning, which a panel's
    thread writes where nobody looks for it.
    """
    try:
        found = contents(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror})", "Look at it.") from error
    if found.strange and not (found.files):
        raise ConfigError(
            f"{path} is no recording: it holds {min(found.strange).name}, and no sample",
            "Give the folder of a recording, or the name of a new one, and record into it.",
        )
    return path
