"""Each panel at work in each front end, by mouse; all of them stand in one notebook."""

from .opened import LAB, yes

OVERFLOWS = """panel => [...panel.querySelectorAll('*')].filter(one => {
    const frame = one.parentElement.closest('.confkit-table-frame, pre');
    return !frame && one.getBoundingClientRect().right > panel.getBoundingClientRect().right + 1;
}).map(one => one.outerHTML.slice(0, 200))"""
MOVED = """frames => frames.filter(one => one.offsetParent && one.scrollWidth > one.clientWidth)
    .map(one => one.innerText.slice(0, 200))"""


def rooms_shown(panel):
    """The table of the rooms, whose first column says how they are called."""
    return panel.get_by_role("grid", name="Rooms").locator("tbody tr")


def camera_of(lab, password="open-sesame"):
    """What a person types in, by label, to import the camera of the scene."""
    seat = {"User id": "door", "Name": "Front door", "Address": lab.kernel.run("print(camera)")}
    return {**seat, "Login name": "admin", "Login password": password}


def type_camera(lab, panel, **instead):
    """Types that in."""
    for label, text in camera_of(lab, **instead).items():
        panel.get_by_label(label, exact=True).fill(text)


def test_a_button_counts(visit):
    """A widget is shown, a click reaches the kernel, and the next cell sees what it did."""
    shown = visit.fresh("counter")
    for clicks in range(1, 4):
        shown.get_by_role("button", name="count").click()
        shown.get_by_text(f"{clicks} clicks").wait_for()
    assert visit.kernel.run("print(label.value)") == "3 clicks"


def test_work_shows_how_far_it_is_and_ends_when_it_is_cancelled(visit):
    """The bar moves, a second click is no second count, Cancel ends it, and what came stands. An
    error then stands in the panel as an alert, with its next step."""
    panel, kernel = visit.fresh("frame"), visit.kernel
    panel.get_by_text("SANDBOX").wait_for()
    panel.get_by_role("button", name="Count").click()
    visit.until(lambda: "of 300" in panel.locator(".confkit-what").inner_text())
    panel.get_by_role("button", name="Count").click()
    panel.get_by_text("Already under way: Count.").wait_for()
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_text("Counted to").wait_for()
    assert 0 < int(kernel.run("print(panel.value)")) < 300
    assert kernel.run("print(panel.runs)") == "1"
    panel.get_by_role("button", name="Fail").click()
    panel.get_by_role("alert").get_by_text("Ask for its new address").wait_for()


def test_a_click_while_the_kernel_is_busy_takes_effect_once(visit):
    """A button that is clicked while a cell runs does what it does, once."""
    panel, kernel = visit.fresh("devices"), visit.kernel
    kernel.run("panel.wait(); before = client.sandbox.count()")
    kernel.start("import time; time.sleep(2); done = True")
    panel.get_by_role("button", name="Refresh").click()
    assert kernel.run("print(done)") == "True"
    count = "panel.wait(); print(client.sandbox.count() - before)"
    visit.until(lambda: kernel.run(count) != "0")
    visit.page.wait_for_timeout(300)
    assert kernel.run(count) == "1"


def test_rooms_are_found_and_looked_into(visit):
    """A room that is unknown is a row that says so; search leaves what fits; a click shows people,
    devices and pictures; the media server is asked for by a button alone."""
    panel, kernel = visit.fresh("rooms"), visit.kernel
    rows = rooms_shown(panel)
    visit.until(lambda: rows.count() == 3)
    rows.filter(has_text="404404").get_by_text("not read").first.wait_for()
    panel.get_by_label("Search").fill("weekly")
    visit.until(lambda: rows.count() == 1)
    assert kernel.run("print(list(panel.value.topic))") == "['Weekly sync']"
    rows.first.click()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    assert kernel.run("print(client.sandbox.count('/sdk/get_mcu'))") == "0"
    panel.get_by_role("button", name="Check media server").click()
    panel.get_by_role("status").get_by_text("accepts connections").wait_for()
    panel.get_by_text("Asked on ").wait_for()


def test_a_user_is_removed_and_rooms_are_created_and_deleted(visit):
    """Who is removed and what is deleted is named in a question first; the table follows."""
    panel, kernel = visit.fresh("rooms"), visit.kernel
    rows = rooms_shown(panel)
    rows.filter(has_text="Weekly").click()
    panel.get_by_role("grid", name="People and devices").get_by_text("Ada").click()
    panel.get_by_role("button", name="Force offline").click()
    yes(panel, 'Remove "Ada"')
    panel.get_by_role("status").get_by_text("Removed ").wait_for()
    assert "Ada" not in kernel.run("print(ck.get_room_users(client, weekly))")
    panel.get_by_role("button", name="New room").click()
    panel.get_by_label("Topic").fill("Stand-up")
    panel.get_by_label("Owner").fill("ops")
    panel.get_by_role("button", name="Create room").click()
    panel.get_by_role("status").get_by_text('Created room "Stand-up"').wait_for()
    visit.until(lambda: rows.count() == 4)
    panel.get_by_role("button", name="Delete room").click()
    yes(panel, 'Delete room "Stand-up"')
    panel.get_by_role("status").get_by_text("Deleted room").wait_for()
    visit.until(lambda: rows.count() == 3)


def test_the_rooms_are_downloaded_as_csv(visit):
    """One click saves the table that the panel's `export` gives."""
    panel = visit.fresh("rooms")
    visit.until(lambda: rooms_shown(panel).count() == 3)
    with visit.page.expect_download() as download:
        panel.get_by_role("button", name="Download CSV").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert len(lines) == 4
    assert lines == visit.kernel.run("print(panel.export())").splitlines()


def test_a_hundred_thousand_rooms_are_a_page_in_the_browser(lab):
    """First rows, search, sort and the last page come; the page holds fifty rows at any time."""
    panel, kernel = lab.fresh("many_rooms"), lab.kernel
    rows = rooms_shown(panel)
    panel.get_by_text("100,000 rooms").wait_for()
    assert rows.count() == 50
    panel.get_by_label("Search").fill("room 099123")
    panel.get_by_text("1 of 100,000 rooms").wait_for()
    panel.get_by_label("Search").fill("")
    panel.get_by_text("page 1 of 2,000").wait_for()
    panel.get_by_role("button", name="topic").click()
    rows.first.get_by_text("Room 000000").wait_for()
    panel.get_by_role("button", name="last page").click()
    rows.last.get_by_text("Room 099999").wait_for()
    assert rows.count() == 50
    assert panel.locator("*").count() < 1_500
    assert kernel.run("print(len(panel.value))") == "100000"


def test_a_sweep_is_cancelled(lab):
    """Cancel ends a slow reading; what came stands, the rest is said to be as before."""
    panel, kernel = lab.fresh("slow_rooms"), lab.kernel
    panel.get_by_text("300 rooms").first.wait_for()
    panel.get_by_role("button", name="Refresh").click()
    lab.until(lambda: " of " in panel.locator(".confkit-what").inner_text())
    panel.get_by_role("button", name="Refresh").click()
    panel.get_by_role("button", name="Cancel").click()
    panel.get_by_role("status").get_by_text("Ended early").wait_for()
    assert kernel.run("print(len(panel.value))") == "300"
    assert int(kernel.run("print(client.sandbox.count('/rtc/room/get'))")) < 600


def test_rooms_are_watched(visit):
    """Bars with the fullest on top, a failure shown as one, and a curve of the room that is picked;
    Refresh reads them again."""
    panel, kernel = visit.fresh("occupancy"), visit.kernel
    rows = rooms_shown(panel)
    rows.first.get_by_text("full").wait_for()
    assert "Weekly sync" in rows.first.inner_text()
    panel.get_by_text("404404").first.wait_for()
    kernel.run('guest = client.sandbox.join(town, "Dee")')
    panel.get_by_role("button", name="Refresh").click()
    rows.filter(has_text="Town hall").get_by_text("1 of 200").wait_for()
    assert kernel.run("print(panel.value.users.to_json(orient='values'))") == "[3,1,null]"
    rows.first.click()
    panel.locator("svg[role=img]").first.wait_for()


def test_the_folder_of_a_recording_is_looked_into(visit):
    """Under the folder that was typed in stands what it holds and how to record into it; the
    capacity report is of its samples."""
    panel, kernel = visit.fresh("occupancy"), visit.kernel
    kernel.run("ck.Recorder(folder).record(client, [full, town], every=1, sweeps=2)")
    panel.get_by_label("Folder").fill(kernel.run("print(folder)"))
    panel.get_by_text("It holds samples of 2 rooms, the last").wait_for()
    panel.get_by_text("confkit record").wait_for()
    panel.get_by_role("button", name="Capacity report").click()
    panel.get_by_role("grid", name="Capacity").locator("tbody tr").nth(1).wait_for()


def test_rows_in_sight_are_read_again_by_themselves(lab):
    """The panel follows the service while it is seen, and rests while it is not."""
    panel, kernel = lab.fresh("occupancy", every=0.5), lab.kernel
    town = rooms_shown(panel).filter(has_text="Town hall")
    town.get_by_text("0 of 200").wait_for()
    kernel.run('client.sandbox.join(town, "Dee")')
    town.get_by_text("1 of 200").wait_for()
    panel.evaluate("panel => { panel.style.display = 'none' }")
    count = "print(client.sandbox.count('/rtc/room/get'))"

    def rests():
        before = kernel.run(count)
        lab.page.wait_for_timeout(1500)
        return kernel.run(count) == before

    lab.until(rests)


def test_a_camera_is_tried_imported_and_removed(visit):
    """Preflight shows stages and picture; Import seats it and Remove takes it out when asked."""
    panel, kernel = visit.fresh("devices"), visit.kernel
    type_camera(visit, panel)
    panel.get_by_role("button", name="Preflight").click()
    panel.get_by_role("status").get_by_text("The camera plays").wait_for()
    assert panel.get_by_alt_text("The first picture").is_visible()
    panel.get_by_role("button", name="Import", exact=True).click()
    yes(panel, 'Import "Front door" (door) at')
    panel.get_by_role("status").get_by_text("was imported").wait_for()
    panel.get_by_alt_text("The newest picture of Front door").wait_for()
    assert kernel.run("print(list(panel.value.user_id))") == "['door']"
    panel.locator("tbody tr").get_by_text("Front door").click()
    panel.get_by_role("button", name="Remove").click()
    yes(panel, 'Remove "Front door" (door) from room "Weekly sync"')
    panel.get_by_text("No devices here").wait_for()
    assert kernel.run("print(ck.list_devices(client))") == "[]"
    assert "open-sesame" not in panel.inner_html()


def test_a_table_of_devices_is_checked_and_imported(lab):
    """What is wrong is reported by row before anything is sent; the result has one row per
    device."""
    panel, kernel = lab.fresh("devices"), lab.kernel
    row = kernel.run("print(f'{room_id},{{}},Camera,{client.sandbox.camera()},,')")
    last = kernel.run("print(f'{room_id},gate,Gate,{camera},admin,open-sesame')")
    head = "room_id,user_id,user_name,user_address,login_name,login_password"
    panel.get_by_role("tab", name="Many").click()
    table = panel.get_by_label("table as text")
    table.fill("\n".join([head, row.format("front"), row.format("")]))
    panel.get_by_role("button", name="Check the table").click()
    panel.get_by_role("alert").get_by_text("The table has").wait_for()
    panel.get_by_role("grid", name="The table").locator("tbody tr").first.wait_for()
    table.fill("\n".join([head, row.format("front"), last]))
    panel.get_by_role("button", name="Import the table").click()
    yes(panel, "Import 2 devices into 1 room of SANDBOX?")
    panel.get_by_role("status").get_by_text("2 imported").wait_for()
    assert kernel.run("print(list(panel.result.outcome))") == "['imported', 'imported']"
    assert kernel.run("print(sorted(panel.value.user_id))") == "['front', 'gate']"


def test_the_last_calls_are_shown_as_they_were_sent(visit):
    """A call is picked: curl, Python, answer and meaning; the token's making; new calls come."""
    panel, kernel = visit.fresh("wire"), visit.kernel
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
    visit.until(lambda: token not in panel.inner_text())
    kernel.run("ck.get_mcu(client, room_id)")
    rows.first.get_by_text("A5").wait_for()
    panel.get_by_label("errors only").check()
    visit.until(lambda: rows.count() == int(kernel.run("print(len(panel.value))")) == 1)
    assert "open-sesame" not in panel.inner_html()


def test_nothing_stands_out_of_a_panel(visit):
    """From 480 to 1,600 pixels everything is inside its panel, and from 700 on all of a table is in
    its frame, with topic, occupancy and people."""
    panels = visit.fresh("filled").locator(".confkit-panel")
    assert panels.count() == 4
    if visit.front == LAB:
        visit.page.evaluate("window.jupyterapp.shell.collapseLeft()")
    for width in (480, 700, 800, 1600):
        visit.page.set_viewport_size({"width": width, "height": 900})
        visit.page.wait_for_timeout(500)
        for place in range(4):
            assert panels.nth(place).evaluate(OVERFLOWS) == [], (width, place)
        moved = visit.page.locator(".confkit-table-frame").evaluate_all(MOVED)
        assert width < 700 or moved == [], width
        for place, names in ((0, ["TOPIC", "USERS"]), (1, ["ROOM", "OCCUPANCY"])):
            heads = panels.nth(place).locator("th:visible").all_inner_texts()
            assert heads[0].upper().startswith(names[0]), (width, heads)
            assert any(one.upper().startswith(names[1]) for one in heads), (width, heads)
            assert width < 700 or any(one.startswith("People") for one in heads), (width, heads)
