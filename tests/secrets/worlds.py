"""Services that know all marked secrets: one that is well, and those that say back what they hear.

In `sandbox` it is the real one, with a camera in a room; the others are scripted, and quote a
request in every place of an answer.
"""

import json
import random
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import confkit as ck
from confkit.operations import OPERATIONS
from confkit.sandbox import Sandbox
from tests.commands import known
from tests.ports import quiet_port
from tests.scripted import AUTHENTICATE, Reply, scripted
from tests.secrets.marks import Marks

NOT_OURS = {"rooms.txt", "cameras.csv", "profiles.toml"}  # files which have to hold secrets


@dataclass
class World:
    """A service, a client of it, and what a drive needs: a room, a camera, a folder of its own."""

    name: str
    marks: Marks
    client: ck.Client
    folder: Path
    chance: random.Random
    address: str
    room_id: str = "1"
    sandbox: Any = None  # where all is well: what is asked rightly works
    service: Any = None

    def __post_init__(self):
        logins = self.login, _, self.in_query = self.marks.logins()  # of a camera nobody runs
        self.with_login = self.marks.logins(self.address)[0]
        self.broken = self.with_login.replace("rtsp://", "rtsp:/")
        self.dead = (self.broken, *logins)

    def __getitem__(self, role):
        return self.marks[role]

    def new(self):
        """A name that nothing has."""
        return f"x{self.chance.randrange(10**12)}"

    def room(self):
        """A room of its own, with a password; the room, where no other could be made."""
        if self.sandbox is None:
            return self.room_id
        given = {"host_password": self["host_password"]}
        return ck.create_room(self.client, "Weekly sync", "ops", **given)

    def imported(self, room_id=None, user_id=None, **more):
        """A device that is imported with each secret that an import can hold."""
        given = (room_id or self.room(), user_id or self.new(), "Front door", self.address)
        login = {"login_name": "admin", "login_password": self["password in an address"]}
        held = {"user_data": self.login, "options": {"assist_address": self.in_query}}
        return ck.import_device(self.client, *given, **{**held, **login, **more})

    def shown(self, text):
        """The secrets in a text; what the client made of them are some, too."""
        self.marks.learn(self.client)
        return self.marks.found(text)

    def file(self, name, text):
        """The path of a file of its own."""
        (path := self.folder / name).write_text(text, "utf-8")
        return str(path)

    def written(self):
        """The text of each file that was written, but for those that have to hold secrets."""
        for one in self.folder.rglob("*"):
            if one.is_file() and one.name not in NOT_OURS:
                yield str(one), one.read_text("latin-1")


def good(marks):
    """Answers of a service in which all is well, with every secret that an answer can hold."""
    login, path, query = marks.logins()
    options = {"login_password": marks["login_password"], "assist_address": query}
    item = {"roomId": "1", "userId": "door", "userName": "Front door", "options": options}
    item |= {"userAddress": login, "userData": path}
    room = {"room_id": "1", "topic": "Weekly sync", "host_password": marks["host_password"]}
    members = {
        "A1": {"random": marks["random"], "key": marks["key"]},
        "A5": {"addr": "127.0.0.1:9"},
        "A6": {"user_list": [{"user_name": "Ada", "user_id": "u1"}]},
        "B3": {"data": {"total": 1, "items": [item]}},
    }
    return {one.path: {"ret": 0, **members.get(key, room)} for key, one in OPERATIONS.items()}


def echo(query):
    """A request said back in each way in which a program would write it."""
    return f"{dict(query)} {json.dumps(query)} {urlencode(query)} {ck.wire.encode(query)}"


def code(marks, query):
    """A code of a table, with the request in its text."""
    return {"ret": 407, "msg": f"bad parameter: {echo(query)}", "err": echo(query)}


def head(marks, query):
    """The request in the status line's reason, in the headers and in the place of a redirect."""
    back, login = ck.wire.encode(query), quote(marks["password of a redirect"], safe="")
    text = (
        f"HTTP/1.1 302 bad /p?{back}\r\nX-Asked: {back}\r\n"
        f"Location: http://admin:{login}@elsewhere.invalid/?{back}\r\n"
        f'WWW-Authenticate: Basic realm="{back}"\r\nContent-Type: text/html; q="{back}"\r\n'
        "Content-Length: 2\r\nConnection: close\r\nX Powered: by\r\n\r\nno"
    )
    return Reply(raw=lambda connection: connection.sendall(text.encode()))


def other_types(marks, query):
    """Lists and objects in place of texts."""
    lists = {"room_id": [query], "user_list": {"x": query}, "data": [query]}
    return {"ret": 0, **lists, "host_password": [marks["host_password"]], "addr": marks.logins()}


# How a service can answer whatever is asked: each says back what it heard, or what it knows.
HOSTILE = {
    "good": None,
    "code": code,
    "page": lambda marks, query: Reply(f"<html>{echo(query)}", status=500, kind="text/html"),
    "head": head,
    "other types": other_types,
}
WORLDS = ("sandbox", *HOSTILE)


@contextmanager
def world(name, folder, chance):
    """The world of this name; all that belongs to it ends with it."""
    marks = Marks(chance)
    keys = {"access_key": "marked access", "secret_key": marks["secret_key"]}
    if name == "sandbox":
        login = {"login_name": "admin", "login_password": marks["password in an address"]}
        with (
            Sandbox(seed=1, explain=True, **keys) as sandbox,
            sandbox.connect(timeout=(2.0, 10.0)) as client,
        ):
            address = sandbox.camera(**login, size=(128, 96), fps=5)
            made = World(name, marks, client, folder, chance, address, sandbox=sandbox)
            made.room_id = made.room()
            made.imported(made.room_id, "door")
            yield made
        return
    script = good(marks)
    if answer := HOSTILE[name]:
        hostile = dict.fromkeys(script, lambda query: answer(marks, query))
        # The first logins, too; but if there were none, nothing else would be asked.
        script = {**hostile, AUTHENTICATE: [hostile[AUTHENTICATE]] * 3 + [script[AUTHENTICATE]]}
    options = {"timeout": (1.0, 3.0), "sleep": lambda _: None}
    with (
        scripted(script) as service,
        ck.Client(service.base_url, service.base_url, **keys, **options) as client,
    ):
        address = f"rtsp://127.0.0.1:{quiet_port()}/a"
        yield World(name, marks, client, folder, chance, address, service=service)


def environment(world):
    """What a program needs to find this service: the one place where its key has to stand."""
    passwords = {"CONFKIT_CAMERA_PASSWORD": world["camera variable"]}
    return known(world.client) | {"CONFKIT_SECRET_KEY": world["secret_key"], **passwords}
