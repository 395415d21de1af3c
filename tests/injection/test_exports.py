"""Hostile texts in CSV, in files' names and in what is asked for."""

import pandas as pd

import confkit as ck
from confkit.tables import parse_csv, room_ids, spreadsheet_damage

from . import texts
from .service import hostile

SENDABLE = [text for text in dict.fromkeys(texts.ALL) if texts.sendable(text) and "\0" not in text]


def test_a_table_reads_back_as_it_was(tmp_path):
    """Each text of the collection, in a CSV file that pandas writes."""
    path = tmp_path / "rooms.csv"
    frame = pd.DataFrame({"room_id": SENDABLE, "topic": [*SENDABLE[1:], SENDABLE[0]]}, dtype="str")
    frame.to_csv(path, index=False, lineterminator="\r\n")
    grid = parse_csv(path.read_bytes().decode())
    assert grid.problems == []
    assert [cells for _, cells in grid.rows] == frame.to_numpy().tolist()
    ids = [text for text in SENDABLE if text == text.strip()]
    ids = [text for text in ids if not spreadsheet_damage(text, is_id=True)]
    pd.DataFrame({"room_id": ids}).to_csv(path, index=False, lineterminator="\r\n")
    assert room_ids(path).ids == ids


def test_a_recording_lies_in_its_folder_and_is_called_by_no_room(tmp_path):
    """Rooms that are called as paths: the files' names are ours, and each room reads back."""
    folder = tmp_path / "occupancy-1"
    ids = [text for text in texts.PLACES if texts.sendable(text)]
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
