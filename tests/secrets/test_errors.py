"""Secrets never show: not in a repr, an exception, a traceback with locals, a log, a frame."""

import io
import itertools
import json
import logging
import traceback

import pytest
from IPython.core.ultratb import VerboseTB

import confkit as ck
from confkit.frames import devices_frame
from tests.scripted import AUTHENTICATE, GET_ROOM, GRANTED, VECTOR_TOKEN, Reply

SECRET_KEY = "S3CRET-key"
HOST = "H0ST pass/word?&=%"
CAMERA = 'C4M"era\\:@p#'
INSIDE = "1NSIDE-url"
ADDRESS = f"rtsp://admin:{INSIDE}@192.0.2.7:554/stream1"


@pytest.fixture
def marked(script):
    """A service that refuses in any way asked for, and a client whose secrets are marked."""
    service = script()
    client = service.client(timeout=(1, 0.2))
    client.secret_key = ck.secret.Secret(SECRET_KEY)
    return service, client


def secrets_of(client):
    token = ck.signing.access_token("abc", "def", SECRET_KEY, client.dialect)
    digest = ck.signing.digest(client.access_key, SECRET_KEY, client.dialect)
    plain = [SECRET_KEY, HOST, CAMERA, INSIDE, str(token), str(digest)]
    encoded = [json.dumps(text)[1:-1] for text in plain] + [repr(text)[1:-1] for text in plain]
    quoted = [ck.wire.encode({"": text})[1:] for text in plain]
    return {*plain, *encoded, *quoted}


def everything_of(error):
    """All that a person could be shown of an error: text, repr, and tracebacks with locals."""
    shown = [str(error), repr(error), repr(error.__dict__)]
    link = error
    while link is not None:  # the frames of this file hold the secrets: a person's own code may
        while link.__traceback__ and link.__traceback__.tb_frame.f_code.co_filename == __file__:
            link.__traceback__ = link.__traceback__.tb_next
        link = link.__cause__ or link.__context__
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    shown += told.format()
    verbose = VerboseTB(color_scheme="NoColor") if _old_ipython() else VerboseTB()
    out = io.StringIO()
    verbose.ostream = out
    verbose.handler((type(error), error, error.__traceback__))
    return "\n".join([*shown, out.getvalue()])


def _old_ipython():
    import IPython

    return IPython.version_info[0] < 9


CALLS = {
    "A2": lambda client: ck.create_room(client, "t", "ops", host_password=HOST),
    "A3": lambda client: ck.get_room(client, "1"),
    "A6": lambda client: ck.get_room_users(client, "1"),
    "B1": lambda client: ck.import_device(
        client, "1", "cam", "Door", ADDRESS, login_name="u", login_password=CAMERA
    ),
    "B2": lambda client: ck.remove_device(client, "1", "cam", ADDRESS),
    "B3": lambda client: ck.list_devices(client),
}


def echo(query):
    """A page that quotes all that it was sent, as a debugging proxy does."""
    return Reply(f"<html>{query} {json.dumps(query)} {ck.wire.encode(query)}</html>", status=500)


REFUSALS = {
    "echoing page": echo,
    "echoing message": lambda query: {"ret": 407, "msg": f"bad {query}", "err": json.dumps(query)},
    "dropped": Reply(drop=True),
    "late": Reply({"ret": 0}, delay=0.4),
    "wrong types": {
        "ret": 0,
        "room_id": "1",
        "attendee_max": "x",
        "host_password": HOST,
        "user_list": [{"user_name": "Ada", "host_password": HOST}],
        "data": {"items": [{"options": {"login_password": CAMERA}, "userAddress": ADDRESS}]},
    },
    "redirect": Reply("", status=302, headers={"Location": f"/?access_token={VECTOR_TOKEN}"}),
}


# B1 waits for 30 s, so what is late for the others is not late for it.
WAYS = sorted({*itertools.product(CALLS, REFUSALS)} - {("B1", "late")})


@pytest.mark.parametrize(("key", "refusal"), WAYS)
def test_no_error_shows_a_secret(marked, caplog, key, refusal):
    """However a call fails, nothing that is shown of the failure holds a secret."""
    service, client = marked
    service.script.update(
        {endpoint.path: REFUSALS[refusal] for endpoint in ck.endpoints.ENDPOINTS.values()}
    )
    service.script[AUTHENTICATE] = GRANTED
    with caplog.at_level(logging.DEBUG):
        try:
            CALLS[key](client)
        except ck.ConfkitError as error:
            shown = everything_of(error)
        else:
            assert refusal == "wrong types"  # a change asks for little of its answer
            shown = ""
    shown += caplog.text + repr(list(client.calls)) + repr(client)
    shown += "".join(call.answer + call.url + call.as_curl() for call in client.calls)
    found = {secret for secret in secrets_of(client) if secret in shown}
    assert found == set()


def test_a_refused_login_shows_no_digest(marked, caplog):
    """Neither a refused A1 nor its log shows digest or key."""
    service, client = marked
    service.script[AUTHENTICATE] = lambda query: {"ret": 401, "msg": str(query)}
    with caplog.at_level(logging.DEBUG), pytest.raises(ck.AuthenticationFailed) as raised:
        client.token()
    shown = everything_of(raised.value) + caplog.text + repr(list(client.calls))
    assert {secret for secret in secrets_of(client) if secret in shown} == set()


def test_records_and_frames_hide_and_code_can_read(script):
    """A repr and a frame mask; the attributes, and secrets=True, give the value."""
    service = script(
        {
            GET_ROOM: {"ret": 0, "room_id": "1", "host_password": HOST},
            ck.endpoints.B3.path: {
                "ret": 0,
                "data": {
                    "total": 1,
                    "items": [
                        {
                            "roomId": "1",
                            "userId": "c",
                            "userAddress": ADDRESS,
                            "options": {"login_password": CAMERA, "assist_address": ADDRESS},
                        }
                    ],
                },
            },
        }
    )
    client = service.client()
    room, devices = ck.get_room(client, "1"), ck.list_devices(client)
    frames = ck.rooms_frame(room).to_string() + devices_frame(devices).to_json()
    shown = f"{room!r} {room} {devices!r} {frames} {devices[0].options!r}"
    for secret in (HOST, CAMERA, INSIDE, json.dumps(CAMERA)[1:-1], repr(CAMERA)[1:-1]):
        assert secret not in shown
    assert room.host_password == HOST
    assert devices[0].user_address == ADDRESS
    assert devices[0].login_password == CAMERA
    assert ck.rooms_frame(room, secrets=True).host_password[0] == HOST
    asked = devices_frame(devices, secrets=True)
    assert asked.user_address[0] == ADDRESS
    assert json.loads(asked.options[0])["login_password"] == CAMERA


def test_the_scan_finds_a_secret_that_shows():
    """The check above can fail: a local that holds a plain secret is found in the traceback."""
    with pytest.raises(ValueError, match="Expecting") as raised:
        json.loads(SECRET_KEY)
    assert SECRET_KEY in everything_of(raised.value)


def test_a_service_that_quotes_the_password_of_an_address_is_masked(script):
    """The password inside rtsp://user:password@host is hidden even where it is quoted alone."""
    service = script({ck.endpoints.B1.path: {"ret": 426, "err": f"login with {INSIDE} refused"}})
    with pytest.raises(ck.JoinFailed) as raised:
        ck.import_device(service.client(), "1", "cam", "Door", ADDRESS)
    assert INSIDE not in everything_of(raised.value)
    assert "refused" in str(raised.value)


def test_what_is_half_made_or_refused_shows_no_password(sandbox):
    """A refused join, a camera that cannot be, a wrong import or setting show no secret."""
    client = sandbox.connect()
    room_id = ck.create_room(client, "t", "ops", host_password="other")
    camera = sandbox.camera(login_name="u", login_password=CAMERA, size=(128, 96), fps=10)
    for call in (
        lambda: sandbox.join(room_id, "Ada", password=HOST),
        lambda: sandbox.camera(login_name="u", login_password=CAMERA, fps=-1),
        lambda: ck.import_device(
            client, room_id, "c", "D", "rtsp://127.0.0.1:9/x", options={"login_password": CAMERA}
        ),
        lambda: ck.import_device(
            client, room_id, "c", "D", "x", options={"login_password": CAMERA, "o": {1}}
        ),
        lambda: ck.import_device(
            client, room_id, "c", "D", "rtsp://127.0.0.1:9/x", login_password=CAMERA, preflight=True
        ),
        lambda: ck.import_device(
            client, "0", "c", "D", camera, preflight=True, login_name="u", login_password=CAMERA
        ),
        lambda: ck.diagnose_device(client, room_id, "", login_password=CAMERA),
        lambda: ck.diagnose_device(client, room_id, "c", camera, login_password=CAMERA, timeout=0),
        lambda: ck.Client("h", "h", "a", SECRET_KEY),
        lambda: ck.Client("http://h", "http://h", "a", SECRET_KEY, timeout=-1),
        lambda: type(sandbox)(seed=1, host="0.0.0.0", secret_key=SECRET_KEY),
        lambda: type(sandbox)(token_lifetime=-1, secret_key=SECRET_KEY),
    ):
        with pytest.raises((ck.ConfkitError, ValueError)) as raised:
            call()
        shown = everything_of(raised.value)
        for secret in (HOST, CAMERA, repr(CAMERA)[1:-1], SECRET_KEY):
            assert secret not in shown
