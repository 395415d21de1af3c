"""The notebooks as they are: in JupyterLab, and the app in Voila."""

from pathlib import Path

import pytest

from .opened import LAB, VOILA

pytestmark = pytest.mark.nightly
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_the_app_shows_each_panel_in_its_tab(open_notebook):
    """A page without code: three tabs, each with its panel at work on the simulated building."""
    page = open_notebook(VOILA, NOTEBOOKS / "app.ipynb").page
    page.get_by_text("60 rooms").first.wait_for()
    for tab, text in {
        "Occupancy": "Pick a room to see it over time.",
        "Cameras": "Preflight",
        "Rooms": "Pick a room to see its users.",
    }.items():
        page.get_by_role("tab", name=tab).click()
        page.locator(".widget-tab").get_by_text(text).locator("visible=true").first.wait_for()
    assert page.get_by_text("RoomExplorer").count() == 0


@pytest.mark.parametrize("name", ["explore-rooms", "occupancy", "rtsp-import"])
def test_a_notebook_builds_a_panel_and_shows_the_finished_one(open_notebook, name):
    """Each cell runs without a complaint, and both panels stand in the page."""
    page = open_notebook(LAB, NOTEBOOKS / f"{name}.ipynb").page
    page.locator(".confkit-panel").nth(1).wait_for()
