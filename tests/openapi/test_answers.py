"""The OpenAPI description held against what the sandbox really answers, in several dialects."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from confkit import signing
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from confkit.errors import codes
from confkit.sandbox import Sandbox
from tests.openapi.described import Operation

POSTED = {"create_method": "POST", "list_method": "POST"}
FIELD = {"result_field": "result", "item_keys": "snake_case"}
DIALECTS: dict[str, dict[str, str]] = {
    "usual": {},
    "form": {**POSTED, "placement": "form"},
    "json": {**POSTED, "placement": "json", **FIELD},
}
LOGIN = {"login_name": "admin", "login_password": "desk-2468"}
IDS = "authenticate createRoom getRoom deleteRoom getMcu getRoomUsers forceOffline createDevice"
IDS += " deleteDevice listDevices"
VALUES = {
    "topic": "Größe & 100 % = ?", "owner_id": "ops", "room_mode": 1, "host_password": "a&b=c",
    "max_video": 4, "max_audio": 6, "attendee_max": 25, "room_type": 1, "start_time": 1700000000,
    "end_time": 1700003600, "userName": "Door", "userData": "ü", "options": LOGIN,
}  # fmt: skip
OPTIONAL = {"host_password", "attendee_max", "max_audio", "max_video", "room_extend_id", *LOGIN}
OPTIONAL |= {"userData", "user_data", "options"}


class Deployment:
    """A sandbox in a dialect, whose operations are called by the description."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, dialect = sandbox, sandbox.dialect
        self._as_json = dialect.placement == "json"
        servers = {"base_url": sandbox.base_url, "outgoing_url": sandbox.outgoing_url}
        by_post = ("B1", "B3") if dialect.create_method == "POST" else ()
        self.of = {
            key: Operation(name + "ByPost" * (key in by_post), **servers)
            for key, name in zip(ENDPOINTS, IDS.split(), strict=True)
        }
        self._numbers = itertools.count()
        digest = signing.digest(sandbox.access_key, sandbox.secret_key, dialect)
        self.known = {"access_key": sandbox.access_key, "digest": str(digest)}
        _, answer = self.call("A1", self.known)
        made = signing.access_token(answer["random"], answer["key"], sandbox.secret_key, dialect)
        self.known |= {"access_token": str(made), "accessToken": str(made), **VALUES}
        self.known["userAddress"] = sandbox.camera(size=(160, 120))

    def call(self, key: str, values: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The result code and the answer, which the description allows as what it is, also with
        all its numbers quoted."""
        answer = self.of[key].call(values, self._as_json)
        ret = answer[self.sandbox.dialect.result_field if key[0] == "B" else "ret"]
        for written in (answer, quoted(answer)):
            assert self.of[key].says(written, success=ret == 0)
            assert not self.of[key].says(written, success=ret != 0)
        return ret, answer

    def prepared(self, key: str) -> dict[str, Any]:
        """All parameters of a call that succeeds, in a state of its own."""
        number = next(self._numbers)
        own = {"room_extend_id": f"own-{number}", "userId": f"cam-{number}"}
        if {"room_id", "roomId"} & set(self.of[key].names):
            plain = {name: self.known[name] for name in ("access_token", "topic", "owner_id")}
            room_id = self.call("A2", {**plain, "room_mode": 1})[1]["room_id"]
            own |= {"room_id": room_id, "roomId": room_id}
            own["user_id"] = self.sandbox.join(room_id, "Ada")
        known = {**self.known, **own}
        if key in ("B2", "B3"):
            device = {name: known[name] for name in self.of["B1"].names}
            assert self.call("B1", device)[0] == 0
        return {name: known[name] for name in self.of[key].names}


@pytest.fixture(scope="module", params=DIALECTS)
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    with Sandbox(seed=1, dialect=Dialect(**DIALECTS[request.param])) as sandbox:
        yield Deployment(sandbox)


@pytest.fixture(params=ENDPOINTS)
def key(request: pytest.FixtureRequest) -> str:
    return request.param


def test_exactly_the_required_parameters_are_required(deployment, key):
    """Without a required parameter description and sandbox refuse the call; any other may lack.
    Each answer is the described success or error, that to a wrong token or digest too."""
    operation = deployment.of[key]
    for name, required in {"": False, **operation.names}.items():
        values = deployment.prepared(key)
        assert operation.fits(values)
        values.pop(name, None)
        assert operation.fits(values) == (not required), name
        assert (deployment.call(key, values)[0] != 0) == required, name
    values = deployment.prepared(key)
    name = next((name for name in values if name.lower().endswith("token")), "digest")
    ret, _ = deployment.call(key, {**values, name: values[name] + "A"})
    assert ret == (401 if key == "A1" else 602)


def test_every_code_is_an_error_as_described(deployment, key):
    """Each of its main codes is a described error of an operation; of A3 and B3, which stand for
    all, any code is, known or not."""
    values = deployment.prepared(key)
    any_code = {code.ret for code in codes()} | {12345, -1}
    for ret in sorted((any_code if key in ("A3", "B3") else set(ENDPOINTS[key].codes)) - {0}):
        deployment.sandbox.fault(ENDPOINTS[key].path, ret=ret, times=1)
        assert deployment.call(key, values)[0] == ret


def test_an_answer_that_is_wrong_is_not_as_described(deployment, key):
    """No answer passes that lacks a field, has one of another type, or is not an object."""
    _, answer = deployment.call(key, deployment.prepared(key))
    inner = answer.get("data", answer)
    inner = inner.get("items", [inner])[0]
    for name, value in [*inner.items()]:
        inner[name] = [[None]]
        assert not deployment.of[key].says(answer), name
        del inner[name]
        assert deployment.of[key].says(answer) == (name in OPTIONAL), name
        inner[name] = value
    code = deployment.sandbox.dialect.result_field
    for nonsense in ([answer], "0", None, {}, {**answer, code: None, "ret": "no"}):
        assert not deployment.of[key].says(nonsense)


def quoted(value: Any) -> Any:
    """The answer with each number as text, as some deployments write them."""
    if isinstance(value, dict):
        return {name: quoted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [quoted(inner) for inner in value]
    return str(value) if isinstance(value, int) else value
