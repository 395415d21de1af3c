"""The wire's panel: calls newest first and masked, one in detail, the token step by step."""

import base64
import json
import threading

import pandas as pd
import pytest

import confkit as ck
from confkit.frames import calls_frame
from confkit.panels import WirePanel
from confkit.sandbox import Sandbox
from tests.panels.pressing import LONG, heard, page, press, state
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, VECTOR_TOKEN, Reply

IMPORT = "/avd/api/outgoing/createOutgoingUser"


def rows(panel):
    """The rows on the table's page: number, and the texts of its cells."""
    return [
        (key, [cell["text"] if isinstance(cell, dict) else cell for cell in cells])
        for key, cells in panel.table.rows
    ]


@pytest.fixture
def busy(client):
    """A client that has made four calls, the last of which failed."""
    room_id = ck.create_room(client, "<b>Sync</b>", owner_id="ops", host_password="hunter2-pw")
    ck.get_room(client, room_id)
    with pytest.raises(ck.RoomNotFound):
        ck.get_room(client, "999")
    return client


def test_the_table_has_the_calls_newest_first_with_code_and_meaning(busy):
    """Number, time, code, operation and meaning of each call; the newest stands on top. The value
    is what calls_frame makes of the client's record."""
    panel = WirePanel(busy)
    told = [(key, cells[2], cells[3], cells[4]) for key, cells in rows(panel)]
    assert told == [
        ("4", "404", "A3 get room", "room not found"),
        ("3", "0", "A3 get room", "success"),
        ("2", "0", "A2 create room", "success"),
        ("1", "0", "A1 authenticate", "success"),
    ]
    assert panel.frame.service == "SANDBOX"
    pd.testing.assert_frame_equal(panel.value, calls_frame(busy.calls))


def test_a_panel_of_a_client_that_made_no_call_says_so_and_sends_nothing(client, sandbox):
    """The value is an empty frame with the same columns; no request is sent."""
    panel = WirePanel(client)
    assert len(panel.value) == 0
    assert list(panel.value.columns) == list(calls_frame([]).columns)
    assert "No call was made yet" in panel.table.empty
    assert sandbox.count() == 0


def test_it_refreshes_itself_and_by_a_click_without_sending_anything(busy, sandbox):
    """The browser's clock brings what was called meanwhile; numbers stay with their calls."""
    panel = WirePanel(busy, every=5)
    assert panel.frame.every == 5
    changed, value = [], panel.value
    panel.table.observe(changed.append)
    assert panel.refresh() is value
    assert changed == [], "nothing is sent to the browser while no call was made"
    panel.choose(3)
    ck.list_devices(busy)
    sent = sandbox.count()
    heard(panel, "tick")
    assert [key for key, _ in rows(panel)] == ["5", "4", "3", "2", "1"]
    assert panel.table.chosen == "3"
    ck.list_devices(busy)
    press(panel, "Refresh")
    assert rows(panel)[0][0] == "6"
    assert len(panel.value) == 6
    assert sandbox.count() == sent + 1


def test_only_the_calls_that_failed_are_shown_on_demand(busy, script):
    """From code as from the box: those with another code than 0 and those without an answer keep
    their numbers, and the line below says of how many; new ones come too."""
    panel = WirePanel(busy)
    panel.filter(errors=True)
    assert [key for key, _ in rows(panel)] == ["4"]
    assert panel.value["ret"].tolist() == ["404"]
    assert panel.table.told.startswith("1 of 4 calls")
    ck.list_devices(busy)
    with pytest.raises(ck.RoomNotFound):
        ck.get_room(busy, "998")
    panel.refresh()
    assert [key for key, _ in rows(panel)] == ["6", "4"]
    panel.errors.value = False
    assert len(panel.value) == 6
    client = script({GET_ROOM: Reply(drop=True)}).client()
    with pytest.raises(ck.TransportError):
        ck.get_room(client, "1")
    panel = WirePanel(client)
    panel.filter(errors=True)
    assert set(panel.value["ret"].isna()) == {True}


def test_numbers_go_on_when_old_calls_have_left_the_record(script):
    """The client keeps the last 200 calls; a call's number is its own all the time."""
    service = script({GET_ROOM: {"ret": 0, "room_id": "1"}})
    client = service.client()
    panel = WirePanel(client)
    for _ in range(150):
        ck.get_room(client, "1")
    panel.refresh()
    chosen = panel.choose(150)
    for _ in range(100):
        ck.get_room(client, "1")
    panel.refresh()
    assert rows(panel)[0][0] == "251"
    assert len(panel.value) == 200
    assert panel.choose(150) is chosen
    with pytest.raises(ck.ConfigError, match=r"there is no call 5 on record. There are 52 to 251"):
        panel.choose(5)
    for wrong in ("150", None, 1.5):
        with pytest.raises(ck.ConfigError, match="there is no call"):
            panel.choose(wrong)
    with pytest.raises(ck.ConfigError, match="Give seconds"):
        WirePanel(client, every="x")


def test_a_chosen_call_is_shown_as_curl_and_as_python_with_its_answer_and_its_meaning(busy):
    """From code as from a click: how to send it again, what came, what the code means, escaped."""
    panel = WirePanel(busy)
    assert panel.details.layout.display == "none"
    assert panel.choose(2) is busy.calls[1] is panel.call
    assert panel.details.layout.display is None
    sent = panel.sent.html
    assert "curl -sS --get http://127.0.0.1:" in sent
    assert "requests.get(" in sent
    assert "${CONFKIT_HOST_PASSWORD:?}" in sent
    assert "&lt;b&gt;Sync" in sent
    assert "<b>Sync" not in sent
    assert "success (specified)" in panel.came.html
    assert "&quot;ret&quot;: 0" in panel.came.html
    panel.table._hear(None, {"kind": "choose", "key": "4"}, [])
    assert panel.call is busy.calls[3]
    explained = ck.explain(404, "A")
    assert "room not found (specified)" in panel.came.html
    assert "what to do" in panel.came.html
    assert explained.advice[:20] in panel.came.html


def test_calls_are_chosen_by_number_or_from_the_newest(busy):
    """As in a list; a number that is none is reported with those that there are. Choosing nothing
    hides the details."""
    panel = WirePanel(busy)
    for number, place in ((-1, -1), (-4, 0), (2, 1)):
        assert panel.choose(number) is busy.calls[place]
    for number in (0, 5, -5):
        with pytest.raises(ck.ConfigError, match="There are 1 to 4"):
            panel.choose(number)
    for key in ("", "no number", "99"):
        panel.choose(1)
        panel.table.choose(key)
        assert (panel.call, panel.details.layout.display) == (None, "none")


def test_a_call_without_an_answer_says_why_and_is_no_zero(script):
    """Neither a code nor an HTTP status stands there, but the reason and what to do."""
    service = script({GET_ROOM: [Reply(drop=True), Reply("<p>no</p>", status=404)]})
    client = service.client()
    with pytest.raises(ck.ProtocolError):
        ck.get_room(client, "1")
    panel = WirePanel(client)
    answers = [cells[2] for _, cells in rows(panel)]
    assert answers == ["not of the interface", "no answer", "0"]
    assert rows(panel)[1][1][4] == "it closed the connection without an answer"
    panel.choose(2)
    assert "closed the connection without an answer. Check that" in panel.came.html
    assert "Its answer" not in panel.came.html
    panel.choose(3)
    assert "&lt;p&gt;no&lt;/p&gt;" in panel.came.html


def test_on_a_sandbox_the_tokens_making_is_shown_in_full_and_is_in_no_saved_state(busy):
    """The same from code and from a click; the state that a notebook saves holds none of it."""
    panel = WirePanel(busy)
    steps = panel.token_steps()
    token = str(busy.token())
    assert token in panel.made.html
    assert token in str(steps)
    assert "demo_secret" in panel.made.html
    assert panel.made.layout.display is None
    saved = state(panel)
    for secret in (token, base64.b64decode(token).decode(), str(steps), "demo_secret"):
        assert secret not in saved
    panel.hide_token_steps()
    assert token not in panel.made.html
    assert panel.made.layout.display == "none"
    press(panel, "How the token is made")
    assert token in panel.made.html
    press(panel, "Hide the token")
    assert panel.made.html == ""


def test_no_state_of_a_panel_holds_a_secret(script):
    """Passwords, token and logins are in no trait, whichever call is chosen."""
    service = script(
        {GET_ROOM: {"ret": 0, "room_id": "1", "host_password": "hunter2"}, IMPORT: {"ret": 426}}
    )
    client = service.client()
    ck.get_room(client, "1")
    with pytest.raises(ck.JoinFailed):
        ck.import_device(
            client,
            "1",
            "cam",
            "Door",
            "rtsp://admin:hunter2@127.0.0.1:9/x",
            login_password="hunter2",
            preflight=False,
        )
    panel = WirePanel(client)
    for number in range(1, len(panel.value) + 1):
        panel.choose(number)
        text = page(panel)
        for secret in ("hunter2", VECTOR_TOKEN, VECTOR_TOKEN[:20]):
            assert secret not in text
    json.dumps(panel.table.rows)  # as it travels


def test_a_login_that_fails_is_told_in_the_panel_and_raised_to_code(script):
    """Keys that are refused: the cause and the next step stand in the panel, and no steps."""
    service = script({AUTHENTICATE: {"ret": 401}})
    panel = WirePanel(service.client())
    with pytest.raises(ck.AuthenticationFailed):
        panel.token_steps()
    assert "Check the access key" in panel.frame.text
    assert panel.frame.tone == "bad"
    assert panel.made.html == ""
    press(panel, "How the token is made")
    assert service.seen[AUTHENTICATE] == 2


def test_the_login_for_the_steps_can_be_cancelled(script):
    """A service that does not answer keeps nobody waiting who has had enough."""
    held = threading.Event()
    service = script({AUTHENTICATE: lambda _: held.wait(LONG) and GRANTED})
    panel = WirePanel(service.client())
    button = panel.steps_button
    button.click()
    while not panel.frame.busy:
        assert panel._worker.is_alive()
    heard(panel, "cancel")
    held.set()
    assert (panel.frame.text, panel.made.html) == ("Cancelled.", "")


def test_a_panel_of_a_closed_client_still_shows_its_calls():
    """What was called stays to be read when the service is gone; a token is not to be had."""
    with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
        ck.create_room(client, "x", owner_id="ops")
    panel = WirePanel(client)
    assert len(panel.value) == 2
    panel.choose(-1)
    assert "curl" in panel.sent.html


def test_several_threads_may_refresh_at_once(script):
    """Clicks and cells meet: every call keeps one number."""
    service = script({GET_ROOM: {"ret": 0, "room_id": "1"}})
    client = service.client()
    panel = WirePanel(client)
    ended = threading.Event()

    def refresh():
        while not ended.is_set():
            panel.refresh()

    threads = [threading.Thread(target=refresh) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        ck.get_room(client, "1")
    ended.set()
    for thread in threads:
        thread.join(LONG)
    assert len(panel.refresh()) == 31
    assert [key for key, _ in rows(panel)] == [str(number) for number in range(31, 0, -1)]
