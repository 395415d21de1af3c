"""Room IDs as people have them: which are taken, which are refused, and why."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import confkit as ck
from confkit.many.ids import room_ids
from confkit.many.tables import read_table
from confkit.panels.pasting import pasted_ids
from tests.many.building import building

IDS = ["00123", "7", "00124"]


@pytest.fixture
def written(tmp_path):
    """Writes a file of text or bytes; gives its path."""

    def write(text, name="rooms.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


TABLE = pd.DataFrame({"floor": [1, 2, 3], "room_id": IDS})
FORMS = [  # with the column that is named
    ((one for one in IDS), None),
    (pd.Series(IDS, dtype="string", index=[5, 5, 5]), None),
    (pd.Series(IDS, dtype="category"), None),
    (pd.Index(IDS), None),
    (np.array(IDS), None),
    ([*IDS, "7", *IDS], None),
    (["00123", 7, np.int64(7), "7", "00124"], None),
    (["00123\r\n", "7\n", "00124"], None),
    (TABLE, None),
    (TABLE.set_index("room_id"), None),
    (TABLE.set_index("room_id", drop=False), None),
    (pd.DataFrame({"Raum": IDS}), None),
    (pd.DataFrame(IDS), None),
    (pd.DataFrame({"room_id": ["a", "b", "c"], "number": IDS}), "number"),
    (pd.DataFrame(zip("abc", IDS, strict=True)), 1),
    (pd.DataFrame(zip(IDS, "abc", strict=True)), 0),
]


@pytest.mark.parametrize(("given", "column"), FORMS)
def test_the_ids_come_as_text_in_their_order(given, column):
    """Zeros in front stay, each ID comes once, whatever holds them; a whole number is an ID, 7 and
    "7" are one. Of a table they are the column that is named, also by its number, else room_id, or
    an index of that name, or the only column."""
    found = room_ids(given, id_column=column).ids
    assert found == IDS
    assert {type(one) for one in found} == {str}


MISSING = "place 2: The room ID is missing"
SPOILT = r"A spreadsheet has made a number of the ID.*: 1.61E\+09. Format the column as text"
RAUM = pd.DataFrame({"Raum": ["1"], "Etage": ["2"]})
REFUSED = {
    "a float": ([12.0, 7], "place 1: room_id is 12.0.*text"),
    "numbers with a gap": (pd.Series([12, None]), "place 1: room_id is 12.0.*zeros"),
    "None": (["7", None], MISSING),
    "NA": (pd.Series([7, pd.NA], dtype="Int64"), MISSING),
    "None in a table": (pd.DataFrame({"room_id": ["7", None]}), MISSING),
    "blanks": (["7", " \t"], "place 2"),
    "True": ([True], "place 1: room_id is True"),
    "a list inside": ([["7"]], "place 1"),
    "half a character": (["7", "a\ud800"], "place 2: .*surrogate"),
    "a dict": ({"7": 1}, "type dict.*list"),
    "bytes": (b"7", "type bytes"),
    "nothing": (None, "type NoneType"),
    "a table of Arrow": (pa.Table.from_pydict({"room_id": ["1"]}), "of type Table.*pandas"),
    "no column named": (RAUM, "does not say which column.*id_column=.*'Raum', 'Etage'"),
    "an index beside one": (RAUM.set_index("Raum"), "which column.*'Raum', 'Etage'"),
    "twice": (pd.DataFrame([["1", "2"]], columns=["room_id"] * 2), "'room_id' is twice"),
    "no columns": (pd.DataFrame(), "columns are none"),
    "a spoilt cell": (pd.DataFrame({"room_id": ["7", "1.61E+09"]}), f"place 2: {SPOILT}"),
    **{
        cell: (pd.Series([cell]), "has made a number of the ID")
        for cell in ("1614903140.00", "1614903140,0", "1,61E+09", "1e+9")  # some with a comma
    },
}


def refused(given, match, **options):
    """What is given is refused in these words, with nothing sent, as a ValueError."""
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(given, **options)
    assert isinstance(raised.value, ValueError)
    assert raised.value.ret is None
    assert re.search("[^ ] Nothing was sent", str(raised.value))
    return str(raised.value)


@pytest.mark.parametrize(("given", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_id_is_refused_with_its_place(given, match):
    """The error says where it stands, what it is, and what to do; that of a table in which the
    column is not certain lists the columns. A number that a spreadsheet made in the place of an ID
    has lost zeros or digits."""
    refused(given, match)


def test_other_ways_to_give_ids_refuse_the_same():
    """A column that is named and not there, and a number in the place of a pasted ID."""
    refused(RAUM, "'room' is not in the table.*'Raum', 'Etage'", id_column="room")
    with pytest.raises(ck.ParameterError, match=f"place 2: {SPOILT}"):
        pasted_ids("7 1.61E+09")


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


# Files

HEADER, ROW = "floor,room_id,name,note\n", "NA,00123,Tür,null"
QUOTED = ",".join(f'"{cell}"' for cell in ROW.split(","))
FILES = {
    "plain": HEADER + ROW,
    "byte-order mark": "\ufeff" + HEADER + ROW + "\n",
    "semicolons": (HEADER + ROW).replace(",", ";"),
    "tabs": (HEADER + ROW).replace(",", "\t"),
    "CRLF": (HEADER + ROW).replace("\n", "\r\n") + "\r\n",
    "CR": (HEADER + ROW).replace("\n", "\r"),
    "UTF-16": ("\ufeff" + HEADER + ROW).encode("utf-16-le"),
    "UTF-16, big": ("\ufeff" + HEADER + ROW).encode("utf-16-be"),
    "spaces after commas": (HEADER + QUOTED).replace(",", ", "),
    "spaces around names": HEADER.replace("room_id", " room_id ") + ROW,
    "empty lines": f"\n{HEADER}\n{ROW}\n\n,,,\n\n",
    "quotes": HEADER + QUOTED,
    "another order": "name,note,room_id,floor\nTür,null,00123,NA\n",
    "more columns": HEADER[:-1] + ",serial number\n" + ROW + ",0815\n",
    "separators at the end": HEADER[:-1] + ",\n" + ROW + ",,,\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_usual_form_of_a_file_gives_the_same_cells(written, text):
    """However a spreadsheet writes the file, IDs stay text and every cell comes as it was meant."""
    found = room_ids(str(written(text)))
    assert found.ids == ["00123"]
    assert found.columns[["floor", "name", "note"]].to_numpy().tolist() == [["NA", "Tür", "null"]]
    assert set(found.columns.dtypes.astype(str)) == {"string"}


def test_the_rooms_of_a_file_keep_their_order_and_cells(written):
    """Of a doubled room the first row counts; a cell may hold separators, quotes and lines, and
    those that Excel leaves out at the end of a row are missing."""
    text = HEADER + '1,00123,"Door, ""north""\nwing",03\n\n,7\n,00124,Main\n9,7,Elsewhere\n'
    found = room_ids(written(text))
    assert found.ids == IDS
    assert found.columns.fillna("-").to_dict("list") == {
        "floor": ["1", "-", "-"],
        "name": ['Door, "north"\nwing', "-", "Main"],
        "note": ["03", "-", "-"],
    }


def test_an_encoding_is_taken_when_it_is_named(written):
    """Windows-1252 is not guessed, and rows are numbered by the lines of the file."""
    path = written((HEADER + '\n,1,"a\nb"\n' + ROW).encode("cp1252"))
    rows, problems = read_table(path, ("room_id",), ("name",), "cp1252")
    expected = [(3, {"room_id": "1", "name": "a\nb"}), (5, {"room_id": "00123", "name": "Tür"})]
    assert (rows, problems) == (expected, [])


def test_columns_of_a_file_have_any_names(written, script):
    """The only column holds the IDs, whatever it is called. Of one name all are kept, each with a
    name of its own in the frame; a column without a name is left out."""
    assert room_ids(written("Room number\n00123\n7\n00124\n")).ids == IDS
    assert room_ids(written("Room number\n")).ids == []
    path = written("room_id,note,note,\na,1,2,\n")
    frame = ck.sweep(script(building({"a": []})).client(), path).frame()
    assert frame.iloc[0, -2:].tolist() == ["1", "2"]
    assert frame.columns.is_unique


def test_a_list_of_one_id_a_line(written):
    """Of a .txt file empty lines and comments are left out, and all else is an ID as it stands."""
    text = "# our rooms\n00123\n\n  7  \n#8\n00124\nroom 9, top # not a comment\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        found = room_ids(written(text.encode(encoding), "rooms.txt")).ids
        assert found == [*IDS, "room 9, top # not a comment"]
    assert room_ids(written("", "rooms.txt")).ids == []
    table = written("room_id\tfloor\n7\t1\n", "rooms.txt")
    assert room_ids(table, id_column="room_id").ids == ["7"]


WRONG_FILES = {
    "no header": ("00123\n7\n", "'00123', as if the header were missing"),
    "no header, nor zeros": ("A-1\n", "'A-1', as if the header were missing"),
    "no header of columns": ("00123,Main\n7,Annex\n", "'00123', as if the header were missing"),
    "a spoilt cell": ("room_id;floor\n7;1\n1.61E+09;2\n", f"line 3: {SPOILT}"),
    "a spoilt line": ("7\n1.61E+09\n", f"rooms.txt, line 2: {SPOILT}"),
    "two blank IDs": ("room_id,floor\n,1\n,2\n7,1\n", "line 2: .* 1 more is wrong"),
    "three": ("room_id,floor\n,1\n,2\n,1\n", "line 2: .* 2 more are wrong"),
    "a cell too many": ("building,room_id\nMain, North,7\n", "line 2: The row has 3 cells"),
    "an empty file": ("", "empty"),
    "Windows-1252": ((HEADER + ROW).encode("cp1252"), 'line 2: .*UTF-8.*encoding="cp1252"'),
    "UTF-16 without its mark": ((HEADER + "1,7").encode("utf-16-le"), "zero bytes.*CSV UTF-8"),
    "a workbook": (b"PK\x03\x04\xff\xfe\x00", "CSV UTF-8"),
    "no text in a list": ("7\nBüro\n".encode("cp1252"), "rooms.txt, line 2: "),
    "a table in a list": ("7\nroom_id\tfloor\n", "rooms.txt, line 2: .*tab"),
}


@pytest.mark.parametrize(("text", "match"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_what_is_wrong_in_a_file_is_told_with_its_line(written, text, match):
    """The error names file and line; no row is left out silently, nor taken for a header."""
    refused(written(text, "rooms.txt" if "rooms.txt" in match else "rooms.csv"), match)


@pytest.mark.parametrize(
    ("header", "text"), [("room_id", "00123\n7\n"), ("room_id,building", "00123,Main\n7,Annex\n")]
)
def test_the_advice_for_a_missing_header_keeps_the_first_room(written, header, text):
    """It asks for a header, and never for the first room as a column's name."""
    with pytest.raises(ck.ParameterError) as raised:
        room_ids(written(text))
    assert "id_column" not in raised.value.advice
    assert room_ids(written(f"{header}\n{text}")).ids == ["00123", "7"]


@pytest.mark.parametrize("text", ["00123", "", ".", "9" * 5000])
def test_a_lone_text_has_to_be_a_file(text, monkeypatch, tmp_path):
    """It is not taken for a room, nor for a list of letters; the error says so, briefly."""
    monkeypatch.chdir(tmp_path)
    assert len(refused(text, "There is no file.*list of one")) < 400


def test_a_text_that_code_gives_is_an_id_whatever_it_looks_like(client):
    """A room may be called 2.0 by whoever makes it: so it is read by that ID, alone, in a list, and
    in the frames that confkit gives."""
    ids = [ck.create_room(client, "t", "ops", room_extend_id=one) for one in ("2.0", "1.5E+09")]
    assert [ck.get_room(client, one).room_id for one in ids] == ids
    for given in (ids, ck.known_rooms(client), ck.known_rooms(client)["room_id"]):
        assert list(ck.sweep(client, given).frame().room_id) == ids
    listed = ck.devices_frame([ck.Device(one, one, "Door", f"sip://h/{one}") for one in ids])
    assert list(ck.remove_devices(client, listed).outcome) == ["not there"] * 2


def test_rows_that_are_left_out_are_told(written, caplog):
    """Of a room that stands in two rows the log says that one is left out, when more stands in it;
    a list that names a room twice loses nothing."""
    room_ids(["7", "7"])
    room_ids(written("room_id\n7\n7\n"))
    assert caplog.records == []
    room_ids(written("room_id;floor\n7;1\n7;2\n8;3\n"))
    assert "rows of the table that are left out: 1," in caplog.text
