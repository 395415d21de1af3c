"""Which services a recording is of, so that charts and reports can name them."""

from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, unquote

from .files import make_folder

_NOTES = "_services"  # an empty file a name; other readers skip what begins with _


def note_service(folder: Path, name: str) -> None:
    """Notes that samples of this service are in the folder; a name that is lost is no sample."""
    with suppress(OSError):
        make_folder(folder / _NOTES)
        (folder / _NOTES / quote(name, safe=" ")).touch()


def services(folder: Path) -> str | None:
    """The names of the services whose samples are in the folder, or None where none was noted."""
    notes = folder / _NOTES
    names = sorted(unquote(note.name) for note in notes.iterdir()) if notes.is_dir() else []
    return ", ".join(names) or None
