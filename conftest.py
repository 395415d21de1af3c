"""What makes `pytest --nbval notebooks` repeat what the notebooks hold, for whoever types it."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent


def start_kernels_over_ipc():
    """Has nbval's kernels listen in a folder of their own: Jupyter chooses TCP ports before it
    opens them, and another program may take one meanwhile."""
    from nbval import kernel

    def manager(**options):
        folder = tempfile.mkdtemp(prefix="confkit-kernel-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return make(transport="ipc", connection_file=f"{folder}/kernel.json", **options)

    make, kernel.KernelManager = kernel.KernelManager, manager


def pytest_configure(config):
    """Compares on the sandbox, but for ports and seconds."""
    compared = getattr(config.option, "nbval", False)
    if os.name == "posix" and (compared or getattr(config.option, "nbval_lax", False)):
        start_kernels_over_ipc()
    if not compared:
        return
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(ROOT / "tests" / "nbval.cfg")
    for name in [name for name in os.environ if name.startswith("CONFKIT_")]:
        del os.environ[name]  # no service, profile or input of the person who runs it
    os.environ["CONFKIT_PROFILE"] = "sandbox"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items):
    """Keeps the cells of notebooks in their order, behind the tests, whatever shuffles those."""
    cells = [item for item in items if type(item).__name__ == "IPyNbCell"]
    place = {cell: number for number, cell in enumerate(cells)}
    yield
    items.sort(key=lambda item: place.get(item, -1))
