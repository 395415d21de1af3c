"""A sandbox per test, and a stranger who knows nothing but the interface's text."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from confkit.dialect import Dialect
from confkit.sandbox import Sandbox

A = {
    "valid": "/rtc/auth/valid",
    "create": "/rtc/room/create",
    "get": "/rtc/room/get",
    "del": "/rtc/room/del",
    "mcu": "/sdk/get_mcu",
    "info": "/rtc/room/get_room_info",
    "force": "/rtc/force_offline_mcu",
}
B = {
    "import": "/avd/api/outgoing/createOutgoingUser",
    "remove": "/avd/api/outgoing/destroyOutgoingUser",
    "list": "/avd/api/outgoing/getOutgoingUsers",
}
TOKEN_OF_B = {"import": "accessToken", "remove": "access_token", "list": "accessToken"}


def signature(secret: str, message: str, name: str = "sha1", raw: bool = False) -> str:
    """The signature as section 5 describes it, made without confkit."""
    mac = hmac.new(secret.encode(), message.encode(), getattr(hashlib, name))
    return base64.b64encode(mac.digest() if raw else mac.hexdigest().encode()).decode()


class Stranger:
    """Talks plain HTTP to both interfaces."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.http = requests.Session()
        self.http.trust_env = False
        self.patience = 20.0  # seconds
        self._token: str | None = None

    def sign(self, message: str) -> str:
        dialect = self.sandbox.dialect
        return signature(self.sandbox.secret_key, message, dialect.hash, dialect.signature == "raw")

    def login(self) -> dict[str, Any]:
        key = self.sandbox.access_key
        return self.raw(A["valid"], {"access_key": key, "digest": self.sign(key)}).json()

    def fresh_token(self) -> str:
        answer = self.login()
        return self.sign(f"{answer['random']}:{answer['key']}")

    @property
    def token(self) -> str:
        if self._token is None:
            self._token = self.fresh_token()
        return self._token

    def raw(
        self, path: str, query: Any = None, port: str = "A", method: str = "GET", **more: Any
    ) -> requests.Response:
        base = self.sandbox.base_url if port == "A" else self.sandbox.outgoing_url
        return self.http.request(method, base + path, params=query, timeout=self.patience, **more)

    def a(self, name: str, **parameters: Any) -> dict[str, Any]:
        """An answer of interface A, called with a good token."""
        return self.raw(A[name], {"access_token": self.token, **parameters}).json()

    def b(self, name: str, **parameters: Any) -> dict[str, Any]:
        """An answer of interface B, called by GET with a good token."""
        if isinstance(parameters.get("options"), dict):
            parameters["options"] = json.dumps(parameters["options"])
        query = {TOKEN_OF_B[name]: self.token, **parameters}
        return self.raw(B[name], query, "B").json()

    def code(self, name: str, **parameters: Any) -> int:
        """The result code of an operation of A or B."""
        return (self.a if name in A else self.b)(name, **parameters)["ret"]

    def create(self, **parameters: Any) -> dict[str, Any]:
        """A2's answer; what is not given is usual, None is left out."""
        given = {"topic": "Weekly", "owner_id": "ops", "room_mode": 1, **parameters}
        return self.a("create", **given)

    def room(self, **parameters: Any) -> str:
        """The number of a new room."""
        answer = self.create(**parameters)
        assert answer["ret"] == 0
        return answer["room_id"]

    def status(self, room_id: str) -> int:
        """A room's status."""
        return self.a("get", room_id=room_id)["room_status"]

    def bring(self, room_id: str, address: str, user_id: str = "cam", **more: Any) -> int:
        """The result code of an import."""
        given = {"roomId": room_id, "userId": user_id, "userName": "Door", **more}
        return self.code("import", userAddress=address, **given)

    def users(self, room_id: str) -> list[str]:
        """The user ids in a room."""
        return [user["user_id"] for user in self.a("info", room_id=room_id)["user_list"]]

    def devices(self, room_id: str = "") -> list[str]:
        """The user ids of a room's devices, or of all."""
        return [item["userId"] for item in self.b("list", roomId=room_id)["data"]["items"]]


Make = Callable[..., Stranger]


@pytest.fixture
def make() -> Iterator[Make]:
    """Makes strangers, each with a sandbox of its own with the given settings."""
    made: list[Stranger] = []

    def start(dialect: dict[str, Any] | None = None, **settings: Any) -> Stranger:
        sandbox = Sandbox(dialect=Dialect(**(dialect or {})), **settings).start()
        made.append(Stranger(sandbox))
        return made[-1]

    yield start
    for stranger in made:
        stranger.http.close()
        stranger.sandbox.close()


@pytest.fixture
def stranger(make: Make) -> Stranger:
    """A stranger before a sandbox in the usual dialect."""
    return make()


@pytest.fixture
def sandbox(stranger: Stranger) -> Sandbox:
    """The stranger's sandbox."""
    return stranger.sandbox
