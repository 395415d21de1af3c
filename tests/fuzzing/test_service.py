"""Cases in which what a caller sent broke the sandbox, or what a service sent broke the client."""

import json
import socket
from urllib.parse import urlsplit

import pytest
import requests

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.records import Device
from confkit.sandbox import Sandbox

B1, B3 = ENDPOINTS["B1"].path, ENDPOINTS["B3"].path
GET = b"GET /rtc/room/get HTTP/1.1\r\nHost: x\r\n"


def answers(address, data):
    """The status and the result code of each answer that comes for these bytes, until the service
    closes."""
    parts, came, found = urlsplit(address), b"", []
    with socket.create_connection((parts.hostname, parts.port), 20) as line:
        line.sendall(data)
        try:
            while piece := line.recv(65536):
                came += piece
        except ConnectionResetError:
            pass  # it did not wait for the rest of what was sent
    while came:
        head, _, came = came.partition(b"\r\n\r\n")
        fields = dict(one.lower().split(b": ", 1) for one in head.split(b"\r\n")[1:])
        size = int(fields[b"content-length"])
        found.append((int(head[9:12]), json.loads(came[:size])["ret"]))
        came = came[size:]
    return found


def deep(levels):
    return '{"a":' * levels + "1" + "}" * levels


def holding_itself():
    value = {}
    value["a"] = [value, value]
    return value


@pytest.mark.parametrize("levels", [101, 300, 600, 900])
def test_options_that_are_nested_deep_cost_the_sandbox_nothing(tmp_path, levels):
    """Such an import is refused (401): devices are listed as before, and the file opens again."""
    path = tmp_path / "rooms.sqlite"
    with Sandbox(path=path) as sandbox, sandbox.connect() as client:
        room = ck.create_room(client, "t", "o")
        fields = {
            "accessToken": client.token(), "roomId": room, "userId": "cam", "userName": "n",
            "userAddress": sandbox.camera(size=(160, 120), fps=2), "options": deep(levels),
        }  # fmt: skip
        answer = requests.get(sandbox.outgoing_url + B1, params=fields, timeout=20)
        assert answer.json()["ret"] == 401
        assert ck.list_devices(client) == []
    with Sandbox(path=path) as sandbox:
        assert sandbox.room_ids() == [room]


@pytest.mark.parametrize(
    "options", [json.loads(deep(400)), holding_itself(), {"a": float("nan")}, {"a": float("inf")}]
)
def test_options_that_cannot_travel_are_refused_before_anything_is_sent(client, sandbox, options):
    """An object too deep, one in itself, or a number that JSON lacks is a ParameterError."""
    with pytest.raises(ck.ParameterError, match="options") as caught:
        ck.import_device(client, "1", "cam", "n", "rtsp://192.0.2.7/x", options=options)
    assert caught.value.ret is None
    assert sandbox.count() == 0


@pytest.mark.parametrize("levels", [101, 600, 900])
def test_options_that_come_nested_deep_are_a_protocol_error(levels):
    """A device whose options are a text nested deep cannot be read, and that is said."""
    with pytest.raises(ck.ProtocolError, match="too deep"):
        Device.read({"roomId": "1", "userId": "cam", "options": deep(levels)})


@pytest.mark.parametrize("name", ["id", "topic", "attendee_max"])
def test_a_value_that_is_nested_deep_is_told_in_words(name):
    """A field that holds lists in lists is the error of a field of another type."""
    value = json.loads("[" * 900 + "]" * 900)
    with pytest.raises(ck.ProtocolError, match="nested too deep"):
        ck.Room.read({name: value}, "1")


def test_what_is_no_request_is_answered_behind_the_request_before_it(sandbox):
    """A whole request has its own answer, whatever follows it in the same packet."""
    came = answers(sandbox.base_url, GET + b"\r\n\x00garbage\r\n\r\n")
    assert came == [(200, 602), (400, 408)]


@pytest.mark.parametrize("interface", ["A", "B"])
def test_a_request_with_a_broken_body_has_one_answer(sandbox, interface):
    """A chunk that is none ends the request with its one answer."""
    address = sandbox.base_url if interface == "A" else sandbox.outgoing_url
    came = answers(address, GET + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert [code for _, code in came] == [408]
