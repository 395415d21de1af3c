"""Hostile texts in CSV, in files' names and in what is asked for."""

import io

import pandas as pd
import pytest

import confkit as ck
from confkit.many.ids import room_ids
from confkit.many.tables import as_csv, defused, plain, read_table

from . import texts
from .asked import wrong_lines, wrong_rooms
from .exported import astray, changed
from .looking import formulas
from .service import hostile

SENDABLE = [one for one in dict.fromkeys(texts.ALL) if texts.sendable(one)]


def test_no_text_is_a_formula_in_an_export():
    """Whether a spreadsheet splits at commas or at semicolons; numbers stay numbers."""
    frame = pd.DataFrame(
        {"topic": pd.Series([*texts.ALL, *texts.HALVES], dtype=object), "users": -1}
    )
    written = as_csv(frame)
    assert formulas(written) == []
    assert len(formulas(',x\r\n=1,"a;=1"\r\n')) > 1
    assert pd.read_csv(io.StringIO(written))["users"].eq(-1).all()
    assert "'=1+1" in written


def test_an_export_reads_back_as_it_was(tmp_path):
    """Each text of the collection, alone and together, in a table that confkit reads."""
    for text in texts.ALL:
        assert plain(defused(text)) == text.replace("\0", "\ufffd"), text
    assert changed(SENDABLE, tmp_path) == []
    path = tmp_path / "rooms.csv"
    ids = [one for one in SENDABLE if "\0" not in one and one == one.strip() and one != "1.0"]
    path.write_text(as_csv(pd.DataFrame({"room_id": ids})), "utf-8-sig", newline="")
    assert room_ids(path).ids == ids


def test_what_people_write_themselves_stays_but_for_the_apostrophe(tmp_path):
    """A login is read as it is written; an apostrophe that hides no formula stays, too."""
    text = "user_name,login_password\n'Ada,'=secret;'-\n'=1+1,'@\n"
    rows, problems = read_table(io.StringIO(text), ("user_name", "login_password"), ())
    assert problems == []
    assert [list(cells.values()) for _, cells in rows] == [["'Ada", "'=secret;'-"], ["=1+1", "'@"]]


def test_ids_are_one_parameter_each(sandbox, client):
    """The sandbox gets, stores and gives back each ID and each topic exactly as it was asked."""
    ids = [one for one in SENDABLE if one not in texts.LETTERS[6:7]]
    assert list(wrong_rooms(sandbox, client, ids)) == []


def test_a_curl_line_runs_nothing_but_curl(tmp_path):
    """Whatever an ID holds for a shell, the line's words are those that were meant."""
    ids = [one for one in SENDABLE if "\0" not in one]
    with hostile(ids) as (client, _):
        assert list(wrong_lines(client, ids[::3] + list(texts.PLACES), tmp_path)) == []


def test_a_recording_lies_in_its_folder_and_is_called_by_no_room(tmp_path):
    """Rooms that are called as paths: the files' names are ours, and each room reads back."""
    folder = tmp_path / "occupancy-1"
    ids = [one for one in texts.PLACES if texts.sendable(one)]
    with hostile(ids) as (client, _):
        ck.Recorder(folder).record(client, ids, every=1, sweeps=2)
    assert [path for path in folder.rglob("*") if path.is_file()]
    assert astray(tmp_path) == []
    assert set(ck.load_occupancy(folder)["room_id"]) == set(ids)


@pytest.mark.parametrize(
    "name", ["../../x.csv", "/etc/passwd", "a\0b.csv", "..", "", "x" * 5000 + ".csv"]
)
def test_the_name_of_a_file_that_a_browser_sends_is_no_path(name):
    """It is read as it came, and nothing is written under any name."""
    from confkit.panels.pasting import ids_in_file

    assert ids_in_file(name, "room_id\n1\n").ids == ["1"]
