"""The OpenAPI description held against what the sandbox really answers, in several dialects."""

import copy
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
    "field": {"hash": "sha256", "signature": "raw", **FIELD},
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
OPTIONAL = {
    "host_password",
    "attendee_max",
    "max_audio",
    "max_video",
    "room_extend_id",
    "userData",
    "user_data",
    "options",
    *LOGIN,
}


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
        """The result code and the answer, which the description allows."""
        answer = self.of[key].call(values, self._as_json)
        return answer[self.sandbox.dialect.result_field if key[0] == "B" else "ret"], answer

    def prepared(self, key: str) -> dict[str, Any]:
        """All parameters of a call that succeeds, in a state of its own."""
        number = next(self._numbers)
        own = {"room_extend_id": f"own-{number}", "userId": f"cam-{number}"}
        if {"room_id", "roomId"} & set(self.of[key].names):
            plain = {name: self.known[name] for name in ("access_token", "topic", "owner_id")}
            room_id = self.call("A2", {**plain, "room_mode": 1})[1]["room_id"]
            user_id = self.sandbox.join(room_id, "Ada")
            own |= {"room_id": room_id, "roomId": room_id, "user_id": user_id}
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


def test_a_success_is_as_described(deployment, key):
    """The real answer of success is the described one, also with all its numbers quoted; a room
    that was made with the required parameters alone is described too."""
    ret, answer = deployment.call(key, deployment.prepared(key))
    assert ret == 0
    if key == "A3":
        assert answer["attendee_max"] == ""
    for written in (answer, quoted(answer)):
        assert deployment.of[key].says(written, success=True)


def test_exactly_the_required_parameters_are_required(deployment, key):
    """Without a required parameter description and sandbox refuse the call; any other may lack."""
    operation = deployment.of[key]
    for name, required in operation.names.items():
        values = deployment.prepared(key)
        assert operation.fits(values)
        del values[name]
        assert operation.fits(values) == (not required), name
        ret, answer = deployment.call(key, values)
        assert (ret != 0) == required, name
        assert operation.says(answer, success=not ret)


@pytest.mark.parametrize("sent", [None, "wrong"])
def test_a_refused_token_is_as_described(deployment, key, sent):
    """Without a token, or with a wrong one, the answer is the described error."""
    values = deployment.prepared(key)
    name = next((name for name in values if name.lower().endswith("token")), "digest")
    values[name] = sent or values[name] + "A"
    ret, answer = deployment.call(key, values)
    assert ret == (401 if key == "A1" else 602)
    for written in (answer, quoted(answer)):
        assert deployment.of[key].says(written, success=False)


def test_every_code_is_an_error_as_described(deployment, key):
    """Each of its main codes, quoted or not, is a described error of an operation; of A3 and B3,
    which stand for all, any code is, known or not."""
    values = deployment.prepared(key)
    any_code = {code.ret for code in codes()} | {12345, -1}
    for ret in sorted((any_code if key in ("A3", "B3") else set(ENDPOINTS[key].codes)) - {0}):
        deployment.sandbox.fault(ENDPOINTS[key].path, ret=ret, times=1)
        found, answer = deployment.call(key, values)
        assert found == ret
        for written in (answer, quoted(answer)):
            assert deployment.of[key].says(written, success=False)
            assert not deployment.of[key].says(written, success=True)


def test_an_answer_that_is_wrong_is_not_as_described(deployment, key):
    """No answer passes that lacks a field, has one of another type, or is not an object."""
    _, answer = deployment.call(key, deployment.prepared(key))
    tried = 0
    for *place, name in fields(answer):
        for change in (lambda o, n: o.pop(n), lambda o, n: o.update({n: [[None]]})):
            broken = inside = copy.deepcopy(answer)
            for step in place:
                inside = inside[step]
            change(inside, name)
            right = name in OPTIONAL and name not in inside
            assert deployment.of[key].says(broken) == right, (place, name)
            tried += 1
    assert tried >= 4
    code = deployment.sandbox.dialect.result_field
    for nonsense in ([answer], "0", None, {}, {**answer, code: None, "ret": "no"}):
        assert not deployment.of[key].says(nonsense)


def fields(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of each field of an answer."""
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
        if isinstance(value, dict):
            yield (*place, name)
        if isinstance(inner, dict | list):
            yield from fields(inner, (*place, name))


def quoted(value: Any) -> Any:
    """The answer with each number as text, as some deployments write them."""
    if isinstance(value, dict):
        return {name: quoted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [quoted(inner) for inner in value]
    return str(value) if isinstance(value, int) else value
