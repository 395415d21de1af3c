"""Each panel at work in JupyterLab, by keyboard and mouse; one notebook shows all of them."""

import os
import signal

OVERFLOWS = """panel => [...panel.querySelectorAll('*')].filter(one => {
    const frame = one.parentElement.closest('.confkit-scroller, pre, .confkit-split > :last-child');
    return !frame && one.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1;
}).map(one => one.outerHTML.slice(0, 200))"""
ROOMS, OCCUPANCY, DEVICES = range(3)  # the places of `all_panels`


def rows(panel, name="Rooms"):
    return panel.get_by_role("grid", name=name).locator("tbody tr[id]")


def button(panel, name):
    return panel.get_by_role("button", name=name, exact=True)


def search(lab, panel, text):
    """Leaves one room, by keyboard."""
    lab.tab_to(panel.get_by_role("searchbox"))
    lab.page.keyboard.type(text)
    lab.until(lambda: rows(panel).count() == 1)


def test_a_question_has_the_focus_and_keys_are_the_panels_own(lab):
    """The focus is on what changes nothing, Escape is no, and gives the focus back. There `d d`
    does not delete the cell, nor does Arrow Down leave it."""
    panel, keyboard = lab.fresh("blocks"), lab.page.keyboard
    forget = button(panel, "Forget")
    lab.press(forget)
    panel.get_by_text("Forget it?").wait_for()
    lab.until(lambda: lab.has_focus(button(panel, "Keep")))
    lab.accessible()
    button(panel, "Keep").focus()  # a change of the theme takes it
    keyboard.press("Escape")
    panel.get_by_text("Forget it?").wait_for(state="hidden")
    lab.until(lambda: lab.has_focus(forget))
    for key in ("d", "d", "ArrowDown"):
        keyboard.press(key)
    assert lab.has_focus(forget)
    keyboard.press("Space")
    lab.press(button(panel, "Do"))
    panel.get_by_text("Forgotten.").wait_for()
    assert lab.kernel.run("print(done)") == "[1]"


def test_rooms_are_searched_and_looked_into(lab):
    """By keyboard: search leaves what fits, arrow keys move the pick and the details follow."""
    panel, keyboard = lab.fresh("all_panels", ROOMS), lab.page.keyboard
    search(lab, panel, "studio")
    lab.tab_to(panel.get_by_role("grid", name="Rooms"))
    keyboard.press("ArrowDown")
    lab.until(lambda: rows(panel, "Users").count() == 2)
    assert rows(panel).first.get_attribute("aria-selected") == "true"
    assert lab.page.evaluate("typeof window.pwned") == "undefined"
    button(panel, "New room").click()
    lab.press(button(panel, "Delete room"))
    panel.get_by_placeholder("Type ").wait_for()
    lab.accessible()


def test_occupancy_is_watched(lab):
    """Refresh lists what has changed; a picked room has its curve beside it."""
    panel = lab.fresh("all_panels", OCCUPANCY)
    search(lab, panel, "town")
    lab.kernel.run("client.sandbox.join(town, 'Dee')")
    lab.press(button(panel, "Refresh"))
    rows(panel).get_by_text("1 of 200").wait_for()
    rows(panel, "Recent changes").filter(has_text="Town hall").get_by_text("opened").wait_for()
    lab.tab_to(panel.get_by_role("grid", name="Rooms"))
    lab.page.keyboard.press("Home")
    panel.locator("svg[role=img]").first.wait_for()
    lab.accessible()


def test_a_camera_is_tried_and_imported(lab):
    """Tab comes to each field and button; Preflight shows the first picture."""
    panel, kernel = lab.fresh("all_panels", DEVICES), lab.kernel
    fields = {"User ID": "gate", "Name": "Gate", "Address": kernel.run("print(camera)")}
    for label, text in {**fields, "Login name": "admin", "Login password": "open-sesame"}.items():
        lab.tab_to(panel.get_by_label(label, exact=True))
        lab.page.keyboard.type(text)
    lab.press(button(panel, "Preflight"))
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    panel.get_by_alt_text("The first picture").wait_for()
    lab.press(button(panel, "Import"))
    button(panel, "Keep").wait_for()
    lab.press(button(panel, "Import").last)
    panel.get_by_text('Imported "Gate"').wait_for()
    lab.accessible()
    assert "open-sesame" not in panel.inner_html()


def test_an_outage_keeps_the_values_and_says_how_old_they_are(lab):
    """Rooms are read while they are seen; one banner says since when nobody answers, and goes."""
    panel, kernel = lab.fresh("all_panels", ROOMS, every=0.5), lab.kernel
    search(lab, panel, "town")
    banner = panel.locator(".confkit-banner").get_by_text("No response since")
    kernel.run("client.sandbox.join(town, 'Dee')")
    rows(panel).get_by_text("1 of 200").wait_for()
    kernel.run("client.sandbox.fault('A3', http=503)")
    banner.wait_for()
    assert "values from" in panel.locator(".confkit-banner").inner_text()
    assert rows(panel).get_by_text("1 of 200").is_visible()
    lab.accessible()
    kernel.run("client.sandbox.clear_faults()")
    banner.wait_for(state="hidden")
    kernel.run("refresh.close()")


def test_a_page_says_that_it_lost_its_kernel(lab):
    """By a banner, until the kernel is back; buttons cannot be pressed meanwhile."""
    panel = lab.fresh("all_panels", ROOMS)
    rows(panel).first.wait_for()
    kernel = int(lab.kernel.run("import os; print(os.getpid())"))
    os.kill(kernel, signal.SIGSTOP)
    try:
        lost = panel.get_by_text("No connection since")
        lost.wait_for()
        assert rows(panel).first.is_visible()
        assert button(panel, "Refresh").evaluate("button => button.closest('[inert]') !== null")
    finally:
        os.kill(kernel, signal.SIGCONT)
    lost.wait_for(state="hidden")


def test_a_panel_fits_into_its_window(lab):
    """All of it is inside, also with much in it."""
    lab.fresh("all_panels")
    lab.kernel.run("for panel in shown[:2]: panel.select(studio)")
    lab.kernel.run("shown[2].preflight(user_id='g', user_name='G', user_address=camera)")
    lab.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    for width in (700, 1400):
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.page.wait_for_timeout(500)
        for panel in lab.page.locator(".confkit-panel").all():
            assert panel.evaluate(OVERFLOWS) == [], width
