"""Servers and Chromium for all tests here, the notebook of all panels open in each front end, and
a function that opens another."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any

import pytest

from .chromium import chromium
from .opened import LAB, NOTEBOOK, VOILA, Opened, opened
from .servers import JUPYTER, Server, running
from .servers import VOILA as VOILA_COMMAND

ALL = (
    "import confkit as ck\nfrom tests.browser.stage import Stage\nstage = Stage()",
    "stage.box",
)
OTHERS = NOTEBOOK, VOILA
_OPEN = pytest.StashKey[list[Opened]]()  # what a test looks at


@pytest.fixture(scope="package")
def chrome() -> Iterator[Any]:
    """Chromium, for this folder alone: Playwright's event loop is in the way of other tests."""
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


@pytest.fixture(scope="package")
def opening(request: pytest.FixtureRequest, chrome: Any) -> Callable[..., Any]:
    """Opens a notebook for as long as a `with` lasts: opening(front, *cells), or its path."""
    servers = {LAB: "jupyter", NOTEBOOK: "jupyter", VOILA: "voila"}
    return lambda front, *cells: opened(
        chrome, request.getfixturevalue(servers[front]), front, *cells
    )


@pytest.fixture(scope="package")
def visits(opening: Callable[..., Any]) -> Iterator[Callable[[str], Opened]]:
    """The notebook of all panels in this front end: opened once, and left at the end."""
    with ExitStack() as open_:
        yield cache(lambda front: open_.enter_context(opening(front, *ALL)))


@pytest.fixture(params=[LAB, *(pytest.param(front, marks=pytest.mark.nightly) for front in OTHERS)])
def visit(request: pytest.FixtureRequest, visits: Callable[[str], Opened]) -> Iterator[Opened]:
    """The notebook of all panels, in JupyterLab, and nightly in the other front ends."""
    with quiet(request, visits(request.param)) as page:
        yield page


@pytest.fixture
def lab(request: pytest.FixtureRequest, visits: Callable[[str], Opened]) -> Iterator[Opened]:
    """The notebook of all panels in JupyterLab."""
    with quiet(request, visits(LAB)) as page:
        yield page


@pytest.fixture
def open_notebook(
    request: pytest.FixtureRequest, opening: Callable[..., Any]
) -> Iterator[Callable[..., Opened]]:
    """Opens a notebook for one test, as `opening` does for many."""
    with ExitStack() as open_:
        yield lambda *cells: open_.enter_context(
            quiet(request, open_.enter_context(opening(*cells)))
        )


@contextmanager
def quiet(request: pytest.FixtureRequest, page: Opened) -> Iterator[Opened]:
    """What was opened; when the test ends nothing in it may have complained."""
    request.node.stash.setdefault(_OPEN, []).append(page)
    yield page
    complaints = page.complaints()
    assert not complaints, "\n".join(complaints)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """When a test fails, its pages are kept as pictures, and the report says where."""
    from playwright.sync_api import Error as PlaywrightError

    report = yield
    pages = item.stash.get(_OPEN, [])
    if report.when == "call" and report.failed and pages:
        folder = item.config._tmp_path_factory.mktemp("pages")
        for number, page in enumerate(pages):
            with suppress(PlaywrightError):  # a page that is gone has no picture
                page.page.screenshot(path=folder / f"page-{number}.png")
        report.sections.append(("the pages as they were", f"{folder}/page-*.png"))
    return report
