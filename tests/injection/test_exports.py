"""Hostile texts in CSV, in files' names and in what is asked for."""

import csv
import io

import pandas as pd

import confkit as ck
from confkit.tables import (
    as_csv,
    escape_formulas,
    parse_csv,
    read_table,
    room_ids,
    spreadsheet_damage,
    unescape_formulas,
)

from . import texts
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
        assert unescape_formulas(escape_formulas(text)) == text.replace("\0", "\ufffd"), text
    path = tmp_path / "rooms.csv"
    frame = pd.DataFrame({"room_id": SENDABLE, "topic": [*SENDABLE[1:], SENDABLE[0]]}, dtype="str")
    path.write_text(as_csv(frame), "utf-8-sig", newline="")
    grid = parse_csv(path.read_bytes().decode())
    assert grid.problems == []
    whole = frame.replace("\0", "\ufffd", regex=True)  # no CSV file holds a zero
    assert [cells for _, cells in grid.rows] == whole.to_numpy().tolist()
    lines = csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""))
    assert len(list(lines)) == len(frame) + 1
    ids = [one for one in SENDABLE if "\0" not in one and one == one.strip()]
    ids = [one for one in ids if not spreadsheet_damage(one, is_id=True)]
    path.write_text(as_csv(pd.DataFrame({"room_id": ids})), "utf-8-sig", newline="")
    assert room_ids(path).ids == ids


def test_what_people_write_themselves_stays_but_for_the_apostrophe(tmp_path):
    """A login is read as it is written; an apostrophe that hides no formula stays, too."""
    path = tmp_path / "cameras.csv"
    path.write_text("user_name,login_password\n'Ada,'=secret;'-\n'=1+1,'@\n", "utf-8")
    rows, problems = read_table(path, ("user_name", "login_password"), ())
    assert problems == []
    assert [list(cells.values()) for _, cells in rows] == [["'Ada", "'=secret;'-"], ["=1+1", "'@"]]


def test_a_recording_lies_in_its_folder_and_is_called_by_no_room(tmp_path):
    """Rooms that are called as paths: the files' names are ours, and each room reads back."""
    folder = tmp_path / "occupancy-1"
    ids = [one for one in texts.PLACES if texts.sendable(one)]
    with hostile(ids) as (client, _):
        ck.Recorder(folder).record(client, ids, every=1, sweeps=2)
    paths = list(tmp_path.rglob("*"))
    assert [path for path in paths if path.is_file()]
    for path in paths:
        assert path.is_relative_to(folder)
        assert path.name.isascii()
        assert path.name.isprintable()
        assert not set(path.name) & set(" '\"<>;&$`")
    assert set(ck.load_occupancy(folder)["room_id"]) == set(ids)
