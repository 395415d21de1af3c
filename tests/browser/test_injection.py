"""Hostile texts in a real JupyterLab: no script runs, no markup and no formula is made of them."""

from .opened import LAB

CELLS = (
    """
import confkit as ck
from confkit.checklist import Check, Checklist
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
client = ck.connect("sandbox")
sandbox = client.sandbox
HOSTILE = [
    "<img src=x onerror='window.pwned=1'>",
    "<script>window.pwned=1</script><pwned>",
    "'\\" onmouseover=window.pwned=1 autofocus onfocus=window.pwned=1 x='",
    "</td></table><svg onload=window.pwned=1>",
    "$\\\\frac{a}{b}$ \\\\(x\\\\) $\\\\href{javascript:pwned}{x}$",
    "[x](javascript:window.pwned=1)",
]
for number, text in enumerate(HOSTILE):
    room = ck.create_room(client, text, owner_id=text, attendee_max=2, room_extend_id=text)
    sandbox.join(room, HOSTILE[number - 1])
ck.import_device(client, HOSTILE[0], HOSTILE[1], HOSTILE[0], sandbox.camera(), user_data=HOSTILE[2])
rooms = RoomExplorer(client, HOSTILE)
rooms.wait()
rooms.select(HOSTILE[0])
rooms
""",
    "devices = DevicePanel(client, HOSTILE[0])\ndevices",
    "occupancy = OccupancyPanel(client, HOSTILE)\noccupancy",
    "Checklist([Check(text, 'FAIL', text, text) for text in HOSTILE])",
    "ck.preflight(f'rtsp://{HOSTILE[0]}', timeout=1)",
    "ck.diagnose_device(client, HOSTILE[0], HOSTILE[4])",
    "ck.explain(HOSTILE[4])",
    "ck.occupancy_chart(ck.occupancy_frame(rooms.sweep if hasattr(rooms, 'sweep') else "
    "ck.sweep(client, HOSTILE, progress=False)))",
    "import pandas; pandas.options.display.html.use_mathjax = False  # as SECURITY.md says\n"
    "ck.sweep(client, HOSTILE, progress=False).frame()[['room_id', 'owner_id']].head(4)",
)


def test_no_hostile_text_becomes_markup_in_a_notebook(open_notebook):
    """Four panels, reports, a chart and a frame of rooms that are called as scripts: the canary
    `window.pwned` stays unset, also after each text was pointed at, and each shows as it is."""
    opened = open_notebook(LAB, *CELLS)
    page = opened.page
    page.get_by_text("<script>window.pwned=1</script><pwned>").first.wait_for()
    page.get_by_text("FAIL").first.wait_for()
    cells = page.locator(".confkit-panel td", has_text="onmouseover")
    opened.until(lambda: cells.count() > 0)
    cells.first.hover()
    cells.first.click()
    opened.kernel.run("print(len(rooms.value))")
    # What a formula would be set with is there by now, if it is wanted at all.
    page.wait_for_timeout(1_000)
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.locator("pwned").count() == 0
    assert page.locator("[onerror], [onmouseover], [onload], [onfocus]").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0
    assert page.locator("mjx-container").count() == 0
