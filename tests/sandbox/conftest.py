"""A sandbox per test, and a caller who knows nothing but the interface's text."""

import base64
import hmac
import json
from contextlib import ExitStack
from functools import cached_property

import pytest
import requests

from confkit.dialect import Dialect
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox
from tests.scripted import A1


class Caller:
    """Talks plain HTTP to both interfaces."""

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.http = requests.Session()
        self.http.trust_env = False

    def sign(self, message):
        """The signature as section 5 describes it, made without confkit."""
        key, name = self.sandbox.secret_key.encode(), self.sandbox.dialect.hash
        mac = hmac.new(key, message.encode(), name).hexdigest()
        return base64.b64encode(mac.encode()).decode()

    def login(self):
        key = self.sandbox.access_key
        return self.raw(A1, {"access_key": key, "digest": self.sign(key)}).json()

    @cached_property
    def token(self):
        response = self.login()
        return self.sign(f"{response['random']}:{response['key']}")

    def raw(self, path, query=None, port="", method="GET", **options):
        """The response, by default from the port that serves this path."""
        in_b = port == "B" or (not port and path.startswith("/avd"))
        base = self.sandbox.outgoing_url if in_b else self.sandbox.base_url
        return self.http.request(method, base + path, params=query, timeout=20, **options)

    def call(self, key, **parameters):
        """The response to an operation, called by GET with a good token."""
        if isinstance(parameters.get("options"), dict):
            parameters["options"] = json.dumps(parameters["options"])
        operation = OPERATIONS[key]
        return self.raw(operation.path, {operation.token: self.token, **parameters}).json()

    def code(self, key, **parameters):
        return self.call(key, **parameters)["ret"]

    def create(self, **parameters):
        return self.call("A2", **{"topic": "Weekly", "owner_id": "o", "room_mode": 1, **parameters})

    def room(self, **parameters):
        return self.create(**parameters)["room_id"]

    def add(self, room_id, address, user_id="cam", **parameters):
        device = {"roomId": room_id, "userId": user_id, "userName": "Door", **parameters}
        return self.code("B1", userAddress=address, **device)

    def status(self, room_id):
        return self.call("A3", room_id=room_id)["room_status"]

    def users(self, room_id):
        return [user["user_id"] for user in self.call("A6", room_id=room_id)["user_list"]]

    def devices(self, room_id=""):
        return [item["userId"] for item in self.call("B3", roomId=room_id)["data"]["items"]]


@pytest.fixture
def make():
    """Makes callers, each with a sandbox of its own with these settings."""
    with ExitStack() as running:

        def start(dialect=None, **settings):
            sandbox = Sandbox(dialect=Dialect(**(dialect or {})), **settings)
            caller = Caller(running.enter_context(sandbox))
            running.callback(caller.http.close)
            return caller

        yield start


@pytest.fixture
def caller(make):
    return make()


@pytest.fixture
def sandbox(caller):
    return caller.sandbox
