"""No function, panel, runbook, command or sandbox shows a secret, whatever a service answers."""

import base64
import html
import json
import random
from urllib.parse import quote

import pytest

import confkit as ck
from confkit import panels
from confkit.operations import B1
from confkit.panels.layout import Panel
from tests.secrets import commanded, drives
from tests.secrets.given import driven
from tests.secrets.marks import Marks
from tests.secrets.names import commands
from tests.secrets.surfaces import everything_of
from tests.secrets.worlds import HOSTILE, world

MORE = {**drives.PANELS, **drives.RUNBOOK, **drives.SANDBOX, **drives.COURSE}
# What is asked of every hostile service: a read, a change, an import, a list and many at once.
FEW = {name: drives.CONFKIT[name] for name in ("get_room", "create_room", "list_devices", "sweep")}
FEW["import_device"] = drives.CONFKIT["import_device"]
ALL = drives.HOSTILE_DRIVES | {"RoomExplorer": drives.PANELS["RoomExplorer"]}


@pytest.mark.parametrize(
    "asked",
    [drives.CONFKIT | drives.MISTAKES | drives.SENSELESS, MORE, commanded.TYPED],
    ids=["ck", "more", "commands"],
)
def test_where_all_is_well_nothing_shows_a_secret(tmp_path, asked):
    """Of each public name, of what a panel holds and a saved notebook would, of each command, where
    it is used rightly and wrongly: nor do calls on record, the log at DEBUG, what is printed and
    warned of, and files."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        assert driven(made, asked) == {}


def test_each_panel_and_each_command_is_driven():
    """A new one has to be among them, and no entry names nothing; functions are found."""
    kinds = {name: getattr(panels, name) for name in panels.__all__}
    assert set(drives.PANELS) == {name for name, kind in kinds.items() if issubclass(kind, Panel)}
    assert set(commanded.COMMANDS) == commands()
    assert {"get_room", "sweep", "nobody_can_join"} <= {*drives.CONFKIT, *drives.RUNBOOK}


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_shows_a_secret_whatever_is_answered(tmp_path, name):
    """However a service says back what it was asked, in its code, page, headers, status or
    redirect, cut off or in other types, nothing that shows of it holds a marked secret."""
    with world(name, tmp_path, random.Random(7)) as made:
        assert driven(made, {"code": ALL, "head": FEW | commanded.ELSEWHERE}.get(name, FEW)) == {}
        assert made.service.requests


def test_the_password_of_an_address_is_hidden_where_it_is_quoted_alone(script):
    """What stood in rtsp://user:password@host is known, and hidden without its address, too."""
    service = script({B1.path: {"ret": 426, "err": "login with 1NSIDE refused"}})
    with pytest.raises(ck.JoinFailed, match=r"login with \*\*\* refused") as raised:
        ck.import_device(service.client(), "1", "cam", "Door", "rtsp://u:1NSIDE@192.0.2.7/x")
    assert "1NSIDE" not in everything_of(raised.value)


def test_the_search_finds_a_secret_however_it_is_written():
    """The tests above can fail: each mark is found plain and encoded, alone and within others."""
    marks = Marks(random.Random(7))
    assert marks.found("before after *** token=*** 127.0.0.1") == []
    for role, secret in marks.items():
        for text in (
            html.escape(json.dumps(json.dumps(secret))),
            quote(quote(secret, safe=""), safe="").lower(),
            secret[::-1],
            secret.encode().hex(),
            *(base64.b64encode(b"x" * n + secret.encode()).decode() for n in range(3)),
        ):
            assert any(role in told for told in marks.found(f"before {text} after"))
