"""What every panel has: progress that can be cancelled, questions, errors; by mouse and keys."""

from .accessibility import violations
from .frontends import LAB
from .themes import THEMES, show_in

PANEL = """
import confkit as ck
from confkit.panels import arranging
from confkit.panels.panel import Panel

class Counting(Panel):
    def __init__(self, client):
        super().__init__("Counting", client)
        self.value, self.runs = 0, 0
        self.shows(arranging.row(
            arranging.button("Count", self.clicked(self.count), "primary"),
            arranging.button("Forget", self.asks("Forget", self.question, self.forget), "danger"),
            arranging.button("Fail", self.clicked(self.fail)),
        ))
    def count(self):
        self.runs += 1
        with self.working("Counting", "count") as work:
            for step in range(1, 301):
                if work.cancelled.wait(0.02):
                    break
                work.progress(step, 300)
                self.value = step
        self.tell(f"Counted to {self.value}.", "good", "count")
    def question(self):
        return f"Forget that it is {self.value}?"
    def forget(self):
        self.value = 0
        self.tell("Forgotten.", kind="change")
    def fail(self):
        with self.working("Failing", "fail"):
            raise ck.ConfigError("The service has moved. Ask for its new address.")

panel = Counting(ck.connect("sandbox"))
panel
"""


def test_work_shows_how_far_it_is_and_ends_when_it_is_cancelled(front, open_notebook):
    """The bar moves, a second click is no second count, Cancel ends it, and what came stands. An
    error then stands in the panel as an alert, with its next step."""
    opened = open_notebook(front, PANEL)
    panel, kernel = opened.panel, opened.kernel
    panel.get_by_text("SANDBOX").wait_for()
    panel.get_by_role("button", name="Count").click()
    opened.until(lambda: "of 300" in panel.locator(".confkit-what").inner_text())
    panel.get_by_role("button", name="Count").click()
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_text("Counted to").wait_for()
    assert 0 < int(kernel.run("print(panel.value)")) < 300
    assert kernel.run("print(panel.runs)") == "1"
    panel.get_by_role("button", name="Fail").click()
    panel.get_by_role("alert").get_by_text("Ask for its new address").wait_for()


def test_a_question_is_asked_and_answered_with_the_keyboard_alone(open_notebook):
    """Tab reaches the button, the question takes the focus and gives it back, Escape means no."""
    opened = open_notebook(LAB, PANEL)
    page, kernel = opened.page, opened.kernel
    kernel.run("panel.value = 7")
    forget = page.get_by_role("button", name="Forget")
    page.get_by_role("button", name="Count").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    asked = page.get_by_role("alertdialog", name="Forget that it is 7?")
    asked.wait_for()
    page.keyboard.press("Escape")
    asked.wait_for(state="hidden")
    assert forget.evaluate("element => element === document.activeElement")
    page.keyboard.press("Space")
    asked.wait_for()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Forgotten.", exact=True).wait_for()
    assert kernel.run("print(panel.value)") == "0"


def test_the_frame_breaks_no_rule_of_accessibility(open_notebook):
    """axe-core finds nothing at rest, in a question, or after an error, in either theme."""
    page = open_notebook(LAB, PANEL).page
    for theme in THEMES:
        show_in(page, theme)
        assert violations(page) == []
        page.get_by_role("button", name="Forget").click()
        page.get_by_role("alertdialog").wait_for()
        assert violations(page) == []
        page.keyboard.press("Escape")
        page.get_by_role("alertdialog").wait_for(state="hidden")
        page.get_by_role("button", name="Fail").click()
        page.get_by_role("alert").get_by_text("Ask").wait_for()
        assert violations(page) == []


def test_messages_stay_during_work_until_they_are_dismissed_with_the_keyboard(open_notebook):
    """What is there is not drawn, and so not read out, again. A click meanwhile is named; Cancel
    says that it was not done. Dismissing moves the focus to the next message, then to the head."""
    page = open_notebook(LAB, PANEL).page
    alert, status = page.get_by_role("alert"), page.get_by_role("status")
    page.get_by_role("button", name="Fail").click()
    failed = alert.get_by_text("Ask for its new address")
    failed.evaluate("element => { element.untouched = true }")
    page.get_by_role("button", name="Count").click()
    page.get_by_role("button", name="Forget").click()
    status.get_by_text("Waiting: Forget.").wait_for()
    page.get_by_role("button", name="Count").click()
    status.get_by_text("Already under way: Count.").wait_for()
    page.get_by_role("button", name="Cancel").click()
    status.get_by_text("Cancelled while waiting, and not done: Forget.").wait_for()
    status.get_by_text("Counted to").wait_for()
    assert status.get_by_text("Waiting: Forget.").count() == 0
    assert failed.evaluate("element => element.untouched"), "the message was drawn again"
    for theme in THEMES:
        show_in(page, theme)
        assert violations(page) == []
    dismiss = page.get_by_role("button", name="Dismiss")
    assert dismiss.count() == 3
    dismiss.first.focus()
    for left, key in ((2, "Enter"), (1, "Space"), (0, "Enter")):
        page.keyboard.press(key)
        page.wait_for_function(
            "left => document.querySelectorAll('.confkit-dismiss').length === left", arg=left
        )
        focus = page.evaluate("document.activeElement.className")
        assert ("confkit-dismiss" if left else "confkit-title") in focus
    assert page.get_by_role("button", name="Count").is_visible()


def test_a_violation_is_found(open_notebook):
    """A button without a name and a text that is hardly there are violations."""
    opened = open_notebook(LAB, PANEL)
    opened.panel.evaluate("""panel => { panel.insertAdjacentHTML('beforeend',
        '<button class="icon"></button><p style="color: #ddd; background: #fff">faint</p>') }""")
    found = violations(opened.page)
    assert [line.partition(":")[0] for line in found] == ["button-name", "color-contrast"]
