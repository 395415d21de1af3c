"""Tables as people have them: which IDs and rows are read, which are refused, and why."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import confkit as ck
from confkit.tables import read_table, room_ids
from tests.building import building

IDS = ["00123", "7", "00124"]
TABLE = pd.DataFrame({"floor": [1, 2, 3], "room_id": IDS})
FORMS = [  # with the column that is named
    ((room_id for room_id in IDS), None),
    ([ck.Room(room_id=room_id) for room_id in IDS], None),
    (pd.Series(IDS, dtype="string", index=[5, 5, 5], name="number"), None),
    (pd.Series(IDS, dtype="category"), None),
    (pd.Index(IDS), None),
    (np.array(IDS), None),
    ([*IDS, "7", *IDS], None),
    (["00123\r\n", 7, np.int64(7), "7\n", "00124"], None),
    (TABLE, None),
    (TABLE.set_index("room_id"), None),
    (TABLE.set_index("room_id", drop=False), None),
    (pd.DataFrame({"Raum": IDS}), None),
    (pd.DataFrame(IDS), None),
    (pd.DataFrame({"room_id": ["a", "b", "c"], "number": IDS}), "number"),
    (pd.DataFrame(zip("abc", IDS, strict=True)), 1),
    (pd.DataFrame(zip(IDS, "abc", strict=True)), 0),
]
MISSING = "position 2: The room ID is missing"
SPOILT = r"A spreadsheet has made a number of the ID.*: 1.61E\+09. Format the column as text"
RAUM = pd.DataFrame({"Raum": ["1"], "Etage": ["2"]})
REFUSED = {
    "a float": ([12.0, 7], "position 1: room_id is 12.0.*text"),
    "numbers with a gap": (pd.Series([12, None]), "position 1: room_id is 12.0.*zeros.*1 more is"),
    "None": (["7", None], MISSING),
    "NA": (pd.Series([7, pd.NA], dtype="Int64"), MISSING),
    "None in a table": (pd.DataFrame({"room_id": ["7", None]}), MISSING),
    "blanks": (["7", " \t"], "position 2"),
    "True": ([True], "position 1: room_id is True"),
    "a list inside": ([["7"]], "position 1"),
    "a lone surrogate": (["7", "a\ud800"], "position 2: .*surrogate"),
    "a dict": ({"7": 1}, "type dict.*list"),
    "bytes": (b"7", "type bytes"),
    "nothing": (None, "type NoneType"),
    "a table of Arrow": (pa.Table.from_pydict({"room_id": ["1"]}), "of type Table.*pandas"),
    "no column named": (RAUM, "does not say which column.*id_column=.*'Raum', 'Etage'"),
    "nearly named": (RAUM.assign(roomId="1"), "which column.*Is it 'roomId'"),
    "an index beside": (RAUM.set_index("Raum"), "which column.*'Raum', 'Etage'"),
    "twice": (pd.DataFrame([["1", "2"]], columns=["room_id"] * 2), "'room_id' is twice"),
    "no columns": (pd.DataFrame(), "columns are none"),
    "a spoilt cell": (pd.DataFrame({"room_id": ["7", "1.61E+09"]}), f"position 2: {SPOILT}"),
    "a path": ("00123", "There is no file '00123'.*pass a list"),
    "an empty path": ("", "There is no file"),
    "a folder": (".", "There is no file"),
    "what is no path": ("9" * 5000, "There is no file"),
}


@pytest.fixture
def written(tmp_path):
    """Writes a file of text or bytes; gives its path."""

    def write(text, name="rooms.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(("source", "column"), FORMS)
def test_ids_are_read_as_text_in_order(source, column):
    """Leading zeros stay, each ID is there once, whatever holds them; a whole number is an ID. Of a
    table they are the column that is named, also by a number, else room_id, or an index of that
    name, or the only column."""
    ids = room_ids(source, id_column=column).ids
    assert ids == IDS
    assert {type(room_id) for room_id in ids} == {str}


@pytest.mark.parametrize(("source", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_id_is_refused_with_its_position(source, match):
    """The error says where it stands, what it is, and what to do, briefly; nothing is sent."""
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(source)
    assert isinstance(raised.value, ValueError)
    assert re.search("[^ ] Nothing was sent", str(raised.value))
    assert len(str(raised.value)) < 400


def test_further_columns_come_along(script, tmp_path):
    """They stand behind ours in the rows of their rooms, with their types, for no rooms too; the
    first row of a doubled ID counts. What the service says keeps its name, and a column without a
    name is left out. A frame can be swept again."""
    table = pd.DataFrame(
        {"floor": [3, 1, 2, 9], "room_id": ["b", "a", "nowhere", "b"], "topic": list("XYZW")},
        index=[7, 7, 8, 9],
    )
    table = pd.concat([table, table.topic.rename(""), table.floor.rename("utilisation")], axis=1)
    client = script(building({"a": ["x"], "b": []})).client()
    sweep = ck.sweep(client, table)
    table.loc[7, "topic"] = "changed"
    frame = sweep.frame()
    given = ["floor", "topic (given)", "utilisation (given)"]
    assert list(frame.columns[-3:]) == given
    assert frame[["room_id", *given[:2]]].to_numpy().tolist() == [
        ["b", 3, "X"],
        ["a", 1, "Y"],
        ["nowhere", 2, "Z"],
    ]
    none = ck.sweep(client, table.head(0)).frame()
    assert none.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
    for _ in range(2):
        frame = ck.sweep(client, ck.occupancy_frame(ck.sweep(client, frame))).frame()
    assert frame.columns.is_unique
    frame.to_parquet(tmp_path / "again.parquet")


# Files of rooms and of devices

HEADER, ROW = "floor,room_id,name,note\n", "NA,00123,Tür,null"
QUOTED = ",".join(f'"{cell}"' for cell in ROW.split(","))
FILES = {
    "plain": HEADER + ROW,
    "byte-order mark": "\ufeff" + HEADER + ROW + "\n",
    **{f"separator {mark!r}": (HEADER + ROW).replace(",", mark) for mark in ";\t|"},
    "Excel's own line": "sep=;\r\n" + (HEADER + ROW).replace(",", ";"),
    "Excel's own line of a rare mark": "sep=^\n" + (HEADER + ROW).replace(",", "^"),
    "CRLF": (HEADER + ROW).replace("\n", "\r\n") + "\r\n",
    "CR": (HEADER + ROW).replace("\n", "\r"),
    "UTF-16": ("\ufeff" + HEADER + ROW).encode("utf-16-le"),
    "UTF-16, big": ("\ufeff" + HEADER + ROW).encode("utf-16-be"),
    "spaces after commas": (HEADER + QUOTED).replace(",", ", "),
    "spaces around names": HEADER.replace("room_id", " room_id ") + ROW,
    "empty lines": f"\n{HEADER}\n{ROW}\n\n,,,\n\n",
    "quotes": HEADER + QUOTED,
    "each line in quotes": f'"{HEADER[:-1]}"\n"{ROW}"\n',
    "each line in quotes, cells too": f'"{HEADER[:-1]}"\n"{QUOTED.replace(chr(34), chr(34) * 2)}"',
    "another order": "name,note,room_id,floor\nTür,null,00123,NA\n",
    "more columns": HEADER[:-1] + ",serial number\n" + ROW + ",0815\n",
    "separators at the end": HEADER[:-1] + ",\n" + ROW + ",,,\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_usual_form_of_a_file_gives_the_same_cells(written, text):
    """However a spreadsheet writes the file, IDs and cells are text as they were meant."""
    ids, columns = room_ids(str(written(text)))
    assert ids == ["00123"]
    assert columns[["floor", "name", "note"]].to_numpy().tolist() == [["NA", "Tür", "null"]]
    assert set(columns.dtypes.astype(str)) == {"string"}
    [(_, cells)], problems = read_table(written(text), ("room_id", "floor"), ("name", "note"))
    assert (cells, problems) == (
        {"room_id": "00123", "floor": "NA", "name": "Tür", "note": "null"},
        [],
    )


def test_rows_have_the_numbers_of_their_lines(written):
    """Empty lines and lines inside a cell count; an encoding is taken when it is named."""
    path = written((HEADER + '\n,1,"a\nb"\n' + ROW).encode("cp1252"))
    rows, problems = read_table(path, ("room_id",), ("name",), "cp1252")
    assert rows == [(3, {"room_id": "1", "name": "a\nb"}), (5, {"room_id": "00123", "name": "Tür"})]
    assert problems == []


def test_the_rooms_of_a_file_keep_their_order_and_cells(written):
    """Of a doubled room the first row counts; a cell may hold separators, quotes and lines, and
    those that Excel leaves out at the end of a row are missing. The only column holds the IDs,
    whatever it is called."""
    text = HEADER + '1,00123,"Door, ""north""\nwing",03\n\n,7\n,00124,Main\n9,7,Elsewhere\n'
    ids, columns = room_ids(written(text))
    assert ids == IDS
    assert columns.fillna("-").to_dict("list") == {
        "floor": ["1", "-", "-"],
        "name": ['Door, "north"\nwing', "-", "Main"],
        "note": ["03", "-", "-"],
    }
    assert room_ids(written("Room number\n00123\n7\n00124\n")).ids == IDS
    assert room_ids(written("Room number\n 7 \n")).ids == ["7"]
    assert room_ids(written("Room number\n")).ids == []


def test_a_list_of_one_id_a_line(written):
    """Of a .txt file empty lines and comments are left out, and all else is an ID as it stands."""
    text = "# our rooms\n00123\n\n  7  \n#8\n00124\nroom 9, top # not a comment\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        ids = room_ids(written(text.encode(encoding), "rooms.txt")).ids
        assert ids == [*IDS, "room 9, top # not a comment"]
    assert room_ids(written("", "rooms.txt")).ids == []
    table = written("room_id\tfloor\n7\t1\n", "rooms.txt")
    assert room_ids(table, id_column="room_id").ids == ["7"]


# Cells that a spreadsheet has damaged; in a column of IDs, or in any.
NUMBERS = ["1001.0", "1614903140.00", "1614903140,0", "1,61E+09", "1e+9"]
GROUPED = ["1,614,903,140", "1.614.903.140", "1'614", "1\u202f614"]
ERRORS = ["#N/A", "#NV", "#REF!", "#BEZUG!", "#DIV/0!", "#NAME?", "#¿NOMBRE?", "#####", "Err:502"]


@pytest.mark.parametrize("cell", [*NUMBERS, *GROUPED, *ERRORS])
def test_what_a_spreadsheet_has_damaged_is_refused_with_its_line(written, cell):
    """A number in the place of an ID has lost zeros or digits; an error is no ID, and no password
    of a camera either. In a list that code passes, and in a frame of confkit, it is an ID."""
    problem = "an error of the spreadsheet" if cell in ERRORS else "has made a number of the ID"
    for path in (written(f"room_id;floor\n7;1\n{cell};2\n"), written(f"7\n\n{cell}\n", "a.txt")):
        with pytest.raises(ck.ParameterError, match=f"{path.name}, line 3: .*{problem}"):
            room_ids(path)
    with pytest.raises(ck.ParameterError, match=f"position 1: .*{problem}"):
        room_ids(pd.DataFrame({"room_id": [cell]}))
    rows = f"user_id;login_password\ncam;x\n{cell};x\ncam;{cell}\n"
    _, problems = read_table(written(rows), ("user_id",), ("login_password",))
    damaged = [(3, "user_id"), (4, "login_password")]
    assert [found[:2] for found in problems] == damaged[: 1 + (cell in ERRORS)]
    assert room_ids([cell]).ids == [cell]
    assert room_ids(pd.DataFrame({"room_id": [cell]}, dtype="string")).ids == [cell]


WRONG_FILES = {
    "no header": ("00123\n7\n", "'00123', as if the header were missing"),
    "no header, nor zeros": ("A-1\n", "'A-1', as if the header were missing.*id_column='A-1'"),
    "no header of columns": ("00123,Main\n7,Annex\n", "'00123', as if the header were missing"),
    "two blank IDs": ("room_id,floor\n ,1\n,2\n7,1\n", "line 2: .*missing.* 1 more is wrong"),
    "three": ("room_id,floor\n,1\n,2\n,1\n", "line 2: .* 2 more are wrong"),
    "a cell too many": ("building,room_id\nMain, North,7\n", "line 2: The row has 3 cells"),
    "an open quote": ('room_id,topic\n1,"x"\n2,"Weekly\n3,"Daily"\n', "line 3: .*quote"),
    "an open quote at the end": ('room_id,topic\n1,"x\n', "line 2: .*quote"),
    "an empty file": ("", "empty"),
    "separators alone": (",,\n", "empty"),
    "Windows-1252": ((HEADER + ROW).encode("cp1252"), "line 2: .*UTF-8.*cp1252"),
    "UTF-16 without its mark": ((HEADER + "1,7").encode("utf-16-le"), "zero bytes.*CSV UTF-8"),
    "a workbook": (b"PK\x03\x04\xff\xfe\x00", "is a workbook.*CSV UTF-8"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1", "is a workbook.*CSV UTF-8"),
    "no text in a list": ("7\nBüro\n".encode("cp1252"), "rooms.txt, line 2: "),
    "a table in a list": ("7\nroom_id\tfloor\n", "rooms.txt, line 2: .*tab"),
}


@pytest.mark.parametrize(("text", "match"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_damage_in_a_file_is_named_with_its_line(written, text, match):
    """The error names file and line; no row is left out silently, nor taken for a header: where the
    advice asks for one, it never asks for the first room as a column's name."""
    path = written(text, "rooms.txt" if "rooms.txt" in match else "rooms.csv")
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(path)
    assert ("id_column" in raised.value.advice) == ("id_column" in match)


def test_an_id_from_code_is_never_damaged(client):
    """A room may be called 2.0 by whoever makes it: so it is read by that ID, alone, in a list, and
    in the frames that confkit gives."""
    ids = [ck.create_room(client, "t", "ops", room_extend_id=name) for name in ("2.0", "1.5E+09")]
    assert [ck.get_room(client, room_id).room_id for room_id in ids] == ids
    for source in (ids, ck.known_rooms(client), ck.known_rooms(client)["room_id"]):
        assert list(ck.sweep(client, source).frame().room_id) == ids
    listed = ck.devices_frame([ck.Device(name, name, "Door", f"sip://h/{name}") for name in ids])
    assert list(ck.remove_devices(client, listed).outcome) == ["not there"] * 2


def test_a_list_of_ids_loads_no_pandas(written):
    """Ctrl-C while pandas is imported would be lost; a list and a .txt file need none."""
    path = written("7\n", "rooms.txt")
    code = "import sys; from confkit.tables import room_ids\n"
    code += f"assert room_ids(['7']) == room_ids({str(path)!r}); print('pandas' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "False\n"
