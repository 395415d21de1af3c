"""Only reads are repeated, and one expired token costs one login; a change is sent once, and looked
up where its outcome is open."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

import confkit as ck
from tests.scripted import A1, A2, A3, A4, A6, A7, B1, B2, B3, GRANTED, Reply, listed
from tests.ways import ANSWERS

RTSP = "rtsp://192.0.2.7:554/stream1"
CAMERA = {"roomId": "1", "userId": "cam", "userName": "Door", "userAddress": RTSP}
DOOR = ck.Device("1", "cam", "Door", RTSP)


def call_of(name, *arguments, **options):
    """A function of the client that calls this one."""
    return lambda client: getattr(ck, name)(client, *arguments, **options)


own_id = call_of("create_room", "Weekly sync", "ops", room_extend_id="mine")
no_id = call_of("create_room", "Weekly sync", "ops")
delete = call_of("delete_room", "mine")
offline = call_of("force_offline", "1", "ada")
imported = call_of("import_device", "1", "cam", "Door", RTSP)
removed = call_of("remove_device", "1", "cam", RTSP)
ROOM = {"ret": 0, "room_id": "mine", "topic": "Weekly sync", "owner_id": "ops"}
GONE, NOBODY = {"ret": 404}, {"ret": 0, "user_list": []}
ADA = {"ret": 0, "user_list": [{"user_id": "ada"}]}
# Of each change: its path, where it is looked up, what that answers with and without its effect,
# and what the change returns.
CHANGES = {
    own_id: (A2, A3, ROOM, GONE, "mine"),
    delete: (A4, A3, GONE, ROOM, None),
    offline: (A7, A6, NOBODY, ADA, ""),
    imported: (B1, B3, listed(CAMERA), listed(), DOOR),
    removed: (B2, B3, listed(), listed(CAMERA), None),
    no_id: (A2, A3, ROOM, ROOM, ""),
}
DROPPED = Reply(drop=True)


def code(ret, status=200):
    return Reply({"ret": ret, "room_id": "mine"}, status=status)


def raised_by(kind, call, client, match):
    """The error of exactly this class, which ends with its next step."""
    with pytest.raises(kind, match=f"(?s){match}") as raised:
        call(client)
    assert type(raised.value) is kind
    assert str(raised.value).endswith(raised.value.advice)
    return raised.value


OPEN = [  # answers that leave a change open, and what is raised if its effect is not there
    *((change, DROPPED, ck.OutcomeUnknown) for change in [*CHANGES][:5]),
    *((own_id, answer, ck.OutcomeUnknown) for answer in (Reply("<html>"), code(0, 404))),
    (own_id, code(70077), ck.ApiError),
    (own_id, code(405, 500), ck.LicenceError),
    (offline, code(423, 500), ck.ApiError),  # "not done" in B; in A nobody knows
    (imported, code(427), ck.ServiceTimeout),
    (offline, code(504), ck.ServiceTimeout),
]


@pytest.mark.parametrize(("change", "answer", "kind"), OPEN)
def test_a_change_whose_outcome_is_open_is_looked_up(script, change, answer, kind):
    """With its effect it is done; without, the code's error is raised, and what was lost may be
    under way. A look-up that fails shows nothing: OutcomeUnknown with code, cause, next step."""
    path, look, seen, unseen, done = CHANGES[change]
    service = script({path: answer, look: [seen, unseen, {"ret": 700}]})
    client = service.client()
    ret = None if kind is ck.OutcomeUnknown else answer.body["ret"]
    assert change(client) == done
    assert client.created == (["mine"] if change is own_id else [])
    with pytest.raises(kind) as plain:
        change(client)
    assert (plain.value.ret, "no effect so far" in str(plain.value)) == (ret, ret is not None)
    error = raised_by(ck.OutcomeUnknown, change, client, r"look-up failed: .*700.*Check with ck\.")
    assert (error.ret, error.lookup_error.ret) == (ret, 700)
    assert service.seen[path] == 3


ELSEWHERE = listed({**CAMERA, "userAddress": "rtsp://192.0.2.8/x"})
CASES = [  # the answer, what the look-up finds (None: nobody looks), and the result or error
    (own_id, DROPPED, {**ROOM, "topic": "x"}, ck.OutcomeUnknown, "another topic.*ck.get_room"),
    (own_id, Reply({"ret": 0}), None, "mine", ""),
    (no_id, DROPPED, None, ck.OutcomeUnknown, "then with a room_extend_id"),
    (no_id, Reply({"ret": 0}), None, ck.OutcomeUnknown, "created the room, .* no room_id"),
    (imported, DROPPED, ELSEWHERE, ck.OutcomeUnknown, "under another address"),
    (imported, code(423), None, ck.UserExists, "423"),
    # Codes that say that nothing was done, under HTTP 5xx too.
    (own_id, code(602, 502), None, ck.TokenRejected, "602"),
    (delete, code(404, 502), None, ck.RoomNotFound, "404"),
    (removed, code(425, 502), None, ck.UserNotFound, "425"),
]


@pytest.mark.parametrize(("change", "answer", "look", "due", "text"), CASES)
def test_what_an_answer_and_a_look_up_prove(script, change, answer, look, due, text):
    """What is refused is that error at once. Nothing is sent twice, but for a renewed token."""
    path, where = CHANGES[change][:2]
    service = script({path: answer, where: look or Reply("<html>")})
    if isinstance(due, type):
        raised_by(due, change, service.client(), text)
    else:
        assert change(service.client()) == due
    assert service.seen[path] == 1 + (due is ck.TokenRejected)
    assert bool(service.seen[where]) == (look is not None)


WRONG = [  # a call, and the parameter that is missing, breaks a bound, or cannot travel
    (call_of("create_room", "ä" * 75, "ops"), "topic"),
    (call_of("create_room", "t", "ops", attendee_max=2.5), "attendee_max"),
    (call_of("create_room", "t", "ops", host_password="a\ud800"), "host_password"),
    *((call_of(f"get_{name}", " "), "room_id") for name in ("room", "mcu", "room_users")),
    (call_of("delete_room", None), "room_id"),
    (call_of("force_offline", "1", " "), "user_id"),
    (call_of("import_device", "1", "cam", "Door", "rtsp://u:***@192.0.2.7/s"), "user_address"),
    (call_of("remove_device", "1", " "), "user_id"),
    (call_of("diagnose_device", "1", "cam", "rtsp://u:***@192.0.2.7/s"), "user_address"),
]


def test_a_wrong_argument_is_refused_before_anything_is_sent(script):
    service = script()
    for call, name in WRONG:
        with pytest.raises(ck.ParameterError, match=f"(?s){name}.*Nothing was sent"):
            call(service.client())
    assert not service.requests


OLD = {"login_name": "u", "login_password": "p@ss"}
ODD = {"max_token": 5, "login_password": 1234, "pwd": 0.5, "on": True}
OPTIONS = [  # of a device, what is given beside it, and what travels
    ({}, {"options": ODD}, ODD),
    (OLD, {"login_password": "new"}, {**OLD, "login_password": "new"}),
]


def test_what_is_given_is_what_travels(script):
    """An omitted address is taken from B3."""
    service = script({B1: {"ret": 0}, B2: {"ret": 0}, B3: listed(CAMERA)})
    client = service.client()
    for held, given, sent in OPTIONS:
        ck.import_device(client, replace(DOOR, options=held), **given)
        assert json.loads(service.requests[-1][2]["options"]) == sent
    ck.remove_device(client, "1", "cam")
    assert service.requests[-1][2]["userAddress"] == RTSP


# Reads, and the token

WEEKLY = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}


def test_sixty_four_threads_with_an_expired_token_authenticate_once(script):
    """Although the service returns the same random and key again."""
    service = script()
    client = service.client()
    client.token()
    all_refused, refused = threading.Event(), []

    def room(query):
        if all_refused.is_set():
            return WEEKLY
        refused.append(query)
        if len(refused) == 64:
            all_refused.set()
        return {"ret": 602}

    def renewed(_):
        all_refused.wait(30)  # until then nobody has another token
        return Reply(GRANTED, delay=0.2)  # in which they come for one

    service.script |= {A1: renewed, A3: room}
    with ThreadPoolExecutor(64) as pool:
        topics = pool.map(lambda _: ck.get_room(client, "1").topic, range(64))
        assert list(topics) == ["Weekly sync"] * 64
    assert service.seen == {A1: 2, A3: 128}


def test_threads_that_wait_for_one_login_share_its_error(script):
    """A service that locks accounts out sees a single attempt."""
    service = script({A1: Reply({"ret": 401}, delay=1)})
    client = service.client()
    with ThreadPoolExecutor(8) as pool:
        errors = [pool.submit(client.token) for _ in range(8)]
        assert {type(each.exception()) for each in errors} == {ck.AuthenticationFailed}
    assert service.seen == {A1: 1}


READS = [lambda client: ck.get_room(client, "1"), lambda client: ck.sweep(client, ["1", "2"])]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("answer", [{"ret": 602}, {"ret": 0}], ids=str)
def test_whatever_a1_answers_an_error_comes(script, read, answer):
    """602 too, which of any other call says that its token has expired: nothing hangs."""
    client = script({A1: answer}).client()
    with ThreadPoolExecutor(1) as caller:
        failure = caller.submit(read, client).exception(timeout=20)
    assert isinstance(failure, ck.ConfkitError)
    assert "A1" in str(failure)


@pytest.mark.parametrize(
    ("reply", "times"),
    [
        ({"ret": 504}, 3),
        (Reply(drop=True), 3),
        (ANSWERS["a reset in the body"][0], 3),
        ({"ret": 404}, 1),
    ],
)
def test_a_read_is_tried_three_times_where_that_may_help(script, reply, times):
    """After 0.1 to 0.3 s, then twice that."""
    service, pauses = script({A3: reply}), []
    with pytest.raises(ck.ConfkitError):
        ck.get_room(service.client(sleep=pauses.append), "1")
    assert service.seen[A3] == times
    assert all(0.1 * n <= pause <= 0.3 * n for n, pause in enumerate(pauses, 1))
    assert len({*pauses}) == times - 1
    service.script[A3] = [reply] * (times - 1) + [WEEKLY]
    assert ck.get_room(service.client(), "1").topic == "Weekly sync"


def http_date(seconds):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (lambda: "2", 2, 3),
        (lambda: http_date(9), 3, 10),
        (lambda: "3600", 3590, None),
    ],
)
def test_a_read_waits_as_long_as_the_service_asks(script, header, least, most):
    """A Retry-After beyond the read timeout is raised at once, and named."""
    waited = []
    service = script({A3: lambda _: Reply("busy", 503, headers={"Retry-After": header()})})
    with pytest.raises(ck.ProtocolError) as caught:
        ck.get_room(service.client(sleep=waited.append), "1")
    assert service.seen[A3] == (3 if most else 1)
    assert all(least <= seconds <= most for seconds in waited)
    if not most:
        assert caught.value.retry_after >= least
        assert "s (Retry-After)" in str(caught.value)
