"""The notebooks as they are: in JupyterLab, and the app in Voila."""

from pathlib import Path

import pytest

from .opened import LAB, VOILA

pytestmark = pytest.mark.nightly
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_the_app_shows_each_panel_in_its_tab(open_notebook):
    """A page without code: three tabs, each with its panel at work on the simulated building."""
    page = open_notebook(VOILA, NOTEBOOKS / "app.ipynb").page
    page.get_by_text("60 rooms · read at").first.wait_for()
    for tab, shown in {
        "Occupancy": "in use",
        "Cameras": "Preflight",
        "Rooms": "Owner",
    }.items():
        page.get_by_role("tab", name=tab).click()
        page.locator(".lm-TabPanel, .widget-tab").get_by_text(shown).locator(
            "visible=true"
        ).first.wait_for()
    assert page.get_by_text("RoomExplorer").count() == 0


def test_a_notebook_runs_and_shows_its_panel(open_notebook):
    """Each cell runs without a complaint, and the panel stands in the page."""
    page = open_notebook(LAB, NOTEBOOKS / "explore-rooms.ipynb").page
    page.locator(".confkit-panel").first.wait_for()
