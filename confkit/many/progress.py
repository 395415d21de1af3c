"""How far a long call has come: a bar in a notebook, a line in a terminal, or what is asked for."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from ..text import say

Show = Callable[[int, int], None]  # called with the steps done and their number


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

    class Bar(tqdm):  # type: ignore[type-arg]  # of nothing: its steps are counted
        monitor_interval = 0  # else tqdm would leave a thread behind

    unless_watched = None if progress is None else False
    with Bar(total=total, desc=what, disable=unless_watched, leave=False) as bar:
        yield bar.update


def told(progress: bool | Show | None, text: str) -> None:
    """Writes a line where progress would be shown."""
    if progress is True or (progress is None and not _compared() and _watched()):
        say(text, aside=not _notebook())


def _compared() -> bool:
    """Whether a test compares what is written here, as nbval does with a notebook's outputs."""
    # A cell is a test of pytest's there, and its kernel has inherited the name of the first one.
    return _notebook() and ".ipynb::" in os.environ.get("PYTEST_CURRENT_TEST", "")


def _notebook() -> bool:
    return "ipykernel" in sys.modules and type(sys.stdout).__module__.startswith("ipykernel")


def _watched() -> bool:
    return _notebook() or (sys.stderr is not None and sys.stderr.isatty())
