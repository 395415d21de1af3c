"""Servers for the session, Chromium for a module, and a function that opens a notebook."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from . import frontends
from .chromium import chromium
from .complaints import heard, tracebacks
from .frontends import FRONT_ENDS, VOILA
from .kernels import Kernel
from .opened import SECONDS, Opened
from .servers import JUPYTER, Server, running
from .servers import VOILA as VOILA_COMMAND
from .themes import PLUGIN, THEMES

_SHOWN = pytest.StashKey[list[tuple[Any, list[str]]]]()  # pages and what their consoles say


@pytest.fixture(params=FRONT_ENDS)
def front(request: pytest.FixtureRequest) -> str:
    """Each front end in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    """Chromium. Playwright's event loop runs while it is there, in the way of other tests: so it
    ends with each module."""
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of JupyterLab and Notebook 7."""
    with running(JUPYTER, tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="session")
def voila(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Voila's server."""
    with running(VOILA_COMMAND, tmp_path_factory.mktemp("voila")) as server:
        yield server


@pytest.fixture
def open_notebook(
    request: pytest.FixtureRequest, chrome: Any, tmp_path: Path
) -> Iterator[Callable[..., Opened]]:
    """Opens a notebook in this front end and runs it: open_notebook(front, *cells), or with the
    path of a notebook in place of cells.

    `height` is that of the window. When the test ends nothing may have complained.
    """
    pages: list[Opened] = []
    shown = request.node.stash[_SHOWN] = []

    def start(front: str, *cells: str | Path, height: int = 900) -> Opened:
        server: Server = request.getfixturevalue("voila" if front == VOILA else "jupyter")
        # A context of its own: a second page of one context may be taken for one in the background.
        page = chrome.new_context(viewport={"width": 1280, "height": height}).new_page()
        page.set_default_timeout(SECONDS * 1000)
        errors = heard(page)
        shown.append((page, errors))
        server.settle(PLUGIN, {"theme": THEMES[0]})  # a test before may have left another
        file = frontends.written(server, cells)
        kernel = Kernel(server.connection_file(frontends.opened(page, front, server, file)))
        pages.append(Opened(page, front, kernel, file, errors))
        frontends.run_all(page, front)
        assert not tracebacks(page), tracebacks(page)
        return pages[-1]

    yield start
    complaints = [complaint for opened in pages for complaint in opened.close()]
    assert not complaints, "\n".join(complaints)


@pytest.fixture
def picture(tmp_path: Path) -> Callable[..., None]:
    """Takes a picture of the panel, or of the whole page, under this name, which is not empty.

    `for_readme` keeps it in the folder that PICTURES names, too, when it names one: pictures differ
    by some pixels from machine to machine, so the README's change when somebody wants it.
    """

    def take(opened: Opened, name: str, page: bool = False, for_readme: bool = False) -> None:
        data = opened.page.screenshot() if page else opened.portrait()
        assert len(data) > 5_000, "an empty picture"
        (tmp_path / f"{name}.png").write_bytes(data)
        if for_readme and "PICTURES" in os.environ:
            Path(os.environ["PICTURES"], f"{name}.png").write_bytes(data)

    return take


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """When a test fails, its pages are kept as pictures, and the report says where."""
    from playwright.sync_api import Error as PlaywrightError

    report = yield
    shown = item.stash.get(_SHOWN, [])
    if report.when == "call" and report.failed and shown:
        folder = item.funcargs["tmp_path"]
        for number, (page, _) in enumerate(shown):
            with suppress(PlaywrightError):  # a page that is gone has no picture
                page.screenshot(path=folder / f"page-{number}.png")
        report.sections.append(("the pages as they were", f"{folder}/page-*.png"))
        errors = [error for _, heard_of_it in shown for error in heard_of_it]
        report.sections.append(("their consoles", "\n".join(errors)))
    return report
