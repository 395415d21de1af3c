"""ConnectPanel in real browsers."""

from .accessibility import violations
from .frontends import LAB
from .themes import THEMES, show_in

CELLS = (
    """
from confkit.sandbox import Sandbox
from confkit.panels import ConnectPanel
service = Sandbox(seed=1).start()
""",
    """
panel = ConnectPanel()
panel
""",
)
LABELS = {
    "base_url": "Interface A",
    "outgoing_url": "Interface B",
    "access_key": "Access key",
    "secret_key": "Secret key",
}


def filled(opened, **instead):
    """Chooses addresses and keys, and types in those of the notebook's service."""
    opened.panel.get_by_label("Service").select_option("addresses and keys")
    for name, label in LABELS.items():
        text = instead.get(name) or opened.kernel.run(f"print(service.{name})")
        opened.panel.get_by_label(label).fill(text)


def test_a_service_is_tested_and_connected(front, open_notebook):
    """A wrong key is told with its next step; the right one connects, and the cell has a client."""
    opened = open_notebook(front, *CELLS)
    panel, kernel = opened.panel, opened.kernel
    filled(opened, secret_key="no-such-key")
    panel.get_by_role("button", name="Test").click()
    panel.get_by_text("not well").first.wait_for()
    panel.get_by_label("Secret key").fill(kernel.run("print(service.secret_key)"))
    panel.get_by_role("button", name="Test").click()
    panel.get_by_role("status").get_by_text("answers").wait_for()
    assert panel.get_by_text("✓ well").count() == 2
    panel.get_by_role("button", name="Connect").click()
    panel.get_by_role("status").get_by_text("Connected").wait_for()
    assert kernel.run("import confkit as ck; print(ck.list_devices(panel.value))") == "[]"
    assert "no-such-key" not in panel.inner_html()


def test_a_sandbox_is_connected_with_the_keyboard_alone(open_notebook):
    """Tab comes to Connect, Enter presses it, and the next cell has a client."""
    opened = open_notebook(LAB, *CELLS)
    opened.tab_to(opened.panel.get_by_role("button", name="Connect"))
    opened.page.keyboard.press("Enter")
    opened.panel.get_by_role("status").get_by_text("Connected to SANDBOX").wait_for()
    assert opened.kernel.run("print(panel.value.name)") == "SANDBOX"


def test_connecting_breaks_no_rule_of_accessibility(open_notebook, picture):
    """axe-core finds nothing with every setting and a result shown, in either theme."""
    opened = open_notebook(LAB, *CELLS)
    panel = opened.panel
    filled(opened, secret_key="no-such-key")
    panel.get_by_role("button", name="More settings").click()
    panel.get_by_role("button", name="Test").click()
    panel.get_by_text("not well").first.wait_for()
    for theme in THEMES:
        show_in(opened.page, theme)
        assert violations(opened.page) == []
        picture(opened, f"connect {theme}")
