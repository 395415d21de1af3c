"""The exercises of notebooks 05 to 07: what is right, and which mistake is named."""

import json
import random
import time
from urllib.parse import quote, quote_plus

import pytest

import confkit as ck
from confkit import course
from confkit.sandbox import Sandbox

LOGIN = {"login_name": "admin", "login_password": "50% & more"}


def told(name, answer, client=None):
    """What is told of an answer that is wrong."""
    finding = course.check(name, answer, client)
    assert finding.right is False, finding.told
    return finding.told


def right(name, answer, client=None):
    finding = course.check(name, answer, client)
    assert finding.right is True, finding.told


# errors-read


def reader(status, body, *, cautious=True, fields=("ret", "result"), make=int, absent=None):
    """A learner's function, with what it does as one finds it."""
    try:
        answer = json.loads(body)
        code = next((answer[name] for name in fields if name in answer), absent)
        return None if code is None else make(code)
    except (ValueError, AttributeError, TypeError):
        if cautious:
            return None
        raise


def by_status(status, body):
    return reader(status, body) if status == 200 else None


def by_pattern(status, body):
    """Finds the code in text that is cut off, too."""
    return int(body.split(b'"ret":')[1].split(b",")[0].strip(b'"}')) if b'"ret":' in body else None


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda s, b: reader(s, b, make=lambda code: code), "quoted"),
        (lambda s, b: reader(s, b, fields=("ret",)), "call the field result"),
        (
            lambda s, b: reader(s, b, absent=0),
            "None is right. Without a result code nothing is known",
        ),
        (lambda s, b: reader(s, b, cautious=False), "raised JSONDecodeError"),
        (by_status, "whatever the HTTP status"),
        (by_pattern, "call the field result"),
        (lambda s, b: reader(s, b) or None, "0 is a code too"),
        (lambda s, b: 0, "404 is right"),
        (lambda s, b: min(reader(s, b) or 0, 999) if reader(s, b) is not None else None, "unknown"),
        ("my_read", "by its name"),
    ],
)
def test_answers_that_are_read_wrong(function, named):
    """The first answer that is read wrong is named, with what is learnt from it."""
    assert named in told("errors-read", function)


def test_any_way_to_read_all_answers_right_is_right():
    """It is what the function gives that counts."""
    right("errors-read", reader)


# errors-again

AGAIN = ["again", "look", "again", "no", "login", "no", "look", "no"]


@pytest.mark.parametrize(
    ("place", "word", "named"),
    [
        (2, "again", "change, and nobody knows"),
        (3, "look", "never arrived"),
        (5, "no", "602 is about the token"),
        (6, "login", "401 of B is about the parameters"),
        (7, "again", "A7 is a change"),
        (8, "login", "locked"),
    ],
)
def test_failures_that_are_taken_for_others(place, word, named):
    """Repeating a change, or logging in because of B's 401, is told as that."""
    words = [*AGAIN[: place - 1], word, *AGAIN[place:]]
    assert f"Failure {place}: " in told("errors-again", words)
    assert named in told("errors-again", words)


def test_the_form_of_the_eight_words():
    """Case and blanks do not matter; other words and other numbers of them do."""
    right("errors-again", AGAIN)
    right("errors-again", tuple(f" {word.upper()} " for word in AGAIN))
    assert "8 words are asked for, one for each failure: 7 came" in told("errors-again", AGAIN[:7])
    assert "none of the words again, look" in told("errors-again", [*AGAIN[:7], "retry"])


# errors-count


def test_counts_that_call_a_failure_empty(sandbox):
    """A function that gives 0 where the call failed is told so, for each kind of failure."""
    client = sandbox.connect(sleep=lambda seconds: None)

    def caught(kinds, instead=0, gone=None):
        def count(room_id):
            try:
                return len(ck.get_room_users(client, room_id))
            except ck.RoomNotFound:
                return gone
            except kinds:
                return instead

        return count

    right("errors-count", caught(ck.ConfkitError, None), client)
    right("errors-count", caught(ck.ConfkitError, float("nan")), client)
    right("errors-count", lambda room_id: len(ck.get_room_users(client, room_id)), client)
    assert "404" in told("errors-count", caught((), gone=0), client)
    assert "(700)" in told("errors-count", caught(ck.ApiError, -1), client)
    assert "HTML" in told("errors-count", caught(ck.ProtocolError), client)
    assert "dropped" in told("errors-count", caught(ck.TransportError), client)
    assert "never an empty room" in told("errors-count", caught(ck.ConfkitError), client)


def test_counts_that_are_none(client):
    """Numbers out of the air, and an empty room that is taken for unknown, are told apart; no room
    and no fault is left behind."""
    asked = {}

    def unasked(room_id):
        return asked.setdefault(room_id, 2 if not asked else 0)

    assert "does not say 2" in told("errors-count", lambda _: 7, client)
    assert "did not ask" in told("errors-count", unasked, client)
    assert "say 0" in told(
        "errors-count", lambda room_id: len(ck.get_room_users(client, room_id)) or None, client
    )
    assert client.sandbox.room_ids() == []
    kept = ck.create_room(client, "T", owner_id="o")
    assert ck.get_room_users(client, kept) == []


# errors-full


def test_a_camera_that_was_refused_for_another_reason(client):
    """The room has to be full, and that has to be why; each step that lacks is named."""
    sandbox = client.sandbox
    url = sandbox.camera(size=(160, 120), fps=5)
    open_room = ck.create_room(client, "No cap", owner_id="o")
    room_id = ck.create_room(client, "Two", owner_id="o", attendee_max=2)
    assert "no attendee_max" in told("errors-full", open_room, client)
    assert "0 users in this room, and 2" in told("errors-full", room_id, client)
    assert "no room of this number" in told("errors-full", "0000000000", client)
    assert "text" in told("errors-full", 17, client)
    for name in ("Ada", "Grace"):
        sandbox.join(room_id, name)
    assert "no camera has been refused" in told("errors-full", room_id, client)
    sandbox.lock(open_room)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, open_room, "cam", "Camera", url)
    assert "another reason: the room is locked" in told("errors-full", room_id, client)
    with pytest.raises(ck.JoinFailed):
        ck.import_device(client, room_id, "cam", "Camera", url)
    right("errors-full", room_id, client)


# devices-options


def travelling(options, encode=lambda text: quote(text, safe="")):
    return "options=" + encode(options if isinstance(options, str) else json.dumps(options))


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (travelling(str(LOGIN)), "double quotes"),
        (travelling(LOGIN, lambda text: quote(quote(text, safe=""), safe="")), "encoded twice"),
        (travelling(LOGIN, str), "bare &"),
        (travelling(LOGIN, lambda text: text.replace("&", "%26")), "partly percent-encoded"),
        (travelling(LOGIN, lambda text: quote(text).replace("%25", "%")), "partly percent-encoded"),
        (travelling(LOGIN, lambda text: text.replace("&", "\\u0026")), "not percent-encoded yet"),
        (travelling(json.dumps(json.dumps(LOGIN))), "went through JSON twice"),
        (travelling({"loginName": "admin", "loginPassword": "50% & more"}), "snake_case"),
        (travelling({"login_name": "admin"}), "and no others"),
        (travelling({**LOGIN, "login_password": "50% & less"}), "values are others"),
        (travelling("admin:50% & more"), "not the JSON text"),
        (travelling(LOGIN).removeprefix("options="), "parameter's name"),
        (travelling(LOGIN).replace("options", "option"), "parameter's name"),
        (travelling(LOGIN).replace("options", "Options"), "spelt options"),
        (travelling(LOGIN, str), "& travels as %26"),
        (LOGIN, "a text"),
    ],
)
def test_options_that_would_not_arrive(answer, named):
    """Each usual way to spoil options is told as what it is."""
    assert named in told("devices-options", answer)


def test_options_in_any_form_that_arrives():
    """A blank as + or %20, JSON with blanks or without, and a leading & are all right."""
    right("devices-options", travelling(LOGIN))
    right("devices-options", "&" + travelling(LOGIN, quote_plus))
    right("devices-options", travelling(json.dumps(LOGIN, separators=(",", ":"), indent=1)))


# devices-verdicts

VERDICTS = ["not_rtsp", "auth_rejected", "path_not_found", "busy", "udp_blocked", "refused"]


@pytest.mark.parametrize(
    ("place", "word", "named"),
    [
        (1, "rtsp_silent", "first word"),
        (2, "auth_required", "a login was given"),
        (2, "auth_locked", "shut the door"),
        (3, "wrong_path", "wrong_path is the fault; its verdict is asked for"),
        (4, "nonsense", "none of the verdicts"),
        (3, "server_error", "of 404"),
        (4, "forbidden", "nobody else"),
        (5, "no_media", "over UDP"),
        (6, "connect_timeout", "nobody listens"),
    ],
)
def test_verdicts_that_are_taken_for_others(place, word, named):
    """The first dialogue that is read wrong is named, with what tells it from its neighbour."""
    verdicts = [*VERDICTS[: place - 1], word, *VERDICTS[place:]]
    said = told("devices-verdicts", verdicts)
    assert f"5 of 6 are right. Dialogue {place}: " in said
    assert named in said


def test_the_form_of_the_six_verdicts():
    """Six of them are asked for; each is a verdict that a preflight knows."""
    right("devices-verdicts", VERDICTS)
    assert "A list of 6" in told("devices-verdicts", VERDICTS[:5])
    assert "Hand in a list" in told("devices-verdicts", "refuse")
    assert "has no order" in told("devices-verdicts", set(VERDICTS))
    assert "has no order" in told("devices-verdicts", dict.fromkeys(VERDICTS))
    known = {fault.verdict for fault in Sandbox.camera_faults().values()}
    assert set(VERDICTS) <= known


# devices-seat


def test_a_camera_that_is_not_quite_seated(client):
    """Nowhere, in another room, under another user id, without a login, and unplugged are five
    different answers."""
    sandbox = client.sandbox
    room_id, other = (ck.create_room(client, topic, owner_id="o") for topic in "ab")
    login = {"login_name": "u", "login_password": "p-2468"}
    bare, locked = (sandbox.camera(size=(160, 120), fps=5, **given) for given in ({}, login))
    assert "number is a text" in told("devices-seat", 17, client)
    assert "None is listed at all" in told("devices-seat", room_id, client)
    device = ck.import_device(client, other, f"cam-{other}", "Exam", bare)
    assert "in other rooms" in told("devices-seat", room_id, client)
    assert "without login_name" in told("devices-seat", other, client)
    ck.remove_device(client, device)
    device = ck.import_device(client, room_id, "cam-other", "Exam", locked, **login)
    due = f"called otherwise; the user id cam-{room_id} is asked for"
    assert due in told("devices-seat", room_id, client)
    ck.remove_device(client, device)
    ck.import_device(client, room_id, f"cam-{room_id}", "Exam", locked, **login)
    right("devices-seat", room_id, client)
    sandbox.unplug(locked)
    until(lambda: ck.get_room_users(client, room_id) == [])
    assert "stream is down" in told("devices-seat", room_id, client)
    assert "no room" in told("devices-seat", "0000000000", client)


def until(done):
    """Waits for what the sandbox does by itself."""
    deadline = time.monotonic() + 10
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# devices-missing


def test_devices_that_are_missed_or_not(client):
    """All that are listed, none, those that are there, and the right one are told apart; what the
    check has made is gone afterwards."""

    def listed(room_id):
        return {device.user_id for device in ck.list_devices(client, room_id)}

    def present(room_id):
        return {user.user_id for user in ck.get_room_users(client, room_id)}

    calls = []

    def second_time(room_id, found):
        calls.append(room_id)
        return found(room_id) if calls.count(room_id) == 2 else set()

    def one_more(room_id):
        return {*(listed(room_id) - present(room_id)), "cam-of-nobody"}

    right("devices-missing", lambda room_id: listed(room_id) - present(room_id), client)
    right("devices-missing", lambda room_id: [*(listed(room_id) - present(room_id))], client)
    assert "misses some" in told("devices-missing", listed, client)
    assert "take away" in told("devices-missing", lambda r: second_time(r, listed), client)
    assert "not named" in told("devices-missing", lambda r: second_time(r, present), client)
    assert "not named" in told("devices-missing", lambda _: [], client)
    assert "names others" in told("devices-missing", lambda r: second_time(r, one_more), client)
    assert "not the whole device" in told(
        "devices-missing", lambda room_id: ck.list_devices(client, room_id), client
    )
    assert "User ids are asked for" in told("devices-missing", lambda room_id: 7, client)
    assert "by its name" in told("devices-missing", ["cam"], client)
    assert client.sandbox.room_ids() == []
    assert ck.list_devices(client) == []


# many-cost


@pytest.mark.parametrize(
    ("requests", "named"),
    [
        (5_001, "two calls"),
        (10_000, "asked once: A1, and B3"),
        (10_001, "One is missing"),
        (15_002, "once, not for each room"),
        (20_000, "storm of logins"),
        (7, "Count A3 and A6"),
        ("10002", "whole number"),
        (10_002.0, "whole number"),
    ],
)
def test_what_a_sweep_costs(requests, named):
    """The usual ways to count too few or too many are named."""
    assert named in told("many-cost", requests)


def test_the_cost_is_what_a_sweep_really_sends(client):
    """Two calls a room, the devices once, and one login: so says the sandbox's counter."""
    room_ids = [ck.create_room(client, "T", owner_id="o") for _ in range(5)]
    with client.sandbox.connect() as fresh:
        before = client.sandbox.count()
        ck.sweep(fresh, room_ids)
        assert client.sandbox.count() - before == 5 * 2 + 1 + 1
    right("many-cost", 5_000 * 2 + 1 + 1)


# many-full


def test_rooms_that_are_taken_for_full(client):
    """Rooms without a cap, with a free place, unknown ones and numbers are told apart."""
    sandbox = client.sandbox
    assert "Run the notebook from its top" in told("many-full", [], client)
    caps = {"00451": 1, "00452": 1, "00453": 2, "00454": None}
    for room_id, cap in caps.items():
        ck.create_room(client, "T", owner_id="o", attendee_max=cap, room_extend_id=room_id)
        sandbox.join(room_id, "Ada")
    right("many-full", ["00452", "00451"], client)
    right("many-full", {"00452", "00451"}, client)
    assert "leading zeros" in told("many-full", [451, 452], client)
    assert "no cap" in told("many-full", ["00451", "00452", "00454"], client)
    assert "1 of these have a free place" in told("many-full", ["00451", "00453"], client)
    assert "are no rooms" in told("many-full", ["00451", "9"], client)
    assert "1 that are full are missing" in told("many-full", ["00451"], client)
    assert "Hand in a list" in told("many-full", "00451", client)


# many-report


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda read: split(read, unread="empty"), "counted as empty"),
        (lambda read: split(read, unread="in use"), "counted as in use"),
        (lambda read: split(read)[:2], "Three numbers"),
        (lambda read: split(read)[::-1], "another order"),
        (
            lambda read: (sum(n > 0 for n in read.values()), list(read.values()).count(0), 0),
            "TypeError",
        ),
        (lambda read: (0, 0, 0), "[2, 1, 0] is right"),
        (lambda read: [*split(read)][: 3 * len(read) or 1 // 0], "ZeroDivisionError"),
        ((2, 1, 0), "by its name"),
    ],
)
def test_reports_that_lose_what_was_not_read(function, named):
    """A room that was not read and is counted as empty, or as in use, is told as that."""
    assert named in told("many-report", function)


def test_a_report_in_any_form_is_right():
    """A tuple, a list, or a mapping in that order."""
    right("many-report", split)
    right("many-report", lambda read: dict(zip("abc", split(read), strict=True)))


def split(read, unread=None):
    """Rooms in use, empty, not read; or with the unread ones among others."""
    values = {"empty": 0, "in use": 1}
    users = [values.get(unread) if count is None else count for count in read.values()]
    known = [count for count in users if count is not None]
    in_use = sum(count > 0 for count in known)
    return in_use, len(known) - in_use, len(users) - len(known)


# many-pause


def slept(attempt):
    time.sleep(0.1)
    return 0.1


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda attempt: min(2.0**attempt, 30), "no chance"),
        (lambda attempt: random.uniform(0.5, 1.5), "does not grow"),
        (lambda attempt: 2**attempt * random.uniform(0.5, 1.5), "no bound"),
        (lambda attempt: min(2**attempt, 30) * random.uniform(0.5, 1.5) / 1e4, "next to nothing"),
        (lambda attempt: -random.random(), "from 0 on"),
        (lambda attempt: "1 s", "from 0 on"),
        (lambda attempt: float("nan"), "from 0 on"),
        (slept, "waits by itself"),
        (1.5, "by its name"),
    ],
)
def test_pauses_that_help_nobody(function, named):
    """Without chance, growth or bound, too short, or waiting by itself: each is told as that."""
    assert named in told("many-pause", function)


@pytest.mark.parametrize("share", [(0.5, 1.5), (0, 2), (0.9, 1.1)])
def test_pauses_of_many_kinds_are_right(share):
    """Full and little jitter, and whatever bound up to two minutes."""
    chance = random.Random(7)
    right("many-pause", lambda attempt: min(0.2 * 3**attempt, 60) * chance.uniform(*share))
