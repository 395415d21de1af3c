"""How far a long call has come: a bar in a notebook, a line in a terminal, or what is asked for."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import count

Show = Callable[[int, int], None]  # is told the steps done and their number


@contextmanager
def progress_shown(
    progress: bool | Show | None, total: int, what: str
) -> Iterator[Callable[[], None]]:
    """Gives the function to call after each of `total` steps.

    `progress` is called with the steps done and their number. None shows them where somebody
    watches: as a bar in a notebook that has ipywidgets, as a line in a terminal. True shows the
    line elsewhere too, False nothing.
    """
    steps = count(1)
    with _shower(progress, what) as show:
        yield lambda: show(next(steps), total)


def _shower(progress: bool | Show | None, what: str) -> AbstractContextManager[Show]:
    if callable(progress):
        return nullcontext(progress)
    if progress is False:
        return nullcontext(_nothing)
    if _in_notebook():
        return _bar(what)
    watched = sys.stderr is not None and (progress or sys.stderr.isatty())
    return _line(what) if watched else nullcontext(_nothing)


def _nothing(done: int, total: int) -> None:
    pass


def _in_notebook() -> bool:
    """Whether cells run in this process; a terminal's IPython has no kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


@contextmanager
def _bar(what: str) -> Iterator[Show]:
    try:
        from IPython.display import display
        from ipywidgets import IntProgress  # type: ignore[import-untyped]
    except ImportError:
        yield _nothing
        return
    bar = IntProgress(description=what)  # of 100; it sends a value only when it changes
    display(bar)  # type: ignore[no-untyped-call]

    def show(done: int, total: int) -> None:
        bar.value = 100 * done // total

    try:
        yield show
    finally:
        bar.close()


@contextmanager
def _line(what: str) -> Iterator[Show]:
    def write(text: str) -> None:
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()

    try:
        yield lambda done, total: write(f"{what}: {100 * done // total} %")
    finally:
        write(" " * len(f"{what}: 100 %"))
        write("")
