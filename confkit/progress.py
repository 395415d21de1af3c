"""How far a long call has come: a bar in a notebook, a line in a terminal, or what is asked for."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

Show = Callable[[int, int], None]  # is told the steps done and their number


@contextmanager
def progress_shown(
    progress: bool | Show | None, total: int, what: str
) -> Iterator[Callable[[], object]]:
    """Gives the function to call after each of `total` steps.

    `progress` is called with the steps done and their number. None shows them where somebody
    watches: as a bar in a notebook that has ipywidgets, as a line in a terminal. True shows the
    line elsewhere too, False nothing.
    """
    if callable(progress):
        steps = count(1)
        yield lambda: progress(next(steps), total)
        return
    if progress is False or sys.stderr is None:
        yield lambda: None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a notebook has no ipywidgets
        from tqdm.auto import tqdm

    class Bar(tqdm):  # type: ignore[type-arg]  # of nothing: it is told its steps
        monitor_interval = 0  # else tqdm would leave a thread behind

    unless_watched = None if progress is None else False
    with Bar(total=total, desc=what, disable=unless_watched, leave=False) as bar:
        yield bar.update
