"""Files that are whole or not there at all, also after a power cut."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from ..errors import ConfkitError

UNFINISHED = ".tmp"


class RecordingError(ConfkitError, OSError):
    """A recording could not be written or read; the text names the file, why, and what to do."""


class OvertakenError(Exception):
    """Another process was quicker with the same files: look again."""


def publish(
    path: Path, write: Callable[[Path], object], *, drafts: Path, shared: bool = True
) -> None:
    """Put the file that `write` writes at `path`, whole and durable.

    OvertakenError where a `shared` name is taken: of two processes one gets it. One that nobody
    else can choose needs no hard link, which some file systems do not have. `drafts` is a folder
    on the same file system; the file grows there.
    """
    draft = drafts / f".{uuid4().hex}{UNFINISHED}"
    try:
        make_folder(drafts)
        make_folder(path.parent)
        write(draft)
        with draft.open("rb+") as file:
            os.fsync(file.fileno())
        if shared and os.name != "nt":
            os.link(draft, path)
        else:
            draft.rename(path)  # on Windows it refuses a name that is taken
        flush_folder(path.parent)
    except FileExistsError:
        raise OvertakenError from None
    except RecordingError:
        raise
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        remove([draft])


def _unwritten(path: Path, error: OSError) -> RecordingError:
    return RecordingError(
        f"{path} was not written: {error.strerror or error}. What was told as recorded before is "
        "safe and whole. Free space, or see to the rights and to hard links on this file system; "
        "then go on with the same folder."
    )


def make_folder(folder: Path) -> None:
    """Make this folder and those above it, durably. RecordingError: it cannot be made."""
    try:
        for new in [place for place in (folder, *folder.parents) if not place.exists()][::-1]:
            new.mkdir(exist_ok=True)
            flush_folder(new.parent)
    except OSError as error:
        raise _unwritten(folder, error) from error


def remove(paths: Iterable[Path]) -> None:
    """Delete these files; one that is gone already, or that may not be removed, stays as it is."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def flush_folder(folder: Path) -> None:
    """Make the names in this folder durable."""
    if os.name == "nt":
        return  # Windows neither needs it nor can open a folder
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
