"""Room IDs as people have them: which are taken, which are refused, and why."""

import re
from pathlib import Path

import dask.dataframe as dask_frames
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import confkit as ck
from confkit.many.ids import LONGEST, room_ids
from confkit.panels.pasting import pasted_ids
from tests.many.building import building

IDS = ["00123", "7", "00124"]


def ids_of(given, **options):
    return room_ids(given, **options).ids


def refused(given, *, match, **options):
    """The ParameterError for what is given, which has to say this and be a ValueError."""
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(given, **options)
    assert isinstance(raised.value, ValueError)
    assert raised.value.ret is None
    assert "Nothing was sent" in str(raised.value)
    return str(raised.value)


@pytest.fixture
def written(tmp_path):
    """Writes a file; gives its path."""

    def write(text, encoding="utf-8", name="rooms.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


FORMS = {
    "list": IDS,
    "tuple": tuple(IDS),
    "generator": (one for one in IDS),
    "keys": dict.fromkeys(IDS).keys(),
    "Series": pd.Series(IDS),
    "Series of objects": pd.Series(IDS, dtype=object),
    "Series of strings": pd.Series(IDS, dtype="string", index=[5, 5, 5]),
    "category": pd.Series(IDS, dtype="category"),
    "Index": pd.Index(IDS),
    "array": np.array(IDS),
    "array of objects": np.array(IDS, dtype=object),
    "DataFrame": pd.DataFrame({"floor": [1, 2, 3], "room_id": IDS}),
    "only column": pd.DataFrame({"Raum": IDS}),
    "column without a name": pd.DataFrame(IDS),
    "doubled": [*IDS, "7", *IDS],
}


@pytest.mark.parametrize("given", FORMS.values(), ids=FORMS)
def test_the_ids_come_as_text_in_their_order(given):
    """Zeros in front stay, each ID comes once, whatever holds them."""
    found = ids_of(given)
    assert found == IDS
    assert {type(one) for one in found} == {str}


NUMBERS = {
    "list": [12, 7],
    "Series": pd.Series([12, 7, 12]),
    "Int64": pd.Series([12, 7], dtype="Int64"),
    "array": np.array([12, 7], dtype="uint16"),
    "range": range(12, 2, -5),
    "mixed": ["12", 7, np.int64(12)],
    "lines of a file": ["12\r\n", "7\n"],
}


@pytest.mark.parametrize("given", NUMBERS.values(), ids=NUMBERS)
def test_whole_numbers_are_written_out(given):
    """A whole number is an ID; 12 and "12" are one, and so is what readlines() gives."""
    assert ids_of(given) == ["12", "7"]


REFUSED = {
    "a float": ([12.0, 7], "place 1: room_id is 12.0.*text"),
    "a float Series": (pd.Series([12.0, 7.0]), "place 1: room_id is 12.0.*zeros"),
    "numbers with a gap": (pd.Series([12, None]), "place 1: room_id is 12.0.*zeros"),
    "None": (["7", None], "place 2: The room ID is missing"),
    "None in a Series": (pd.Series(["7", None]), "place 2: The room ID is missing"),
    "NaN in a Series": (
        pd.Series(["7", float("nan")], dtype=object),
        "place 2: The room ID is mis",
    ),
    "NA in a Series": (pd.Series(["7", pd.NA], dtype="string"), "place 2: The room ID is missing"),
    "NA in numbers": (pd.Series([7, pd.NA], dtype="Int64"), "place 2: The room ID is missing"),
    "None in a table": (pd.DataFrame({"room_id": ["7", None]}), "place 2: The room ID is missing"),
    "NaT": (pd.Series([pd.NaT]), "place 1: The room ID is missing"),
    "an empty text": (["7", ""], "place 2: room_id is ''"),
    "blanks": (["7", " \t"], "place 2"),
    "True": ([True], "place 1: room_id is True"),
    "bytes inside": ([b"7"], "place 1: room_id is b'7'"),
    "a list inside": ([["7"]], "place 1"),
    "a date": (pd.Series(pd.to_datetime(["2026-01-01"])), "place 1"),
    "half a character": (["7", "a\ud800"], "place 2: .*surrogate"),
    "a dict": ({"7": 1}, "type dict.*list"),
    "bytes": (b"7", "type bytes"),
    "a number": (7, "type int"),
    "nothing": (None, "type NoneType"),
    "rows of an array": (np.array([["1", "2"]]), "place 1"),
}


@pytest.mark.parametrize(("given", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_id_is_refused_with_its_place(given, match):
    """The error says where it stands, what it is, and what to do."""
    refused(given, match=match)


# Tables

NUMBERED = pd.DataFrame([["a", "1"], ["b", "2"]])
COLUMNS = {
    "room_id": ({}, ["1", "2"]),
    "another": ({"id_column": "number"}, ["3", "4"]),
    "by number": ({"id_column": 1}, ["1", "2"]),
    "the first": ({"id_column": 0}, ["a", "b"]),
}


@pytest.mark.parametrize(("options", "ids"), COLUMNS.values(), ids=COLUMNS)
def test_the_column_can_be_named(options, ids):
    """id_column= wins over room_id, and may be a number where the columns are numbered."""
    named = pd.DataFrame({"room_id": ["1", "2"], "number": ["3", "4"]})
    table = NUMBERED if isinstance(options.get("id_column"), int) else named
    assert ids_of(table, **options) == ids


RAUM = pd.DataFrame({"Raum": ["1"], "Etage": ["2"]})
TWICE = pd.DataFrame([["1", "2"]], columns=["room_id", "room_id"])
AMBIGUOUS = {
    "none named": (RAUM, {}, "does not say which column.*id_column=.*'Raum', 'Etage'"),
    "in a file": ("Raum;Etage\n1;2\n", {}, "does not say which column.*'Raum', 'Etage'"),
    "another named": (RAUM, {"id_column": "room"}, "'room' is not in the table.*'Raum', 'Etage'"),
    "twice": (TWICE, {}, "'room_id' is twice"),
    "twice in a file": ("room_id,room_id\n1,2\n", {}, "'room_id' is twice"),
    "nothing": (pd.DataFrame(), {}, "columns are none"),
}


@pytest.mark.parametrize(("table", "options", "match"), AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_an_ambiguous_table_lists_its_columns(written, table, options, match):
    """So do one without the column that was named, and one that has it twice."""
    refused(written(table) if isinstance(table, str) else table, match=match, **options)


def test_further_columns_come_along(script, tmp_path):
    """They stand behind ours in the rows of their rooms, with their types, for no rooms too; the
    first row of a doubled ID counts. What the service says keeps its name, one without a name is
    left out, and a frame can be swept again and again."""
    table = pd.DataFrame(
        {"floor": [3, 1, 2, 9], "room_id": ["b", "a", "nowhere", "b"], "topic": list("XYZW")},
        index=[7, 7, 8, 9],
    )
    table = pd.concat([table, table.topic.rename(""), table.floor.rename("utilisation")], axis=1)
    client = script(building({"a": ["x"], "b": []})).client()
    sweep = ck.sweep(client, table)
    table.loc[7, "topic"] = "changed"
    for frame in (sweep.frame(), ck.occupancy_frame(sweep)):
        given = ["floor", "topic (given)", "utilisation (given)"]
        assert list(frame.room_id) == ["b", "a", "nowhere"]
        assert list(frame.columns[-3:]) == given
        assert frame[given[:2]].to_numpy().tolist() == [[3, "X"], [1, "Y"], [2, "Z"]]
        assert (str(frame.floor.dtype), list(frame.index)) == ("int64", [0, 1, 2])
    none = ck.sweep(client, table.head(0)).frame()
    assert none.dtypes.astype(str).to_dict() == sweep.frame().dtypes.astype(str).to_dict()
    for _ in range(2):
        frame = ck.sweep(client, ck.occupancy_frame(ck.sweep(client, frame))).frame()
    assert frame.columns.is_unique
    frame.to_parquet(tmp_path / "again.parquet")


def test_an_index_with_a_name_is_a_column():
    """A table by room is one of rooms; its only other column is not taken for the IDs."""
    table = pd.DataFrame({"room_id": ["1", "2"], "floor": ["3", "4"]})
    found = room_ids(table.set_index("room_id"))
    assert (found.ids, list(found.columns.floor)) == (["1", "2"], ["3", "4"])
    refused(table.set_axis(["Raum", "floor"], axis=1).set_index("Raum"), match="'Raum', 'floor'")
    assert ids_of(table.set_index("room_id", drop=False)) == ["1", "2"]
    both = table.set_index(["floor", "room_id"])
    found = room_ids(both)
    assert (found.ids, list(found.columns.floor)) == (["1", "2"], ["3", "4"])


def test_a_table_of_another_library_is_refused():
    """What looks like a table and is not one of pandas is named: some yield their columns' names
    when they are gone through, and those are no rooms."""
    table = pd.DataFrame({"room_id": ["1"]})
    refused(pa.Table.from_pandas(table), match="of type Table.*pandas")
    refused(dask_frames.from_pandas(table, npartitions=1), match="of type DataFrame.*of pandas")


# Files

TABLE = "building;room_id;floor\nMain;00123;1\nAnnex;7;\nMain;00124;03\n"
FILES = {  # as which programs write them is told of tables, in test_tables.py
    "semicolons": (TABLE, "utf-8"),
    "as Excel writes Unicode": (TABLE.replace(";", "\t"), "utf-16"),
    "a further double": (TABLE + "Elsewhere;7;9\n", "utf-8"),
}


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize(("text", "encoding"), FILES.values(), ids=FILES)
def test_a_csv_file_is_read_as_text(written, text, encoding, kind):
    """00123 stays that, in the file's order, and building and floor come along as text."""
    found = room_ids(kind(written(text, encoding)))
    assert found.ids == IDS
    columns = found.columns
    assert list(columns) == ["building", "floor"]
    assert {str(kind) for kind in columns.dtypes} == {"string"}
    assert list(columns.building) == ["Main", "Annex", "Main"]
    assert [columns.floor[0], columns.floor[2]] == ["1", "03"]
    assert columns.floor.isna().tolist() == [False, True, False]


@pytest.mark.parametrize(
    "text", ["00123\n7\n00124\n", "00123,Main\n7,Annex\n", "00123;Main;1\n", "A-1\nA-2\n"]
)
def test_a_csv_file_without_a_header_loses_no_room(written, text):
    """Its first line is no header: that is an error which shows it."""
    told = refused(written(text), match="header|which column")
    assert re.split("[\n,;]", text)[0] in told


WRONG_FILES = {
    "a blank ID": ("room_id,floor\n7,1\n ,2\n", "rooms.csv, line 3: The room ID is missing"),
    "two blank IDs": ("room_id,floor\n,1\n,2\n7,1\n", "line 2: .* 1 more"),
    "a cell too many": ("building,room_id\nMain, North,7\n", "line 2: The row has 3 cells"),
    "an open quote": ('room_id\n"7\n8\n', "line 2: .*quote"),
    "an empty file": ("", "empty"),
    "another encoding": ("room_id;Büro\n7;x\n".encode("cp1252"), "line 1: .*pandas.read_csv"),
    "no text in a list": ("7\nBüro\n".encode("cp1252"), "rooms.txt, line 2: "),
    "a table in a list": ("7\nroom_id\tfloor\n", "rooms.txt, line 2: .*tab"),
    "a workbook": (b"PK\x03\x04\x14\x00\x06\x00" + bytes(50), "zero bytes"),
}


@pytest.mark.parametrize(("text", "match"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_what_is_wrong_in_a_file_is_told_with_its_line(written, text, match):
    """The error names file and line; no row is left out silently."""
    name = "rooms.txt" if "rooms.txt" in match else "rooms.csv"
    refused(written(text, name=name), match=match)


def test_a_list_of_one_id_a_line(written):
    """Of a .txt file empty lines and comments are left out, and all else is an ID as it stands."""
    text = "# our rooms\n00123\n\n  7  \n#8\n00124\nroom 9, top # not a comment\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        found = ids_of(written(text, encoding, "rooms.txt"))
        assert found == [*IDS, "room 9, top # not a comment"]
    assert ids_of(written("", name="rooms.txt")) == []
    assert ids_of(written("room_id\tfloor\n7\t1\n", name="rooms.txt"), id_column="room_id") == ["7"]


@pytest.mark.parametrize("text", ["00123", "rooms.csv", "", ".", "7\n8\n9", "9" * 5000, "a\0b"])
def test_a_lone_text_has_to_be_a_file(text, monkeypatch, tmp_path):
    """It is not taken for a room, nor for a list of letters; the error says so, briefly."""
    monkeypatch.chdir(tmp_path)
    told = refused(text, match="There is no file.*list of one")
    assert len(told) < LONGEST + 200


def device_table(*room_ids):
    """A table that import_devices and remove_devices take."""
    return pd.DataFrame(
        {
            "room_id": room_ids,
            "user_id": [f"cam-{n}" for n, _ in enumerate(room_ids)],
            "user_name": "Door",
            "user_address": [f"sip://h/{n}" for n, _ in enumerate(room_ids)],
        }
    )


READERS = {
    "CSV": ("line 3: ", lambda c, w, x: ck.sweep(c, w(f"room_id;floor\n7;1\n{x};2\n"))),
    "text file": ("line 2: ", lambda c, w, x: ck.sweep(c, w(f"7\n{x}\n", name="rooms.txt"))),
    "known rooms": (
        "line 2: ",
        lambda c, w, x: ck.known_rooms(c, list=w(f"7\n{x}\n", name="rooms.txt")),
    ),
    "DataFrame": ("place 2: ", lambda c, _, x: ck.sweep(c, pd.DataFrame({"room_id": ["7", x]}))),
    "Series": ("place 2: ", lambda c, _, x: ck.sweep(c, pd.Series(["7", x]))),
    "pasted": ("place 2: ", lambda _, __, x: pasted_ids(f"7 {x}")),
    "device CSV": (
        "row 3, room_id: ",
        lambda c, w, x: ck.import_devices(c, w(device_table("7", x).to_csv(index=False))),
    ),
    "device DataFrame": (
        "row 2, room_id: ",
        lambda c, _, x: ck.import_devices(c, device_table("7", x)),
    ),
    "device removal": (
        "row 2, room_id: ",
        lambda c, _, x: ck.remove_devices(c, device_table("7", x)),
    ),
}


@pytest.mark.parametrize(("row", "read"), READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    "spoilt", ["1001.0", "1614903140.00", "1614903140,0", "1.61E+09", "1,61E+09", "1.61e+09"]
)
def test_cells_that_a_spreadsheet_has_spoilt_are_refused(script, written, row, read, spoilt):
    """A number in the place of an ID has lost zeros or digits; each reader of cells names its row
    and what to do, and sends nothing."""
    if read is READERS["pasted"][1]:
        spoilt = spoilt.replace(",", ".")  # a comma stands between two IDs there
    service = script({})
    told = f"{row}A spreadsheet has made a number of the ID.*: {spoilt}. Format the column as text"
    with pytest.raises(ck.ParameterError, match=told.replace("+", r"\+")) as raised:
        read(service.client(), written, spoilt)
    assert "  Nothing was sent" not in str(raised.value)
    assert service.requests == []


def test_a_text_that_code_gives_is_an_id_whatever_it_looks_like(client):
    """A room may be called 2.0 by whoever makes it: so it is read by that ID, alone, in a list, and
    in the frames that confkit gives."""
    ids = [ck.create_room(client, "t", "ops", room_extend_id=one) for one in ("2.0", "1.5E+09")]
    assert [ck.get_room(client, one).room_id for one in ids] == ids
    for given in (
        ids,
        ck.known_rooms(client),
        ck.known_rooms(client)["room_id"],
        ck.occupancy_frame(ck.sweep(client, ids)),
    ):
        assert list(ck.sweep(client, given).frame().room_id) == ids
    listed = ck.devices_frame([ck.Device(one, one, "Door", f"sip://h/{one}") for one in ids])
    assert list(ck.remove_devices(client, listed).outcome) == ["not there"] * 2


def test_rows_that_are_left_out_are_told(written, caplog):
    """Of a room that stands in two rows the log says that one is left out, when more stands in it;
    a list that names a room twice loses nothing."""
    ids_of(written("room_id;floor\n7;1\n7;2\n8;3\n"))
    assert [one.getMessage() for one in caplog.records] == [
        "rows of the table that are left out: 1, as their rooms stand in rows before them, whose "
        "further columns count"
    ]
    caplog.clear()
    ids_of(["7", "7"])
    ids_of(written("room_id\n7\n7\n"))
    assert caplog.records == []
