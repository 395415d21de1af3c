"""Calls: the record of the last calls holds no secret, and its curl line repeats the call."""

import json
import os
import shutil
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

import confkit as ck
from confkit.secret import MASK
from tests.conftest import need
from tests.scripted import A2, A3, A5, B1, VECTOR_TOKEN

DONE = {"ret": 0, "room_id": "1", "addr": "h:1", "data": {"total": 0, "items": []}}
ALL = dict.fromkeys([A2, A3, A5, B1], DONE)
TOPICS = [
    *("it's", 'say "hi"', "`id` $(id) $HOME ${HOME} !!", "back\\slash\\", "100 % + more", "@file"),
    *("日本語 😀", "#1; ls | cat > x", "{a,b}[1-3]", "two\nlines\r\n\t", "%41%2541", "***"),
]
HOST, PASSWORD = "host $`'\"\\ &%é", "qu\"o'te\\back`c $HOME 日本語"
NAMED = ("1", "cam-1", "it's \"Door\" {x} \\ '' + $HOME `id`\n")
FORM, JSON = ({"create_method": "POST", "placement": name} for name in ("form", "json"))
SHELLS = {
    "curl": (["bash", "-euo", "pipefail", "-c"], ck.Call.as_curl),
    "python": ([sys.executable, "-W", "error", "-c"], ck.Call.as_python),
}


def parsed(request):
    """Method, path and parameters, in their order; the service reads a body of JSON as a form."""
    method, path, fields = request
    body = "&".join(f"{name}={value}" if value else name for name, value in fields.items())
    values = json.loads(body) if body.startswith("{") else [*fields.items()]
    return method, urlsplit(path).path, values


@pytest.mark.parametrize("shell", SHELLS)
def test_the_lines_of_a_call_send_it_again(script, shell):
    """The same method, path and parameters, whatever a topic holds, in every dialect."""
    need("curl", shutil.which("curl") and shutil.which("bash"), "install curl and bash")
    service = script(ALL)
    client, calls = service.client(), []
    client.token()
    topics = {f"topic_{n}": topic for n, topic in enumerate(TOPICS)}
    client.call("A2", **topics, host_password=HOST, attendee_max=25, room_extend_id="007")
    calls.append((client.calls[-1], ""))
    for settings in ({}, FORM, JSON):
        client.dialect = ck.Dialect(**settings)
        login = {"login_name": "admin", "login_password": PASSWORD}
        ck.import_device(client, *NAMED, "rtsp://192.0.2.7/a?b=c&d", **login)
        calls.append((client.calls[-1], PASSWORD))
    first = [parsed(request) for request in service.requests[1:]]

    command, line_of = SHELLS[shell]
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    environment |= {"CONFKIT_TOKEN": VECTOR_TOKEN, "CONFKIT_HOST_PASSWORD": HOST}
    for call, password in calls:  # the password as JSON writes it
        environment["CONFKIT_CAMERA_PASSWORD"] = json.dumps(password, ensure_ascii=False)[1:-1]
        subprocess.run([*command, line_of(call)], check=True, timeout=60, env=environment)
    assert [parsed(request) for request in service.requests[1 + len(first) :]] == first


def test_a_call_records_what_was_sent_and_the_response(script):
    """The URL is the one that travelled but for its masks, percent-encoded once."""
    service = script({A2: DONE, A3: {"ret": 404, "msg": "gone"}})
    client = service.client()
    ck.create_room(client, "a b+c%20d&e=ü", "ops")
    with pytest.raises(ck.RoomNotFound) as raised:
        ck.get_room(client, "1")
    call, failed = client.calls[-2:]
    assert (call.endpoint, call.ret) == ("A2", 0)
    assert (failed.ret, failed.error) == (404, str(raised.value))
    sent = service.requests[-2][1]
    assert "topic=a%20b%2Bc%2520d%26e%3D%C3%BC&" in sent
    assert call.url == service.base_url + sent.replace(VECTOR_TOKEN.replace("=", "%3D"), MASK)


def test_the_record_of_a_bug_in_a_hook_holds_no_secret(script):
    """The bug is raised as it is, the record of the call masks what it quotes."""
    client = script(ALL).client()
    client.token()

    def broken(response, **_):
        raise KeyError(response.url)

    client.session.hooks["response"].append(broken)
    with pytest.raises(KeyError):
        ck.get_room(client, "1")
    assert f"access_token={MASK}" in client.calls[-1].error
