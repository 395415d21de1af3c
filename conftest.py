"""What makes `pytest --nbval notebooks` repeat what the notebooks hold, for whoever types it."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent


def start_kernels_patiently() -> None:
    """Has nbval start a kernel once more that dies at once: Jupyter chooses its ports before it
    opens them, and a server of another test may have taken one meanwhile."""
    from nbval import kernel

    start = kernel.start_new_kernel

    def started(**options: Any) -> Any:
        try:
            return start(**options)
        except RuntimeError:
            return start(**options)

    kernel.start_new_kernel = started


def pytest_configure(config: pytest.Config) -> None:
    """Compares on the sandbox, in a course that nobody has begun, but for ports and seconds."""
    if getattr(config.option, "nbval", False) or getattr(config.option, "nbval_lax", False):
        start_kernels_patiently()
    if not getattr(config.option, "nbval", False):  # with --nbval-lax nothing is compared
        return
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(ROOT / "tests" / "nbval.cfg")
    for name in [name for name in os.environ if name.startswith("CONFKIT_")]:
        del os.environ[name]  # no service, profile or input of the person who runs it
    own = tempfile.mkdtemp(prefix="confkit-course-")
    config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))
    os.environ.update(CONFKIT_PROFILE="sandbox", CONFKIT_COURSE=f"{own}/course.jsonl")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Keeps the cells of notebooks in their order, behind the tests, whatever shuffles those."""
    cells = [item for item in items if type(item).__name__ == "IPyNbCell"]
    place = {cell: number for number, cell in enumerate(cells)}
    yield
    items.sort(key=lambda item: place.get(item, -1))
