"""A notebook in a front end: written, opened, run through the application."""

import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from .servers import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

LAB, NOTEBOOK, VOILA = "JupyterLab", "Notebook 7", "Voila"
FRONT_ENDS = (LAB, NOTEBOOK, VOILA)
_THERE = "window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined"
_CONNECTED = """async () => {
    const late = (_, no) => setTimeout(() => no(Error("no kernel came within a minute")), 60000);
    return await Promise.race([connected(), new Promise(late)]);
    async function connected() {
    const app = window.jupyterapp; await app.restored;
    const w = app.shell.currentWidget;
    await w.context.ready; await w.sessionContext.ready;
    const kernel = w.sessionContext.session.kernel; await kernel.info;
    return kernel.id; } }"""
_RUN = "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells') }"
_SAVE = "async () => { await window.jupyterapp.commands.execute('docmanager:save') }"
_VOILA_KERNEL = "JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId"
_SHUT_DOWN = "async () => { await window.jupyterapp.serviceManager.sessions.shutdownAll() }"


def written(server: Server, cells: Sequence[str | Path]) -> Path:
    """A new notebook of these cells, or a copy of the one at this path, in a folder of its own:
    two pages of one path would share a kernel."""
    folder = server.root / uuid.uuid4().hex
    folder.mkdir()
    if isinstance(cells[0], Path):
        return Path(shutil.copy(cells[0], folder))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, folder / "panel.ipynb")
    return folder / "panel.ipynb"


def opened(page: "Page", front: str, server: Server, file: Path) -> str:
    """The ID of the kernel of the notebook, which the page now shows. In Voila it has run."""
    name = file.relative_to(server.root).as_posix()
    if front == VOILA:
        page.goto(f"{server.address}/voila/render/{name}")
        page.locator("#rendered_cells").wait_for(state="visible")
        return str(page.evaluate(_VOILA_KERNEL))
    # A workspace of its own: JupyterLab would open what the page before had open.
    where = f"lab/workspaces/{file.parent.name}/tree" if front == LAB else "notebooks"
    page.goto(f"{server.address}/{where}/{name}")
    page.wait_for_function(_THERE)
    return str(page.evaluate(_CONNECTED))


def run_all(page: "Page", front: str) -> None:
    """Runs all cells, and waits until they have run."""
    if front != VOILA:
        page.evaluate(_RUN)


def save(page: "Page") -> None:
    """Saves the notebook, as a person in JupyterLab or Notebook 7 does."""
    page.evaluate(_SAVE)


def leave(page: "Page", front: str) -> None:
    """Ends the page and its kernel."""
    if front == VOILA:
        page.goto("about:blank")  # Voila ends a kernel when its page is left
    else:
        page.evaluate(_SHUT_DOWN)
    page.context.close()
