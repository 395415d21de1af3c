"""WirePanel in real browsers."""

from .accessibility import violations
from .frontends import LAB
from .themes import THEMES, show_in

CELLS = (
    """
import confkit as ck
client = ck.connect("sandbox")
room_id = ck.create_room(client, "Weekly sync", owner_id="ops", host_password="open-sesame")
ck.get_room(client, room_id)
try:
    ck.get_room(client, "404404")
except ck.RoomNotFound as error:
    missing = error
""",
    """
from confkit.panels import WirePanel
panel = WirePanel(client)
panel
""",
)


def test_the_last_calls_are_shown_as_they_were_sent(front, open_notebook):
    """A call is picked: curl, Python, answer and meaning; the token's making; new calls come."""
    opened = open_notebook(front, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    rows = panel.locator("tbody tr")
    rows.first.get_by_text("A3").wait_for()
    assert rows.count() == int(kernel.run("print(len(panel.value))")) == 4
    rows.first.click()
    panel.get_by_text("$CONFKIT_TOKEN").first.wait_for()
    panel.get_by_text("what to do").wait_for()
    assert kernel.run("print(panel.call.ret)") == "404"
    panel.get_by_role("button", name="How the token is made").click()
    panel.get_by_text("In full, because the keys of this sandbox are published").wait_for()
    token = kernel.run("print(panel.token_steps()[-1].value)")
    assert token in panel.inner_text()
    panel.get_by_role("button", name="Hide the token").click()
    opened.until(lambda: token not in panel.inner_text())
    kernel.run("ck.get_mcu(client, room_id)")
    rows.first.get_by_text("A5").wait_for()
    assert "open-sesame" not in panel.inner_html()


def test_the_wire_is_read_with_the_keyboard_alone(open_notebook):
    """Tab comes to the table, arrows move in it, Enter picks a call, Tab comes to its curl line."""
    opened = open_notebook(LAB, *CELLS)
    panel = opened.panel
    opened.tab_to(panel.locator("tbody tr").first)
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("Enter")
    curl = panel.locator("pre").first
    curl.wait_for()
    opened.tab_to(curl)
    assert opened.kernel.run("print(panel.call.ret)") == "0"


def test_the_wire_breaks_no_rule_of_accessibility(open_notebook, picture):
    """axe-core finds nothing with a call and the token's steps shown, in either theme."""
    opened = open_notebook(LAB, *CELLS)
    opened.panel.locator("tbody tr").first.click()
    opened.panel.get_by_role("button", name="How the token is made").click()
    opened.panel.get_by_role("button", name="Hide the token").wait_for()
    for theme in THEMES:
        show_in(opened.page, theme)
        assert violations(opened.page) == []
        picture(opened, f"wire {theme}")


def test_a_token_that_has_expired_is_told_and_renewed(open_notebook):
    """The panel shows 602 with its meaning, the new authentication, and the call again."""
    opened = open_notebook(LAB, *CELLS)
    opened.kernel.run("client.sandbox.advance(10**6); ck.get_room(client, room_id)")
    rows = opened.panel.locator("tbody tr")
    rows.nth(2).get_by_text("602").wait_for()
    assert "A1" in rows.nth(1).inner_text()
    assert "A3" in rows.nth(0).inner_text()
