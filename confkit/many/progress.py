"""How far a long call has come: a bar in a notebook, a line in a terminal, or what is asked for."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from ..text import say

Show = Callable[[int, int], None]  # is told the steps done and their number


@contextmanager
def progress_shown(
    progress: bool | Show | None, total: int, what: str
) -> Iterator[Callable[[], object]]:
    """Gives the function to call after each of `total` steps.

    `progress` is called with the steps done and their number. None shows them where somebody
    watches: as a bar in a notebook that has ipywidgets, as a line in a terminal, not under nbval.
    True shows the line elsewhere too, False nothing.
    """
    if callable(progress):
        steps = count(1)
        yield lambda: progress(next(steps), total)
        return
    if progress is False or sys.stderr is None or (progress is None and _compared()):
        yield lambda: None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a notebook has no ipywidgets
        from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]  # of nothing: it is told its steps
        monitor_interval = 0  # else tqdm would leave a thread behind

    unless_watched = None if progress is None else False
    columns, lines = _size()
    with Bar(
        total=total, desc=what, disable=unless_watched, leave=False, ncols=columns, nrows=lines
    ) as bar:
        yield bar.update


def told(progress: bool | Show | None, text: str) -> None:
    """Writes a line where progress would be shown."""
    if progress is True or (progress is None and not _compared() and _watched()):
        say(text, aside=not _notebook())


def _size() -> tuple[int, int] | tuple[None, None]:
    """A usual size for a terminal that says it has none, as in many a container: no bar would show
    there. Otherwise None: the terminal or the notebook knows."""
    try:
        unknown = not _notebook() and os.get_terminal_size(sys.stderr.fileno()).columns == 0
    except (OSError, ValueError, AttributeError):  # it is no terminal
        return None, None
    return (80, 24) if unknown else (None, None)


def _compared() -> bool:
    """Whether a test compares what is written here, as nbval does with a notebook's outputs."""
    # A cell is a test of pytest's there, and its kernel has inherited the name of the first one.
    return _notebook() and ".ipynb::" in os.environ.get("PYTEST_CURRENT_TEST", "")


def _notebook() -> bool:
    return "ipykernel" in sys.modules and type(sys.stdout).__module__.startswith("ipykernel")


def _watched() -> bool:
    return _notebook() or (sys.stderr is not None and sys.stderr.isatty())
