"""The notebooks as they are: the app in Voila, and one in Notebook 7."""

import shutil
from pathlib import Path

from .opened import NOTEBOOK, opened
from .servers import VOILA, running
from .test_panels import rows

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_the_app_shows_each_panel_in_its_tab(chrome, tmp_path):
    """A page without code: three tabs, each with its panel at work on the simulated building."""
    with running(VOILA, tmp_path) as server, chrome.new_page() as page:
        shutil.copy(NOTEBOOKS / "app.ipynb", server.root)
        page.goto(f"{server.address}/voila/render/app.ipynb", timeout=60_000)
        page.get_by_text("60 rooms").first.wait_for(timeout=60_000)
        for tab, text in {
            "Occupancy": "Pick a room to see it over time.",
            "Cameras": "Preflight",
            "Rooms": "Pick a room to see its users.",
        }.items():
            page.get_by_role("tab", name=tab).click()
            page.locator(".widget-tab").get_by_text(text).locator("visible=true").first.wait_for()
        assert page.get_by_text("RoomExplorer").count() == 0


def test_a_notebook_shows_a_panel_that_works_in_notebook_7(chrome, jupyter):
    with opened(chrome, jupyter, NOTEBOOK, NOTEBOOKS / "explore-rooms.ipynb") as notebook:
        notebook.page.locator(".confkit-panel").nth(1).wait_for()
        panel = notebook.page.locator(".confkit-panel").last
        panel.get_by_role("searchbox").fill("no such room")
        rows(panel).first.wait_for(state="detached")
        assert notebook.complaints() == []
