"""The README's pictures of the notebooks, for `python -m tests.regenerate --pictures`."""

import tempfile
from pathlib import Path

from .chromium import chromium
from .opened import LAB, Opened, opened
from .servers import JUPYTER, running

# What the pictures show of each notebook's panel: as code that runs after the notebook.
SHOWN = {
    ("02-explore-rooms", "rooms"): """
panel.filter(fuller_than=60)
busy = panel.value.room_id[1]  # the fullest has no seat left
ck.import_device(client, busy, "door", "Front door", client.sandbox.camera(name="Front door"))
panel.refresh()
panel.select(busy)
""",
    ("03-occupancy", "occupancy"): "panel.refresh()",
    ("04-rtsp-import", "devices"): "",
}


def take(notebooks: Path) -> None:
    """Runs the notebooks of this folder in JupyterLab, and keeps pictures of them beside them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        running(JUPYTER, Path(folder)) as server,
    ):
        with opened(browser, server, LAB, notebooks / "01-first-look.ipynb") as one:
            (notebooks / "first-look.png").write_bytes(_first_look(one))
        for (notebook, name), code in SHOWN.items():
            with opened(browser, server, LAB, notebooks / f"{notebook}.ipynb") as one:
                (notebooks / f"{name}.png").write_bytes(_portrait(one, code))


def _first_look(one: Opened) -> bytes:
    """The page from the cell before "Who is where" on."""
    one.page.set_viewport_size({"width": 1280, "height": 1005})
    one.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    who = one.page.get_by_role("heading", name="Who is where")
    who.evaluate("one => one.closest('.jp-Cell').previousElementSibling.scrollIntoView()")
    one.page.locator("img").last.wait_for()
    picture: bytes = one.page.screenshot()
    return picture


def _portrait(one: Opened, code: str) -> bytes:
    """The first panel, at the width of a usual screen, once this code has run."""
    one.panel.first.wait_for()
    one.kernel.run(code)
    one.page.wait_for_timeout(500)  # pictures in it come by message
    one.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    height = one.panel.first.evaluate("panel => panel.offsetHeight")
    one.page.set_viewport_size({"width": 1280, "height": int(height) + 400})
    picture: bytes = one.panel.first.screenshot()
    return picture
