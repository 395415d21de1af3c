"""The notebooks in JupyterLab, and the README's pictures of them.

`python -m tests.regenerate --pictures` keeps the pictures.
"""

from pathlib import Path

import pytest

from .frontends import LAB

# What the README's pictures show: as code that runs after the notebook.
SHOWN = {
    "rooms": """
panel.filter(fuller_than=60)
busy = panel.value.room_id[1]  # the fullest has no seat left
ck.import_device(client, busy, "door", "Front door", client.sandbox.camera(name="Front door"))
panel.refresh()
panel.select(busy)
""",
    "occupancy": "panel.refresh()",
    "devices": "",
}
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def test_the_first_notebook_runs(open_notebook, picture):
    """Each cell runs without a complaint; the picture shows who is where."""
    opened = open_notebook(LAB, NOTEBOOKS / "01-first-look.ipynb", height=1005)
    opened.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    who = opened.page.get_by_role("heading", name="Who is where")
    who.evaluate("one => one.closest('.jp-Cell').previousElementSibling.scrollIntoView()")
    opened.page.locator("img").last.wait_for()
    picture(opened, "first-look", page=True, for_readme=True)


@pytest.mark.parametrize(
    ("notebook", "name"),
    [("02-explore-rooms", "rooms"), ("03-occupancy", "occupancy"), ("04-rtsp-import", "devices")],
)
def test_a_notebook_runs_and_shows_its_panel(notebook, name, open_notebook, picture):
    """Each cell runs without a complaint, and the panel stands in the page."""
    opened = open_notebook(LAB, NOTEBOOKS / f"{notebook}.ipynb")
    opened.panel.first.wait_for()
    opened.kernel.run(SHOWN[name])
    opened.page.wait_for_timeout(500)  # pictures in it come by message
    picture(opened, name, for_readme=True)
