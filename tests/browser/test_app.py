"""The panels as one page, in Voila."""

from pathlib import Path

from .frontends import VOILA

APP = Path(__file__).resolve().parent.parent.parent / "notebooks" / "app.ipynb"


def test_the_app_shows_each_panel_in_its_tab(open_notebook):
    """A page without code: four tabs, each with its panel at work on the simulated building."""
    opened = open_notebook(VOILA, APP)
    page = opened.page
    page.get_by_text("60 rooms · read at").wait_for()
    for tab, shown in {
        "Occupancy": "in use", "Cameras": "Preflight", "Calls": "/rtc/room/get", "Rooms": "Owner",
    }.items():  # fmt: skip
        page.get_by_role("tab", name=tab).click()
        page.locator(".lm-TabPanel, .widget-tab").get_by_text(shown).locator(
            "visible=true"
        ).first.wait_for()
    assert page.get_by_text("RoomExplorer").count() == 0
