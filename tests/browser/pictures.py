"""The pictures of panels in README and notebooks, for `python -m tests.regenerate --pictures`."""

import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

from .chromium import chromium
from .opened import LAB, Opened, opened
from .servers import JUPYTER, running

# What the pictures show of each notebook's panel: as code that runs after the notebook.
SHOWN = {
    ("first-look", "first-look"): "",
    ("explore-rooms", "rooms"): """
busy = panel.value.query("utilisation < 1").room_id.iloc[0]  # with a seat left for a camera
ck.import_device(client, busy, "door", "Front door", client.sandbox.camera(name="Front door"))
panel.rooms.search = "training"
panel.refresh()
panel.select(busy)
""",
}
_WHO = "one => one.closest('.jp-Cell').previousElementSibling.scrollIntoView()"


def take(notebooks: Path) -> None:
    """Runs the notebooks of this folder in JupyterLab, and keeps pictures of them beside them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        running(JUPYTER, Path(folder)) as server,
    ):
        for (notebook, name), code in SHOWN.items():
            with opened(browser, server, LAB, notebooks / f"{notebook}.ipynb") as one:
                one.kernel.run(code)
                one.page.wait_for_timeout(500)  # pictures in it come by message
                one.page.evaluate("window.jupyterapp.shell.collapseLeft()")
                _saved(_picture(one), notebooks / f"{name}.png")


def _saved(picture: bytes, path: Path) -> None:
    """With 256 colours, which is less than half as large."""
    with Image.open(BytesIO(picture)) as whole:
        few = whole.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def _picture(one: Opened) -> bytes:
    """The last panel at the width of a usual screen; without one the page, from who is where."""
    panel = one.page.locator(".confkit-panel").last
    if not panel.count():
        one.page.set_viewport_size({"width": 1280, "height": 1005})
        one.page.get_by_role("heading", name="Who is where").evaluate(_WHO)
        one.page.locator(".confkit-chart svg").last.wait_for()
        return bytes(one.page.screenshot())
    height = panel.evaluate("panel => panel.offsetHeight")
    one.page.set_viewport_size({"width": 1280, "height": int(height) + 400})
    return bytes(panel.screenshot())
