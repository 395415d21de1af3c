"""A sandbox per test, and a stranger who knows nothing but the interface's text."""

import base64
import hashlib
import hmac
import json
import time
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


def until(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    """Waits for a condition that comes by itself."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


class Stranger:
    """Talks plain HTTP to both interfaces."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.http = requests.Session()
        self.http.trust_env = False
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
        self, path: str, query: Any = None, port: str = "", method: str = "GET", **more: Any
    ) -> requests.Response:
        """What comes back; unless given, the port is the one that has this path."""
        port = port or ("B" if path.startswith("/avd") else "A")
        base = self.sandbox.base_url if port == "A" else self.sandbox.outgoing_url
        return self.http.request(method, base + path, params=query, timeout=20, **more)

    def ret(self, path: str, *given: Any, **more: Any) -> int:
        """The result code alone."""
        code: int = self.raw(path, *given, **more).json()["ret"]
        return code

    def ask(self, name: str, **parameters: Any) -> dict[str, Any]:
        """An answer, called by GET with a good token."""
        if isinstance(parameters.get("options"), dict):
            parameters["options"] = json.dumps(parameters["options"])
        token = {TOKEN_OF_B.get(name, "access_token"): self.token}
        return self.raw({**A, **B}[name], {**token, **parameters}).json()

    def code(self, name: str, **parameters: Any) -> int:
        """The result code of an answer."""
        return self.ask(name, **parameters)["ret"]

    def create(self, **parameters: Any) -> dict[str, Any]:
        """A2's answer; what is not given is usual, None is left out."""
        given = {"topic": "Weekly", "owner_id": "ops", "room_mode": 1, **parameters}
        return self.ask("create", **given)

    def room(self, **parameters: Any) -> str:
        """The number of a new room."""
        answer = self.create(**parameters)
        assert answer["ret"] == 0
        return answer["room_id"]

    def status(self, room_id: str) -> int:
        """A room's status."""
        return self.ask("get", room_id=room_id)["room_status"]

    def bring(self, room_id: str, address: str, user_id: str = "cam", **more: Any) -> int:
        """The result code of an import."""
        given = {"roomId": room_id, "userId": user_id, "userName": "Door", **more}
        return self.code("import", userAddress=address, **given)

    def users(self, room_id: str) -> list[str]:
        """The user ids in a room."""
        return [user["user_id"] for user in self.ask("info", room_id=room_id)["user_list"]]

    def devices(self, room_id: str = "") -> list[str]:
        """The user ids of a room's devices, or of all."""
        return [item["userId"] for item in self.ask("list", roomId=room_id)["data"]["items"]]


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
