"""A sandbox per test, and a caller who knows nothing but the interface's text."""

import base64
import hmac
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import requests

from confkit.dialect import Dialect
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox


def wait_until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    """Wait for a condition that becomes true by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never became true"
        time.sleep(0.02)


def path(key: str) -> str:
    """The path of an operation."""
    return OPERATIONS[key].path


class Caller:
    """Talks plain HTTP to both interfaces."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.http = requests.Session()
        self.http.trust_env = False
        self._token: str | None = None

    def sign(self, message: str) -> str:
        """The signature as section 5 describes it, made without confkit."""
        key, name = self.sandbox.secret_key.encode(), self.sandbox.dialect.hash
        mac = hmac.new(key, message.encode(), name).hexdigest()
        return base64.b64encode(mac.encode()).decode()

    def login(self) -> dict[str, Any]:
        """A1's response."""
        key = self.sandbox.access_key
        return self.raw(path("A1"), {"access_key": key, "digest": self.sign(key)}).json()

    @property
    def token(self) -> str:
        if self._token is None:
            response = self.login()
            self._token = self.sign(f"{response['random']}:{response['key']}")
        return self._token

    def raw(
        self, path: str, query: Any = None, port: str = "", method: str = "GET", **options: Any
    ) -> requests.Response:
        """The response, by default from the port that serves this path."""
        in_b = port == "B" or (not port and path.startswith("/avd"))
        base = self.sandbox.outgoing_url if in_b else self.sandbox.base_url
        return self.http.request(method, base + path, params=query, timeout=20, **options)

    def ret(self, path: str, *query: Any, **options: Any) -> int:
        """The result code of a response."""
        code: int = self.raw(path, *query, **options).json()["ret"]
        return code

    def call(self, key: str, **parameters: Any) -> dict[str, Any]:
        """The response to an operation, called by GET with a good token."""
        if isinstance(parameters.get("options"), dict):
            parameters["options"] = json.dumps(parameters["options"])
        return self.raw(path(key), {OPERATIONS[key].token: self.token, **parameters}).json()

    def code(self, key: str, **parameters: Any) -> int:
        """The result code of an operation."""
        return self.call(key, **parameters)["ret"]

    def create(self, **parameters: Any) -> dict[str, Any]:
        """A2's response."""
        return self.call("A2", **{"topic": "Weekly", "owner_id": "o", "room_mode": 1, **parameters})

    def room(self, **parameters: Any) -> str:
        """The number of a new room."""
        return self.create(**parameters)["room_id"]

    def add(self, room_id: str, address: str, user_id: str = "cam", **parameters: Any) -> int:
        """The result code of an import."""
        device = {"roomId": room_id, "userId": user_id, "userName": "Door", **parameters}
        return self.code("B1", userAddress=address, **device)

    def status(self, room_id: str) -> int:
        """A room's status."""
        return self.call("A3", room_id=room_id)["room_status"]

    def users(self, room_id: str) -> list[str]:
        """The IDs of a room's users."""
        return [user["user_id"] for user in self.call("A6", room_id=room_id)["user_list"]]

    def devices(self, room_id: str = "") -> list[str]:
        """The user IDs of a room's devices, or of all."""
        return [item["userId"] for item in self.call("B3", roomId=room_id)["data"]["items"]]


@pytest.fixture
def make() -> Iterator[Callable[..., Caller]]:
    """Makes callers, each with a sandbox of its own with these settings."""
    with ExitStack() as running:

        def start(dialect: dict[str, Any] | None = None, **settings: Any) -> Caller:
            sandbox = Sandbox(dialect=Dialect(**(dialect or {})), **settings)
            caller = Caller(running.enter_context(sandbox))
            running.callback(caller.http.close)
            return caller

        yield start


@pytest.fixture
def caller(make: Callable[..., Caller]) -> Caller:
    """A caller of a sandbox in the usual dialect."""
    return make()


@pytest.fixture
def sandbox(caller: Caller) -> Sandbox:
    """The caller's sandbox."""
    return caller.sandbox
