"""Cases in which what a caller sent broke the sandbox, or what a service sent broke the client."""

import json

import pytest
import requests

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.records import Device
from confkit.sandbox import Sandbox

B1 = ENDPOINTS["B1"].path


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
            "accessToken": client.token(),
            "roomId": room,
            "userId": "cam",
            "userName": "n",
            "userAddress": sandbox.camera(size=(160, 120), fps=2),
            "options": deep(levels),
        }
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


@pytest.mark.parametrize("levels", [102, 900])
@pytest.mark.parametrize("name", ["id", "topic", "attendee_max"])
def test_a_value_that_is_nested_deep_is_told_in_words(name, levels):
    """A field that holds lists in lists is the error of a field of another type."""
    value = json.loads("[" * levels + "]" * levels)
    with pytest.raises(ck.ProtocolError, match="nested too deep"):
        ck.Room.read({name: value}, "1")
