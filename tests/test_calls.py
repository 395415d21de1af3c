"""Calls: the record of the last calls holds no secret, and its curl line repeats the call."""

import json
import logging
import os
import shutil
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

import confkit as ck
from confkit.endpoints import A2, A3, B1
from confkit.secret import MASK, Secret
from confkit.signing import digest as digest_of
from tests.conftest import need
from tests.scripted import GET_ROOM, VECTOR_TOKEN

CREATE = "/rtc/room/create"
MCU = "/sdk/get_mcu"
IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
DONE = {"ret": 0, "room_id": "1", "addr": "h:1", "data": {"roomId": "1", "userId": "cam"}}

TOPICS = [
    "Weekly sync", "it's", 'say "hi"', "`id`", "$(id)", "$HOME ${HOME}", "!!", "back\\slash\\",
    "100 % + more", "日本語 😀", "#1; ls | cat > x", "@file", "=", "<x>", "*", "~", "-d", "a  b ",
    "Re: ask ops@example.org", "a&b=c", "\\n", "é", "?", "{a,b}[1-3]", "https://example.org/?a=b#c",
    "two\nlines\r\n", "tab\t", "'\"'\"'", "%41%2541",
]  # fmt: skip
STARRED = ["***", "*** urgent ***", "$CONFKIT_TOKEN", "a $CONFKIT_CAMERA_PASSWORD b"]

SECRETS = {
    "CONFKIT_TOKEN": VECTOR_TOKEN,
    "CONFKIT_DIGEST": "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg==",
    "CONFKIT_HOST_PASSWORD": "host $`'\"\\ &%é",
    "CONFKIT_CAMERA_PASSWORD": "hunter2-cam",
}


def run(call, **variables):
    """Runs the printed line with bash, in an environment that holds the secrets it names."""
    need("curl", shutil.which("curl") and shutil.which("bash"), "install curl and bash")
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{call.as_curl()}"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **SECRETS, **variables},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def run_python(call, **variables):
    """Runs the printed lines with this Python, in an environment that holds the secrets."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", call.as_python()],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", **SECRETS, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def sent(request):
    """A request as the service saw it: method, path, and every parameter in order."""
    method, path, parameters = request
    return method, urlsplit(path).path, list(parameters.items())


def same_again(service, call, again, **variables):
    """Asserts that the call's curl line, or its Python, sends what the call has sent."""
    count = len(service.requests)
    again(call, **variables)
    assert len(service.requests) == count + 1
    assert sent(service.requests[-1]) == sent(service.requests[-2])
    if again is run_python:  # which writes the query as confkit does, byte for byte
        assert service.requests[-1] == service.requests[-2]


WAYS = {"curl": run, "Python": run_python}
again = pytest.mark.parametrize("again", WAYS.values(), ids=WAYS)


def create(client, topic="Weekly sync", **options):
    """The record of a create."""
    ck.create_room(client, topic, owner_id="ops", **options)
    return client.calls[-1]


@again
def test_a_line_repeats_a_call_with_any_topic(script, again):
    """Whatever a topic holds, a mask or a variable too, and the host's password: the service gets
    the very same parameters, and no secret in the place of what the caller wrote."""
    service = script({CREATE: DONE})
    client = service.client()
    topics = {f"topic_{n}": topic for n, topic in enumerate([*TOPICS, *STARRED])}
    given = {**topics, "host_password": SECRETS["CONFKIT_HOST_PASSWORD"]}
    client.send(ck.Request(A2, {"attendee_max": 25, "room_extend_id": "007", **given}))
    same_again(service, client.calls[-1], again)
    assert given.items() <= service.requests[-1][2].items()


def test_the_login_itself_can_be_repeated(script):
    """A1 has no token: its digest comes from CONFKIT_DIGEST."""
    service = script({GET_ROOM: DONE})
    client = service.client()
    client.token()
    assert client.calls[-1].endpoint == "A1"
    assert "$CONFKIT_DIGEST" in client.calls[-1].as_curl()
    assert "CONFKIT_TOKEN" not in client.calls[-1].as_curl()
    same_again(service, client.calls[-1], run)


DIALECTS = {
    "usual": {},
    "POST with a query": {"create_method": "POST", "list_method": "POST"},
    "POST with a form": {"create_method": "POST", "list_method": "POST", "placement": "form"},
    "POST with JSON": {"create_method": "POST", "list_method": "POST", "placement": "json"},
}


def imported(client, password, **options):
    """The record of an import of a camera whose address and options hold the same password."""
    ck.import_device(
        client,
        "1",
        "cam-1",
        "Door $HOME 'x'",
        f"rtsp://admin:{password}@192.0.2.7:554/a?b=c&d",
        login_name="admin",
        login_password=password,
        user_data="outgoing",
        **options,
    )
    return client.calls[-1]


@again
@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_import_can_be_repeated_in_every_dialect(script, dialect, again):
    """Method, place of the parameters and options arrive alike; the camera's password is filled:
    in Python as it is, for curl as it stands inside JSON."""
    password = "qu\"o'te\\back`c $HOME 日本語"
    service = script({IMPORT: DONE})
    client = service.client(dialect=ck.Dialect(**DIALECTS[dialect]))
    ck.import_device(
        client,
        "1",
        "cam-1",
        "it's \"Door\" {x} \\ '' + $HOME `id`\n",
        "rtsp://192.0.2.7:554/a?b=c&d",
        login_name="admin",
        login_password=password,
        options={"assist_address": "rtsp://h/é", "deep": [{"n": 1, "yes": True, "no": None}, 2.5]},
    )
    inside = password if again is run_python else json.dumps(password)[1:-1]
    again(client.calls[-1], CONFKIT_CAMERA_PASSWORD=inside)
    _, before, after = service.requests  # the login, the import, and the import again
    assert (before[0], urlsplit(before[1]).path) == (after[0], urlsplit(after[1]).path)
    placement = DIALECTS[dialect].get("placement", "query")
    assert arrived(before, placement) == arrived(after, placement)
    assert arrived(after, placement)["options"]["login_password"] == password


def arrived(request, placement):
    """The parameters of B1 as values, wherever they travelled."""
    _, _, parameters = request
    if placement == "json":  # the scripted service reads a body as a form: put it together again
        body = "&".join(f"{name}={value}" if value else name for name, value in parameters.items())
        return json.loads(body)
    return {**parameters, "options": json.loads(parameters["options"])}


@again
def test_the_password_in_a_cameras_address_is_filled_too(script, again):
    """An address with a login keeps its login name and host, and takes the password's variable."""
    service = script({IMPORT: DONE})
    call = imported(service.client(), "hunter2-cam")
    assert "hunter2" not in call.as_curl() + call.as_python()
    assert '"rtsp://admin:" + os.environ["CONFKIT_CAMERA_PASSWORD"] + "@192' in call.as_python()
    same_again(service, call, again)


@pytest.mark.parametrize("parameter", ["access_token", "access_tocken", "token"])
def test_the_token_is_filled_under_the_dialects_name(script, parameter):
    """However this deployment spells the token, the line carries $CONFKIT_TOKEN there."""
    service = script({MCU: DONE, GET_ROOM: DONE, REMOVE: DONE})
    client = service.client(dialect=ck.Dialect(mcu_token_parameter=parameter))
    ck.get_mcu(client, "1")
    same_again(service, client.calls[-1], run)
    assert service.requests[-1][2][parameter] == VECTOR_TOKEN
    client.dialect = ck.Dialect(remove_token_parameter=parameter)
    ck.remove_device(client, "1", "cam-1", "rtsp://192.0.2.7:554/a")
    same_again(service, client.calls[-1], run)
    assert service.requests[-1][2][parameter] == VECTOR_TOKEN


def test_the_python_lines_repeat_a_sandboxs_calls_and_print_the_answer(client):
    """Against a real service: the login and a read, each with the variable that it needs alone."""
    room_id = ck.create_room(client, "Ünï", owner_id="ops")
    ck.get_room(client, room_id)
    login, _, read = client.calls
    digest = digest_of(client.access_key, client.secret_key, client.dialect)
    assert json.loads(run_python(login, CONFKIT_DIGEST=digest))["ret"] == 0
    assert json.loads(run_python(read, CONFKIT_TOKEN=client.token()))["topic"] == "Ünï"
    assert "CONFKIT_TOKEN" not in login.as_python()
    assert "CONFKIT_DIGEST" not in read.as_python()


def test_without_their_variables_the_python_lines_send_nothing(script, monkeypatch):
    """A secret that is not set is reported by its name, before anything is sent."""
    service = script({GET_ROOM: {"ret": 0, "room_id": "1"}})
    client = service.client()
    ck.get_room(client, "1")
    monkeypatch.delitem(SECRETS, "CONFKIT_TOKEN")
    with pytest.raises(AssertionError, match="KeyError: 'CONFKIT_TOKEN'"):
        run_python(client.calls[-1])
    assert len(service.requests) == 2


LEAKS = ["hunter2", VECTOR_TOKEN, VECTOR_TOKEN[:20], "demo_secret", "1000017"]


def everything(call):
    """All that a call holds, its hidden fields and its curl line too, as one text; of its seconds,
    which are measured, too few digits to look like a number that is secret."""
    call = call._replace(seconds=round(call.seconds, 3))
    fields = call._asdict()
    assert not any(isinstance(value, Secret) for value in fields.values())
    return "\n".join(
        [
            repr(call),
            repr(fields),
            json.dumps(fields, default=str),
            call.as_curl(),
            call.as_python(),
            json.dumps(fields, default=str, ensure_ascii=False),
        ]
    )


def assert_clean(client):
    """Asserts that no call that this client made holds a secret."""
    assert client.calls
    for call in client.calls:
        found = [leak for leak in LEAKS if leak in everything(call)]
        assert not found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_field_of_a_call_holds_a_secret(script, dialect):
    """Token, digest, passwords and logins inside addresses are gone from every field."""
    device = {
        "roomId": "1",
        "userId": "cam",
        "userAddress": "rtsp://admin:hunter2@h/x",
        "options": {"login_name": "admin", "login_password": "hunter2"},
    }
    service = script(
        {
            CREATE: DONE,
            IMPORT: DONE,
            GET_ROOM: {**DONE, "host_password": "hunter2"},
            LIST: {"ret": 0, "data": {"total": 1, "items": [device]}},
        }
    )
    client = service.client(dialect=ck.Dialect(**DIALECTS[dialect]))
    create(client, host_password="hunter2 and more")
    ck.get_room(client, "1")
    imported(
        client,
        "hunter2",
        options={"assist_address": "rtsp://a:hunter2@h/y", "more": [{"password": "hunter2"}]},
    )
    ck.list_devices(client)
    assert [call.endpoint for call in client.calls] == ["A1", "A2", "A3", "B1", "B3"]
    assert_clean(client)
    assert MASK in client.calls[-2].url or DIALECTS[dialect].get("placement")


@pytest.mark.parametrize(
    "options",
    [{"login_password": 1_000_017}, {"more": ({"password": "hunter2"},)}, {"token": ["hunter2"]}],
)
def test_secrets_of_other_types_are_gone_too(script, options):
    """A password that is a number, or that stands in a tuple or a list, shows as little."""
    service = script({IMPORT: DONE})
    client = service.client()
    ck.import_device(client, "1", "cam", "Door", "rtsp://h/x", options=options)
    assert_clean(client)


def test_a_call_tells_what_was_sent_and_what_came(script):
    """Operation, method, address, status, result code and answer are in the record."""
    found, gone = {"ret": 0, "room_id": "1", "topic": "x"}, {"ret": 404, "msg": "gone"}
    service = script({GET_ROOM: [found, gone]})
    client = service.client()
    ck.get_room(client, "1")
    call = client.calls[-1]
    assert (call.endpoint, call.method, call.status, call.ret, call.error) == (
        "A3",
        "GET",
        200,
        0,
        None,
    )
    assert repr(call).startswith(f"<A3 GET {call.url} ")
    assert call.url == f"{service.base_url}{GET_ROOM}?access_token={MASK}&room_id=1"
    assert json.loads(call.answer)["topic"] == "x"
    assert call.seconds >= 0
    assert call.time.tzinfo is not None
    with pytest.raises(ck.RoomNotFound) as caught:
        ck.get_room(client, "1")
    assert client.calls[-1].ret == 404
    assert client.calls[-1].error == str(caught.value)
    assert "gone" in client.calls[-1].answer


def test_the_url_in_a_record_reads_like_the_one_that_was_sent(script):
    """But for its masks, the URL is the one that travelled, with every parameter in order."""
    service = script({CREATE: DONE})
    call = create(service.client(), "a&b=ü %", host_password="hunter2", attendee_max=5)
    _, path, parameters = service.requests[-1]
    shown = parse_qs(urlsplit(call.url).query, keep_blank_values=True)
    assert list(shown) == list(parameters)
    assert shown["access_token"] == shown["host_password"] == [MASK]
    for name in ("topic", "attendee_max", "owner_id", "room_mode"):
        assert shown[name] == [parameters[name]]
        assert f"{name}=" in path


def test_a_blank_travels_as_percent_20(script):
    """A query is percent-encoded once: a blank is %20, which every server reads, and not a plus."""
    service = script({CREATE: DONE})
    create(service.client(), "a b+c%20d")
    assert "topic=a%20b%2Bc%2520d&" in service.requests[-1][1]


def test_the_log_shows_calls_without_secrets(script, caplog):
    """At DEBUG our own and urllib3's log name each call and hold no secret."""
    service = script({CREATE: DONE, IMPORT: DONE})
    with caplog.at_level(logging.DEBUG):
        client = service.client()
        create(client, host_password="hunter2")
        imported(client, "hunter2")
    assert "B1 GET" in caplog.text
    assert "urllib3" in caplog.text
    assert "digest=***" in caplog.text
    assert VECTOR_TOKEN.replace("=", "%3D") not in caplog.text
    assert "/rtc/room/create" in caplog.text
    assert not [leak for leak in LEAKS if leak in caplog.text]


def test_a_call_on_record_stays_the_same(script):
    """The record of a call is made when somebody looks at it, and then it is that one for all."""
    client = script({GET_ROOM: DONE}).client()
    ck.get_room(client, "1")
    first = client.calls
    assert all(one is other for one, other in zip(first, client.calls, strict=True))


def test_a_large_answer_is_not_kept(script):
    """Of an answer that is large nothing but its beginning stays in memory, before anybody looks at
    its record, too."""
    client = script({GET_ROOM: DONE | {"topic": "x" * 100_000}}).client()
    ck.get_room(client, "1")
    last = client._calls[-1]
    assert isinstance(last, ck.Call)
    assert len(last.answer) < 10_000


def test_a_call_on_record_says_what_was_sent(script):
    """Whoever uses a dict of parameters again, or changes what stands in it, changes no record."""
    client = script({GET_ROOM: DONE, IMPORT: DONE}).client()
    parameters = {"room_id": "1"}
    client.send(ck.Request(A3, parameters))
    parameters["room_id"] = "2"
    client.send_many([ck.Request(A3, parameters)])
    parameters["room_id"] = "3"
    options = {"site": "north"}
    client.send(ck.Request(B1, {"roomId": "1", "options": options}))
    options["site"] = "south"
    last = client.calls[-3:]
    assert [call.fields.get("room_id") for call in last] == ["1", "2", None]
    assert last[2].fields["options"] == {"site": "north"}
