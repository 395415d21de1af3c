"""Services that know all marked secrets: one that is well, and those that say back what they hear.

A `World` is a service with a client of it. In `sandbox` it is the real one, with marked keys and a
camera in a room; the others are scripted, and quote a request in every place of an answer.
"""

import contextlib
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.sandbox import Sandbox
from tests.ports import quiet_port
from tests.scripted import Reply, scripted
from tests.secrets.marks import Marks, marked

SMALL = {"size": (128, 96), "fps": 5}
A1 = "/rtc/auth/valid"


@dataclass
class World:
    """A service, a client of it, and what a drive needs: a room, a device, a folder of its own."""

    name: str
    marks: Marks
    client: ck.Client
    folder: Path
    chance: random.Random
    room_id: str = "1"
    address: str = ""
    sandbox: Sandbox | None = None
    script: dict[str, Any] = field(default_factory=dict)  # of a scripted service, path by path
    heard: Callable[[], int] = int  # how many requests have reached a scripted service
    ending: ExitStack = field(default_factory=ExitStack)

    @property
    def well(self) -> bool:
        """Whether what is asked rightly works here."""
        return self.sandbox is not None

    @property
    def keys(self) -> dict[str, Any]:
        """What a client of this service is made of."""
        client = self.client
        return {
            "base_url": client.base_url,
            "outgoing_url": client.outgoing_url,
            "access_key": client.access_key,
            "secret_key": str(client.secret_key),
            "timeout": (1.0, 3.0),
        }

    @property
    def with_login(self) -> str:
        """The device's address with the marked password in it."""
        password = quote(self.marks["password in an address"], safe="")
        return self.address.replace("//", f"//admin:{password}@", 1)

    @property
    def broken(self) -> str:
        """An address that is none, with the marked password in it."""
        return f"rtsp:/admin:{self.marks['password in an address']}@192.0.2.7/x"

    def all_marks(self) -> Marks:
        """The marks, with the digest and the token that this client made of them."""
        return self.marks.with_those_of(self.client)

    def file(self, name: str, text: str = "") -> Path:
        """A file of its own."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    @cached_property
    def device(self) -> ck.Device:
        """A device as B3 lists it, with a login in each place that can hold one."""
        return ck.Device(
            self.room_id,
            "door",
            "Front door",
            self.with_login,
            self.marks.login(),
            {
                "login_name": "admin",
                "login_password": self.marks["login_password"],
                "assist_address": self.marks.login(encoded=False),
            },
        )


def good(marks: Marks) -> dict[str, Any]:
    """Answers of a service in which all is well, with every secret that an answer can hold."""
    item = {
        "roomId": "1",
        "userId": "door",
        "userName": "Front door",
        "userAddress": marks.login(),
        "userData": marks.login(),
        "options": {
            "login_name": "admin",
            "login_password": marks["login_password"],
            "assist_address": marks.login(),
        },
    }
    members: dict[str, Any] = {
        "A1": {"random": marks["random"], "key": marks["key"]},
        "A2": {"room_id": "1"},
        "A3": {
            "id": 1,
            "room_id": "1",
            "topic": "Weekly sync",
            "room_status": 1,
            "owner_id": "ops",
            "host_password": marks["host_password"],
            "attendee_max": "9",
            "room_mode": 1,
        },
        "A4": {"room_id": "1"},
        "A5": {"addr": "127.0.0.1:9"},
        "A6": {"user_list": [{"user_name": "Ada", "user_id": "u1"}]},
        "A7": {"msg": "success"},
        "B1": {"data": {"roomId": "1", "userId": "door"}},
        "B2": {"data": {"roomId": "1", "userId": "door"}},
        "B3": {"data": {"total": 1, "items": [item]}},
    }
    return {ENDPOINTS[key].path: {"ret": 0, **found} for key, found in members.items()}


def echo(query: Mapping[str, str]) -> str:
    """A request said back in each way in which a program would write it."""
    return f"{dict(query)} {json.dumps(query)} {urlencode(query)} {ck.wire.encode(query)}"


def _raw(query: Mapping[str, str]) -> Reply:
    """The request in the status line's reason, in the headers and in the place of a redirect."""
    back = ck.wire.encode(query)
    head = (
        f"HTTP/1.1 500 bad /p?{back}\r\nX-Asked: {back}\r\nLocation: /p?{back}\r\n"
        f'WWW-Authenticate: Basic realm="{back}"\r\nContent-Type: text/html; q="{back}"\r\n'
        "Content-Length: 2\r\nConnection: close\r\n\r\nno"
    )
    return Reply(raw=lambda connection: connection.sendall(head.encode()))


def _garbage(query: Mapping[str, str]) -> Reply:
    return Reply(raw=lambda connection: connection.sendall(f"{echo(query)}\r\n\r\n".encode()))


def _cut(marks: Marks) -> Callable[[Mapping[str, str]], Reply]:
    """JSON that ends within a secret."""
    parts = {"ret": 0, "random": marks["random"], "key": marks["key"]}
    members = {
        "ret": 0,
        "data": {"options": {"login_password": marks["login_password"]}},
        "host_password": marks["host_password"],
    }

    def cut(query: Mapping[str, str]) -> Reply:
        text = json.dumps(parts if "digest" in query else members)
        return Reply(text[:-8], length=len(text.encode()))

    return cut


def _redirect(marks: Marks) -> Callable[[Mapping[str, str]], Reply]:
    login = quote(marks["password of a redirect"], safe="")
    return lambda query: Reply(
        f'<a href="http://admin:{login}@elsewhere/?{ck.wire.encode(query)}">moved</a>',
        status=302,
        headers={"Location": f"http://admin:{login}@elsewhere.invalid/?{ck.wire.encode(query)}"},
    )


def _code(query: Mapping[str, str]) -> dict[str, Any]:
    return {"ret": 407, "msg": f"bad parameter: {echo(query)}", "err": echo(query)}


# How a service can answer whatever is asked: each says back what it heard, or what it knows.
HOSTILE: dict[str, Callable[[Marks], Any]] = {
    "good": lambda marks: None,
    "code": lambda marks: _code,
    "an unknown code": lambda marks: lambda query: {"ret": echo(query), "msg": echo(query)},
    "page": lambda marks: lambda query: Reply(f"<html>{echo(query)}", status=500, kind="text/html"),
    "head": lambda marks: _raw,
    "no HTTP": lambda marks: _garbage,
    "redirect": _redirect,
    "cut": _cut,
    "dropped": lambda marks: Reply(drop=True),
    "other types": lambda marks: (
        lambda query: {
            "ret": 0,
            "room_id": [dict(query)],
            "user_list": {"x": dict(query)},
            "data": [dict(query)],
            "host_password": {"x": marks["host_password"]},
            "addr": [marks.login()],
            "msg": echo(query),
        }
    ),
    "wrong token": lambda marks: lambda query: {"ret": 602, "msg": echo(query)},
}
WORLDS = ("sandbox", *HOSTILE)


@contextlib.contextmanager
def world(name: str, folder: Path, chance: random.Random) -> Iterator[World]:
    """The world of this name; all that belongs to it ends with it."""
    marks = marked(chance)
    with ExitStack() as ending:
        if name == "sandbox":
            made = _well(marks, folder, chance, ending)
        else:
            script = good(marks)
            answer = HOSTILE[name](marks)
            if answer is not None:
                kept = {A1} if name != "cut" else set()
                script.update(dict.fromkeys(set(script) - kept, answer))
            service = ending.enter_context(scripted(script))
            client = ck.Client(
                service.base_url,
                service.base_url,
                "marked access",
                marks["secret_key"],
                timeout=(1.0, 3.0),
                sleep=lambda _: None,
            )
            ending.callback(client.close)
            made = World(
                name,
                marks,
                client,
                folder,
                chance,
                address=f"rtsp://127.0.0.1:{quiet_port()}/a",
                script=service.script,
                heard=lambda: len(service.requests),
            )
        made.ending = ending
        yield made


def _well(marks: Marks, folder: Path, chance: random.Random, ending: ExitStack) -> World:
    sandbox = ending.enter_context(
        Sandbox(
            seed=chance.randrange(9999),
            access_key="marked access",
            secret_key=marks["secret_key"],
            explain=True,
        )
    )
    client = ending.enter_context(sandbox.connect(timeout=(2.0, 10.0)))
    room_id = ck.create_room(client, "Weekly sync", "ops", host_password=marks["host_password"])
    address = sandbox.camera(
        login_name="admin", login_password=marks["password in an address"], **SMALL
    )
    return World("sandbox", marks, client, folder, chance, room_id, address, sandbox)
