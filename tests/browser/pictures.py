"""README's picture of a panel, and those of the course's drawings, for
`python -m tests.regenerate --pictures`."""

import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image

from .chromium import chromium
from .opened import LAB, opened
from .servers import JUPYTER, running

# Runs after explore-rooms: what its panel shows in the picture.
SCENE = """
busy = panel.value.query("utilisation < 1").room_id.iloc[0]  # with a seat left for a camera
ck.import_device(client, busy, "door", "Front door", client.sandbox.camera(name="Front door"))
panel.rooms.search = "training"
panel.refresh()
panel.select(busy)
"""
# Readable on white and on black paper.
_CARD = """<style>body { margin: 0 } svg { display: block }
div { display: inline-block; padding: 12px; background: #fff;
  border: 1px solid #b0b0b0; border-radius: 10px }</style><div>"""


def take(notebooks):
    """Run explore-rooms in JupyterLab, and keep a picture of its last panel beside it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        running(JUPYTER, Path(folder)) as server,
        opened(browser, server, LAB, notebooks / "explore-rooms.ipynb") as notebook,
    ):
        notebook.kernel.run(SCENE)
        notebook.page.wait_for_timeout(500)  # pictures in it come by message
        notebook.page.evaluate("window.jupyterapp.shell.collapseLeft()")
        panel = notebook.page.locator(".confkit-panel").last
        height = panel.evaluate("panel => panel.offsetHeight")
        notebook.page.set_viewport_size({"width": 1280, "height": int(height) + 400})
        save(panel.screenshot(), notebooks / "rooms.png", 256)


def save(picture, path, colours):
    """Save a picture with few colours, which is less than half as large."""
    with Image.open(BytesIO(picture)) as image:
        small = image.quantize(colours, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


def draw(drawings):
    """Keeps an image of each drawing of this folder beside it, on a card with round corners."""
    with chromium() as browser:
        page = browser.new_page(device_scale_factor=2)
        for drawing in drawings.glob("*.svg"):
            page.set_content(_CARD + drawing.read_text("utf-8"))
            card = page.locator("div").screenshot(omit_background=True)
            save(card, drawing.with_suffix(".png"), 32)
