"""The ground that the panels' tests stand on: a notebook runs in each front end, and is heard."""

from .frontends import LAB

COUNTER = """
import ipywidgets as widgets
button, label = widgets.Button(description="count"), widgets.Label("0 clicks")
def count(_):
    label.value = f"{int(label.value.split()[0]) + 1} clicks"
button.on_click(count)
widgets.VBox([button, label])
"""


def test_a_button_counts(front, open_notebook):
    """A widget is shown, a click reaches the kernel, and the next cell sees what it did."""
    opened = open_notebook(front, COUNTER)
    for clicks in range(1, 4):
        opened.page.get_by_role("button", name="count").click()
        opened.page.get_by_text(f"{clicks} clicks").wait_for()
    assert opened.kernel.run("print(label.value)") == "3 clicks"


def test_an_error_in_a_callback_is_heard(open_notebook):
    """An error that only the kernel's log would show is among what is complained of."""
    opened = open_notebook(LAB, COUNTER, "label.value = 'no number'")
    opened.page.get_by_role("button", name="count").click()
    [complaint] = opened.until(opened.complaints)
    assert "invalid literal" in complaint
    opened.kernel.errors.clear()
