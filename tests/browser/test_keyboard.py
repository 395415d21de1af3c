"""Each panel with the keyboard alone."""

from .test_panels import camera_of, rooms_shown


def test_a_question_is_asked_and_answered(visit):
    """Tab reaches the button, the question takes the focus and gives it back, Escape means no."""
    panel, keyboard = visit.fresh("frame"), visit.page.keyboard
    visit.kernel.run("panel.value = 7")
    forget = panel.get_by_role("button", name="Forget")
    panel.get_by_role("button", name="Count").focus()
    keyboard.press("Tab")
    keyboard.press("Enter")
    asked = panel.get_by_role("alertdialog", name="Forget that it is 7?")
    asked.wait_for()
    keyboard.press("Escape")
    asked.wait_for(state="hidden")
    assert forget.evaluate("element => element === document.activeElement")
    keyboard.press("Space")
    asked.wait_for()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    panel.get_by_text("Forgotten.", exact=True).wait_for()
    assert visit.kernel.run("print(panel.value)") == "0"


def test_messages_stay_during_work_until_they_are_dismissed(visit):
    """What is there is not drawn, and so not read out, again. A click meanwhile is named; Cancel
    says that it was not done. Dismissing moves the focus to the next message, then to the head."""
    panel, page = visit.fresh("frame"), visit.page
    alert, status = panel.get_by_role("alert"), panel.get_by_role("status")
    panel.get_by_role("button", name="Fail").click()
    failed = alert.get_by_text("Ask for its new address")
    failed.evaluate("element => { element.untouched = true }")
    panel.get_by_role("button", name="Count").click()
    panel.get_by_role("button", name="Forget").click()
    status.get_by_text("Waiting: Forget.").wait_for()
    panel.get_by_role("button", name="Count").click()
    status.get_by_text("Already under way: Count.").wait_for()
    panel.get_by_role("button", name="Cancel").click()
    status.get_by_text("Cancelled while waiting, and not done: Forget.").wait_for()
    status.get_by_text("Counted to").wait_for()
    assert status.get_by_text("Waiting: Forget.").count() == 0
    assert failed.evaluate("element => element.untouched"), "the message was drawn again"
    dismiss = panel.get_by_role("button", name="Dismiss")
    assert dismiss.count() == 3
    dismiss.first.focus()
    for left, key in ((2, "Enter"), (1, "Space"), (0, "Enter")):
        page.keyboard.press(key)
        visit.until(lambda left=left: dismiss.count() == left)
        focus = page.evaluate("document.activeElement.className")
        assert ("confkit-dismiss" if left else "confkit-title") in focus
    assert panel.get_by_role("button", name="Count").is_visible()


def test_rooms_are_found_and_deleted(visit):
    """Typing searches, arrows and Enter pick a room, Escape says no, Enter on Delete says yes."""
    panel, keyboard = visit.fresh("rooms"), visit.page.keyboard
    rows = rooms_shown(panel)
    visit.until(lambda: rows.count() == 3)
    visit.tab_to(panel.get_by_label("Search"))
    keyboard.type("town")
    visit.until(lambda: rows.count() == 1)
    visit.tab_to(rows.first)
    keyboard.press("Enter")
    delete = panel.get_by_role("button", name="Delete room")
    visit.tab_to(delete)
    asked = panel.get_by_role("alertdialog")
    keyboard.press("Enter")
    asked.get_by_text('Delete room "Town hall"').wait_for()
    keyboard.press("Escape")
    asked.wait_for(state="hidden")
    visit.tab_to(delete)
    keyboard.press("Enter")
    asked.wait_for()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("Deleted room").wait_for()
    visit.until(lambda: rows.count() == 0)
    assert visit.kernel.run("print('town' in panel.export().lower())") == "False"


def test_rooms_are_watched(visit):
    """Tab comes to the table, Enter picks a room, whose curve stands beside it as text, too."""
    panel, keyboard = visit.fresh("occupancy"), visit.page.keyboard
    rows = rooms_shown(panel)
    visit.until(lambda: rows.count() == 3)
    visit.tab_to(panel.get_by_role("button", name="Refresh"))
    keyboard.press("Enter")
    visit.tab_to(rows.first)
    keyboard.press("Enter")
    panel.locator("svg[role=img]").first.wait_for()
    visit.tab_to(panel.get_by_label("As text"))
    keyboard.press("Space")
    panel.locator("pre").get_by_text("Weekly sync").wait_for()


def test_a_camera_is_tried_and_imported(visit):
    """Tab comes to each field and button, Enter presses, the question takes the focus."""
    panel, keyboard = visit.fresh("devices"), visit.page.keyboard
    for label, text in camera_of(visit).items():
        visit.tab_to(panel.get_by_label(label, exact=True))
        keyboard.type(text)
    visit.tab_to(panel.get_by_role("button", name="Preflight"))
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    visit.tab_to(panel.get_by_role("button", name="Import", exact=True))
    keyboard.press("Enter")
    panel.get_by_role("alertdialog").wait_for()
    keyboard.press("Shift+Tab")
    keyboard.press("Enter")
    panel.get_by_role("status").get_by_text("was imported").wait_for()
    visit.tab_to(panel.locator("tbody tr[data-key]").first)
    keyboard.press("Enter")
    visit.tab_to(panel.get_by_role("button", name="Remove"))


def test_the_wire_is_read(visit):
    """Tab comes to the table, arrows move in it, Enter picks a call, Tab comes to its curl line."""
    panel, keyboard = visit.fresh("wire"), visit.page.keyboard
    visit.tab_to(panel.locator("tbody tr").first)
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    curl = panel.locator("pre").first
    curl.wait_for()
    visit.tab_to(curl)
    assert visit.kernel.run("print(panel.call.ret)") == "0"


def test_no_key_in_a_panel_is_a_shortcut_of_the_notebook(visit):
    """With the focus on a button, `d d` does not delete the cell, nor does Arrow Down leave it."""
    panel, keyboard = visit.fresh("frame"), visit.page.keyboard
    button = panel.get_by_role("button", name="Count")
    visit.tab_to(button)
    for key in ("d", "d", "ArrowDown"):
        keyboard.press(key)
    assert visit.kernel.run("print('still here')") == "still here"
    assert button.evaluate("one => one.isConnected && one === document.activeElement")
