"""Services that know all marked secrets: one that is well, and those that say back what they hear.

A `World` is a service with a client of it. In `sandbox` it is the real one, with marked keys and a
camera in a room; the others are scripted, and quote a request in every place of an answer.
"""

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox
from tests.ports import quiet_port
from tests.scripted import AUTHENTICATE, Reply, Scripted, scripted
from tests.secrets.marks import Marks

Asked = Mapping[str, str]
SMALL = {"size": (128, 96), "fps": 5}
ACCESS_KEY = "marked access"
ROOT = Path(__file__).resolve().parent.parent.parent
NOT_OURS = {"profiles.toml", "notes.bin", "rooms.txt", "cameras.csv"}  # which have to hold secrets


@dataclass
class World:
    """A service, a client of it, and what a drive needs: a room, a device, a folder of its own."""

    name: str
    marks: Marks
    client: ck.Client
    folder: Path
    chance: random.Random
    address: str
    ids: Sequence[str] = ("1",)
    sandbox: Sandbox | None = None  # where all is well: what is asked rightly works
    service: Scripted | None = None

    def __getitem__(self, role: str) -> str:
        return self.marks[role]

    @property
    def login(self) -> str:
        """The address of a camera that nobody runs, with the marked password in it."""
        return self.marks.login()

    @property
    def room_id(self) -> str:
        """The room that most is done with."""
        return self.ids[0]

    @property
    def keys(self) -> dict[str, Any]:
        """What a client of this service is made of."""
        names = ("base_url", "outgoing_url", "access_key", "secret_key")
        return {**{name: getattr(self.client, name) for name in names}, "timeout": (1.0, 3.0)}

    @property
    def with_login(self) -> str:
        """The device's address with the marked password in it."""
        return self.marks.login(self.address)

    @property
    def broken(self) -> str:
        """An address that is none, with the marked password in it."""
        return f"rtsp:/admin:{self['password in an address']}@192.0.2.7/x"

    @property
    def device(self) -> ck.Device:
        """A device as B3 lists it, with a login in each place that can hold one."""
        options = {"login_name": "admin", "login_password": self["login_password"]}
        options |= {"assist_address": self.marks.login(encoded=False)}
        return ck.Device(self.room_id, "door", "Front door", self.with_login, self.login, options)

    def shown(self, text: str, read: str = "raw") -> list[str]:
        """The secrets that stand in a text, what this client has made of them among them, however
        it is read."""
        self.marks.learn(self.client)
        return self.marks.found(text)

    def file(self, name: str, text: str) -> Path:
        """A file of its own."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return path

    def written(self) -> dict[str, str]:
        """The files that were written, but for those that have to hold secrets: their text by their
        path."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        kept = [path for path in files if path.name not in NOT_OURS]
        return {str(path): path.read_bytes().decode("latin-1") for path in kept}


def good(marks: Marks) -> dict[str, Any]:
    """Answers of a service in which all is well, with every secret that an answer can hold."""
    options = {"login_password": marks["login_password"], "assist_address": marks.login()}
    item = {"roomId": "1", "userId": "door", "userName": "Front door", "options": options}
    item |= dict.fromkeys(["userAddress", "userData"], marks.login())
    room = {"room_id": "1", "topic": "Weekly sync", "host_password": marks["host_password"]}
    members: dict[str, dict[str, Any]] = {
        "A1": {"random": marks["random"], "key": marks["key"]},
        "A5": {"addr": "127.0.0.1:9"},
        "A6": {"user_list": [{"user_name": "Ada", "user_id": "u1"}]},
        "B3": {"data": {"total": 1, "items": [item]}},
    }
    return {one.path: {"ret": 0, **members.get(key, room)} for key, one in OPERATIONS.items()}


def echo(query: Asked) -> str:
    """A request said back in each way in which a program would write it."""
    return f"{dict(query)} {json.dumps(query)} {urlencode(query)} {ck.wire.encode(query)}"


def code(query: Asked) -> dict[str, Any]:
    """A code of a table, with the request in its text."""
    return {"ret": 407, "msg": f"bad parameter: {echo(query)}", "err": echo(query)}


def _sent(text: str) -> Reply:
    return Reply(raw=lambda connection: connection.sendall(text.encode()))


def _head(query: Asked) -> Reply:
    """The request in the status line's reason, in the headers and in the place of a redirect."""
    back = ck.wire.encode(query)
    return _sent(
        f"HTTP/1.1 500 bad /p?{back}\r\nX-Asked: {back}\r\nLocation: /p?{back}\r\n"
        f'WWW-Authenticate: Basic realm="{back}"\r\nContent-Type: text/html; q="{back}"\r\n'
        "Content-Length: 2\r\nConnection: close\r\n\r\nno"
    )


def _cut(marks: Marks, query: Asked) -> Reply:
    """JSON that ends within a secret."""
    inner = {"options": {"login_password": marks["login_password"]}}
    kept = ("random", "key") if "digest" in query else ("host_password",)
    text = json.dumps({"ret": 0, "data": inner, **{name: marks[name] for name in kept}})
    return Reply(text[:-8], length=len(text.encode()))


def _redirect(marks: Marks, query: Asked) -> Reply:
    login = quote(marks["password of a redirect"], safe="")
    where = f"http://admin:{login}@elsewhere.invalid/?{ck.wire.encode(query)}"
    return Reply(f'<a href="{where}">moved</a>', status=302, headers={"Location": where})


def _other_types(marks: Marks, query: Asked) -> dict[str, Any]:
    asked, password = dict(query), {"x": marks["host_password"]}
    lists = {"room_id": [asked], "user_list": {"x": asked}, "data": [asked]}
    more = {"host_password": password, "addr": [marks.login()], "msg": echo(query)}
    return {"ret": 0, **lists, **more}


# How a service can answer whatever is asked: each says back what it heard, or what it knows.
HOSTILE: dict[str, Callable[[Marks, Asked], Any] | None] = {
    "good": None,
    "code": lambda marks, query: code(query),
    "an unknown code": lambda marks, query: {"ret": echo(query), "msg": echo(query)},
    "wrong token": lambda marks, query: {"ret": 602, "msg": echo(query)},
    "page": lambda marks, query: Reply(f"<html>{echo(query)}", status=500, kind="text/html"),
    "head": lambda marks, query: _head(query),
    "no HTTP": lambda marks, query: _sent(f"{echo(query)}\r\n\r\n"),
    "redirect": _redirect,
    "cut": _cut,
    "dropped": lambda marks, query: Reply(drop=True),
    "other types": _other_types,
}
WORLDS = ("sandbox", *HOSTILE)


@contextmanager
def world(name: str, folder: Path, chance: random.Random) -> Iterator[World]:
    """The world of this name; all that belongs to it ends with it."""
    marks = Marks(chance)
    given = (ACCESS_KEY, marks["secret_key"])
    if name != "sandbox":
        script = good(marks)
        if answer := HOSTILE[name]:
            kept = set() if name in ("cut", "page") else {AUTHENTICATE}  # its login, too
            script |= dict.fromkeys({*script} - kept, lambda query: answer(marks, query))
        options = {"timeout": (1.0, 3.0), "sleep": lambda _: None}
        with (
            scripted(script) as service,
            ck.Client(*[service.base_url] * 2, *given, **options) as client,
        ):
            address = f"rtsp://127.0.0.1:{quiet_port()}/a"
            yield World(name, marks, client, folder, chance, address, service=service)
        return
    seed = chance.randrange(9999)
    with (
        Sandbox(seed=seed, access_key=ACCESS_KEY, secret_key=given[1], explain=True) as sandbox,
        sandbox.connect(timeout=(2.0, 10.0)) as client,
    ):
        room_id = ck.create_room(client, "Weekly sync", "ops", host_password=marks["host_password"])
        login = {"login_name": "admin", "login_password": marks["password in an address"]}
        address = sandbox.camera(**login, **SMALL)
        yield World(name, marks, client, folder, chance, address, (room_id,), sandbox)


def environment(world: World, **more: str) -> dict[str, str]:
    """What a program needs to find this service: the one place where its key has to stand."""
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("CONFKIT_")},
        "CONFKIT_BASE_URL": world.client.base_url,
        "CONFKIT_ACCESS_KEY": ACCESS_KEY,
        "CONFKIT_OUTGOING_URL": world.client.outgoing_url,
        "CONFKIT_TIMEOUT": "2,4",
        "CONFKIT_SECRET_KEY": world["secret_key"],
        "CONFKIT_CAMERA_PASSWORD": world["camera variable"],
        "PYTHONPATH": str(ROOT),
        "IPYTHONDIR": str(world.folder / "ipython"),
        "XDG_CONFIG_HOME": str(world.folder),
        "PYTHONFAULTHANDLER": "1",
        "COLUMNS": "160",
        **more,
    }
