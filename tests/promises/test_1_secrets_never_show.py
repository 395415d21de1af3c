"""No function, panel, runbook, command or sandbox shows a secret, whatever a service answers."""

import base64
import html
import json
import random
from urllib.parse import quote

import pytest

from confkit import cli, panels
from confkit.panels.layout import Panel
from tests.secrets import drives
from tests.secrets.drives import driven
from tests.secrets.marks import Marks
from tests.secrets.worlds import HOSTILE, world

GROUPS = {
    "ck": drives.CONFKIT | drives.MISTAKES,
    "more": drives.PANELS | drives.RUNBOOK | drives.SANDBOX | drives.COURSE,
    "commands": drives.TYPED,
}
# What is asked of a hostile service: logins, a read, a change, an import, a list and many at once;
# and once all, as it says back most.
FEW = ("Client.token", "get_mcu", "get_room_users", "get_room", "create_room", "import_device")
ASKED = {
    "code": drives.CONFKIT | drives.MISTAKES | {"RoomExplorer": drives.PANELS["RoomExplorer"]},
    "page": {words: drives.TYPED[words] for words in ("doctor {w.room_id}", "probe")},
}


@pytest.mark.parametrize("group", GROUPS)
def test_where_all_is_well_nothing_shows_a_secret(tmp_path, group):
    """Nor do calls on record, the log at DEBUG, what is printed and warned of, and files."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        assert driven(made, GROUPS[group]) == {}


def test_each_panel_and_each_command_is_driven():
    kinds = [getattr(panels, name) for name in panels.__all__]
    assert {*drives.PANELS} == {kind.__name__ for kind in kinds if issubclass(kind, Panel)}
    names = {*cli.commands.commands} - {"profile"} | {"profile add"}
    assert [name for name in names if name not in str(drives.COMMANDS)] == []


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_shows_a_secret_whatever_is_answered(tmp_path, name):
    """However a service says back what it was asked, in its code, page, headers or status."""
    few = {one: drives.CONFKIT[one] for one in (*FEW, "list_devices", "sweep")}
    with world(name, tmp_path, random.Random(7)) as made:
        assert driven(made, few | ASKED.get(name, {})) == {}
        assert made.service.requests


def test_the_search_finds_a_secret_however_it_is_written():
    """The tests above can fail: each mark is found plain and encoded, alone and within others."""
    marks = Marks(random.Random(7))
    for role, secret in marks.items():
        in_html = html.escape(json.dumps(json.dumps(secret)))
        in_base64 = base64.b64encode(b"x" + secret.encode()).decode()
        for text in (in_html, in_base64, quote(quote(secret, safe="")).lower(), secret[::-1]):
            assert role in str(marks.found(f"before {text} after"))
