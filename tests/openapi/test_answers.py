"""The OpenAPI description held against what the sandbox really answers, in several dialects."""

import copy
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from confkit import signing
from confkit.dialect import Dialect
from confkit.endpoints import ENDPOINTS
from confkit.errors import codes
from confkit.sandbox import Sandbox
from tests.openapi.described import Described

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
DIALECTS = {
    "usual": ({}, ""),
    "field": (
        {"hash": "sha256", "signature": "raw", "result_field": "result", "item_keys": "snake_case"},
        "",
    ),
    "form": ({"create_method": "POST", "list_method": "POST", "placement": "form"}, FORM),
    "json": (
        {
            "create_method": "POST",
            "list_method": "POST",
            "placement": "json",
            "result_field": "result",
            "item_keys": "snake_case",
        },
        JSON,
    ),
}
LOGIN = {"login_name": "admin", "login_password": "desk-2468"}
IDS = {
    "A1": "authenticate",
    "A2": "createRoom",
    "A3": "getRoom",
    "A4": "deleteRoom",
    "A5": "getMcu",
    "A6": "getRoomUsers",
    "A7": "forceOffline",
    "B1": "createDevice",
    "B2": "deleteDevice",
    "B3": "listDevices",
}


class Deployment:
    """A sandbox in a dialect, and whoever calls it by the description."""

    def __init__(self, sandbox: Sandbox, body: str) -> None:
        self.sandbox, self.body = sandbox, body
        self.by = Described(base_url=sandbox.base_url, outgoing_url=sandbox.outgoing_url)
        self.code = sandbox.dialect.result_field
        self.camera = sandbox.camera(size=(160, 120))
        self._numbers = itertools.count()
        signed = signing.digest(sandbox.access_key, sandbox.secret_key, sandbox.dialect)
        self.key = {"access_key": sandbox.access_key, "digest": str(signed)}
        answer = self.by.call("authenticate", self.key)
        made = signing.access_token(
            answer["random"], answer["key"], sandbox.secret_key, sandbox.dialect
        )
        self.token = str(made)

    def id_of(self, key: str) -> str:
        """The operation's id, as the dialect's method makes it."""
        by_post = self.body and key in ("B1", "B3")
        return IDS[key] + "ByPost" * bool(by_post)

    def call(self, key: str, values: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The result code and the answer, which the description allows."""
        answer = self.by.call(self.id_of(key), values, self.body)
        return answer[self.code if key[0] == "B" else "ret"], answer

    def room(self) -> str:
        """A new room with a person in it."""
        values = {"access_token": self.token, "topic": "t", "owner_id": "ops", "room_mode": 1}
        room_id = self.call("A2", values)[1]["room_id"]
        self.sandbox.join(room_id, "Ada", user_id=f"ada-{room_id}")
        return room_id

    def prepared(self, key: str) -> dict[str, Any]:
        """All parameters of a call that succeeds, in a state of its own."""
        number = next(self._numbers)
        if key == "A1":
            return dict(self.key)
        if key == "A2":
            return {
                "access_token": self.token,
                "topic": "Größe & 100 % = ?",
                "owner_id": "ops",
                "room_mode": 1,
                "host_password": "a&b=c",
                "max_video": 4,
                "max_audio": 6,
                "attendee_max": 25,
                "room_extend_id": f"own-{number}",
                "room_type": 1,
                "start_time": 1700000000,
                "end_time": 1700003600,
            }
        room_id = self.room()
        if key[0] == "A":
            user = {"user_id": f"ada-{room_id}"} if key == "A7" else {}
            return {"access_token": self.token, "room_id": room_id, **user}
        device = {"roomId": room_id, "userId": f"cam-{number}", "userAddress": self.camera}
        full = {
            "accessToken": self.token,
            **device,
            "userName": "Door",
            "userData": "ü",
            "options": LOGIN,
        }
        if key == "B1":
            return full
        assert self.call("B1", full)[0] == 0
        return (
            {"access_token": self.token, **device}
            if key == "B2"
            else {"accessToken": self.token, "roomId": room_id}
        )


@pytest.fixture(scope="module", params=DIALECTS)
def deployment(request: pytest.FixtureRequest) -> Iterator[Deployment]:
    settings, body = DIALECTS[request.param]
    with Sandbox(seed=1, dialect=Dialect(**settings)) as sandbox:
        made = Deployment(sandbox, body)
        yield made
        made.by.close()


@pytest.fixture(params=ENDPOINTS)
def key(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_success_is_as_described(deployment, key):
    """The real answer of success is the described one, also with all its numbers quoted."""
    ret, answer = deployment.call(key, deployment.prepared(key))
    assert ret == 0
    assert deployment.by.says(deployment.id_of(key), answer, success=True)
    assert deployment.by.says(deployment.id_of(key), quoted(answer), success=True)


def test_exactly_the_required_parameters_are_required(deployment, key):
    """Without a required parameter description and sandbox refuse the call; any other may lack."""
    operation = deployment.id_of(key)
    for name, required in deployment.by.names(operation).items():
        values = deployment.prepared(key)
        assert deployment.by.fits(operation, values)
        del values[name]
        assert deployment.by.fits(operation, values) == (not required), name
        ret, answer = deployment.call(key, values)
        assert (ret != 0) == required, name
        assert deployment.by.says(operation, answer, success=not ret)


@pytest.mark.parametrize("sent", [None, "wrong"])
def test_a_refused_token_is_as_described(deployment, key, sent):
    """Without a token, or with a wrong one, the answer is the described error."""
    values = deployment.prepared(key)
    name = next((name for name in values if name.lower().endswith("token")), "digest")
    values[name] = sent or values[name] + "A"
    ret, answer = deployment.call(key, values)
    assert ret == (401 if key == "A1" else 602)
    assert deployment.by.says(deployment.id_of(key), answer, success=False)
    assert deployment.by.says(deployment.id_of(key), quoted(answer), success=False)


def test_every_code_is_an_error_as_described(deployment, key):
    """Each of its main codes, quoted or not, is a described error of an operation; of A3 and B3,
    which stand for all, any code is, known or not."""
    path = ENDPOINTS[key].path
    values = deployment.prepared(key)
    any_code = {code.ret for code in codes()} | {12345, -1}
    for ret in sorted((any_code if key in ("A3", "B3") else set(ENDPOINTS[key].codes)) - {0}):
        deployment.sandbox.fault(path, ret=ret, times=1)
        found, answer = deployment.call(key, values)
        assert found == ret
        for written in (answer, quoted(answer)):
            assert deployment.by.says(deployment.id_of(key), written, success=False)
            assert not deployment.by.says(deployment.id_of(key), written, success=True)


def test_an_answer_that_is_wrong_is_not_as_described(deployment, key):
    """No answer passes that lacks a field, has one of another type, or is not an object."""
    _, answer = deployment.call(key, deployment.prepared(key))
    operation = deployment.id_of(key)
    optional = {
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
    tried = 0
    for place, inside, name in fields(answer):
        for change in (lambda o, n: o.pop(n), lambda o, n: o.update({n: [[None]]})):
            broken = copy.deepcopy(answer)
            change(inside(broken), name)
            right = name in optional and name not in inside(broken)
            assert deployment.by.says(operation, broken) == right, f"{place}{name}"
            tried += 1
    assert tried >= 4
    for nonsense in ([answer], "0", None, {}, {**answer, deployment.code: None, "ret": "no"}):
        assert not deployment.by.says(operation, nonsense)


def test_a_room_without_caps_is_as_described(deployment):
    """A room that was made with the required parameters alone is described too."""
    ret, answer = deployment.call(
        "A3", {"access_token": deployment.token, "room_id": deployment.room()}
    )
    assert (ret, answer["attendee_max"]) == (0, "")


def fields(
    answer: dict[str, Any],
) -> Iterator[tuple[str, Callable[[dict[str, Any]], dict[str, Any]], str]]:
    """Each field of an answer: where it stands, how to get there, its name."""
    yield from (("", lambda whole: whole, name) for name in answer)
    for name, inner in answer.items():
        if isinstance(inner, dict):
            for place, inside, deeper in fields(inner):
                yield f"{name}.{place}", lambda whole, n=name, i=inside: i(whole[n]), deeper
        elif isinstance(inner, list) and inner:
            for place, inside, deeper in fields(inner[0]):
                yield f"{name}[0].{place}", lambda whole, n=name, i=inside: i(whole[n][0]), deeper


def quoted(value: Any) -> Any:
    """The answer with each number as text, as some deployments write them."""
    if isinstance(value, dict):
        return {name: quoted(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [quoted(inner) for inner in value]
    return str(value) if isinstance(value, int) else value
