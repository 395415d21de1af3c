"""Cases in which what a caller sent broke the sandbox."""

import json

import pytest
import requests

import confkit as ck
from confkit.endpoints import ENDPOINTS
from tests.test_records import deep


@pytest.mark.parametrize("levels", [101, 300, 600, 900])
def test_options_that_are_nested_deep_cost_the_sandbox_nothing(client, sandbox, levels):
    """Such an import is refused (401), and devices are listed as before."""
    room = ck.create_room(client, "t", "o")
    device = {"roomId": room, "userId": "cam", "userName": "n", "userAddress": "rtsp://h/x"}
    fields = {"accessToken": client.token(), **device, "options": deep(levels)}
    answer = requests.get(sandbox.outgoing_url + ENDPOINTS["B1"].path, fields, timeout=20)
    assert answer.json()["ret"] == 401
    assert ck.list_devices(client) == []


_WITHIN: dict[str, object] = {}
_WITHIN["a"] = [_WITHIN, _WITHIN]


@pytest.mark.parametrize(
    "options", [json.loads(deep(400)), _WITHIN, {"a": float("nan")}, {"a": float("inf")}]
)
def test_options_that_cannot_travel_are_refused_before_anything_is_sent(client, sandbox, options):
    """An object too deep, one in itself, or a number that JSON lacks is a ParameterError."""
    with pytest.raises(ck.ParameterError, match="options") as caught:
        ck.import_device(client, "1", "cam", "n", "rtsp://192.0.2.7/x", options=options)
    assert caught.value.ret is None
    assert sandbox.count() == 0
