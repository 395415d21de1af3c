"""Chromium, Jupyter's server, and the notebook of all panels in JupyterLab."""

import nbformat
import pytest

from .chromium import chromium
from .opened import LAB, opened
from .servers import JUPYTER, running


@pytest.fixture(scope="package")
def chrome():
    """Chromium, for this folder alone: Playwright's event loop is in the way of other tests."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="package")
def jupyter(tmp_path_factory):
    """The server of JupyterLab and Notebook 7."""
    with running(JUPYTER, tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="package")
def stage(tmp_path_factory, chrome, jupyter):
    cell = nbformat.v4.new_code_cell("from tests.browser import stage\nstage.box")
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    file = tmp_path_factory.mktemp("stage") / "stage.ipynb"
    nbformat.write(notebook, file)
    with opened(chrome, jupyter, LAB, file) as page:
        yield page


@pytest.fixture
def lab(stage):
    """The notebook of all panels; when the test ends nothing in it may have complained."""
    yield stage
    assert stage.complaints() == []
