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
    (pd.Index(IDS), None),
    (["00123\r\n", 7, np.int64(7), "7\n", "00124"], None),
    (TABLE, None),
    (TABLE.set_index("room_id", drop=False), None),
    (pd.DataFrame(IDS), None),
    (pd.DataFrame({"room_id": ["a", "b", "c"], "number": IDS}), "number"),
    (pd.DataFrame(zip("abc", IDS, strict=True)), 1),
    (pd.DataFrame(zip(IDS, "abc", strict=True)), 0),
]


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
    """Leading zeros stay, and each ID is there once, whatever holds them."""
    ids = room_ids(source, id_column=column).ids
    assert ids == IDS
    assert {type(room_id) for room_id in ids} == {str}


def test_further_columns_come_along(script, tmp_path):
    """They stand behind ours, with their types, for no rooms too; a frame can be swept again."""
    columns = {"floor": [3, 1, 2, 9], "room_id": ["b", "a", "nowhere", "b"], "topic": list("XYZW")}
    table = pd.DataFrame(columns, index=[7, 7, 8, 9])
    table = pd.concat([table, table.topic.rename(""), table.floor.rename("utilisation")], axis=1)
    client = script(building({"a": ["x"], "b": []})).client()
    sweep, none = ck.sweep(client, table), ck.sweep(client, table.head(0))
    table.loc[7, "topic"] = "changed"
    frame, names = sweep.frame(), ["floor", "topic (given)", "utilisation (given)"]
    assert list(frame.columns[-3:]) == names
    values = frame[["room_id", *names[:2]]].to_numpy().tolist()
    assert values == [["b", 3, "X"], ["a", 1, "Y"], ["nowhere", 2, "Z"]]
    assert none.frame().dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
    for _ in range(2):
        frame = ck.sweep(client, ck.occupancy_frame(ck.sweep(client, frame))).frame()
    assert frame.columns.is_unique
    frame.to_parquet(tmp_path / "again.parquet")


# Files of rooms and of devices

HEADER, ROW = "floor,room_id,name,note\n", "NA,00123,Tür,null"
QUOTED = ",".join(f'"{cell}"' for cell in ROW.split(","))
FILES = {
    "byte-order mark": "\ufeff" + HEADER + ROW + "\n",
    **{f"separator {mark!r}": (HEADER + ROW).replace(",", mark) for mark in ";\t|"},
    "Excel's own line": "sep=;\r\n" + (HEADER + ROW).replace(",", ";"),
    "Excel's own line of a rare mark": "sep=^\n" + (HEADER + ROW).replace(",", "^"),
    "CRLF": (HEADER + ROW).replace("\n", "\r\n") + "\r\n",
    "UTF-16": ("\ufeff" + HEADER + ROW).encode("utf-16-le"),
    "spaces after commas": (HEADER + QUOTED).replace(",", ", "),
    "spaces around names": HEADER.replace("room_id", " room_id ") + ROW,
    "empty lines": f"\n{HEADER}\n{ROW}\n\n,,,\n\n",
    "each line in quotes": f'"{HEADER[:-1]}"\n"{ROW}"\n',
    "each line in quotes, cells too": f'"{HEADER[:-1]}"\n"{QUOTED.replace(chr(34), chr(34) * 2)}"',
    "separators at the end": HEADER[:-1] + ",\n" + ROW + ",,,\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_usual_form_of_a_file_gives_the_same_cells(written, text):
    ids, columns = room_ids(str(written(text)))
    assert (ids, set(columns.dtypes.astype(str))) == (["00123"], {"string"})
    assert columns[["floor", "name", "note"]].to_numpy().tolist() == [["NA", "Tür", "null"]]
    [(_, cells)], problems = read_table(written(text), ("room_id", "floor"), ("name", "note"))
    expected = {"room_id": "00123", "floor": "NA", "name": "Tür", "note": "null"}
    assert (cells, problems) == (expected, [])


def test_rows_keep_their_lines_order_and_cells(written):
    """Empty lines and lines inside a cell count; of a doubled room the first row counts."""
    path = written((HEADER + '\n,1,"a\nb"\n' + ROW).encode("cp1252"))
    rows, problems = read_table(path, ("room_id",), ("name",), "cp1252")
    assert rows == [(3, {"room_id": "1", "name": "a\nb"}), (5, {"room_id": "00123", "name": "Tür"})]
    assert problems == []
    text = HEADER + '1,00123,"Door, ""north""\nwing",03\n\n,7\n,00124,Main\n9,7,Elsewhere\n'
    ids, columns = room_ids(written(text))
    assert ids == IDS
    assert columns.fillna("-").to_dict("list") == {
        "floor": ["1", "-", "-"],
        "name": ['Door, "north"\nwing', "-", "Main"],
        "note": ["03", "-", "-"],
    }


LIST = "# our rooms\n00123\n\n  7  \n#8\n00124\nroom 9, top # not a comment\n"
LISTS = [  # a text, the file's name, and its IDs
    *((LIST.encode(code), "rooms.txt", [*IDS, "room 9, top # not a comment"])
      for code in ("utf-8-sig", "utf-16")),
    ("", "rooms.txt", []),
    ("room_id\tfloor\n00123\t1\n", "rooms.txt", ["00123"]),
    ("Room number\n00123\n 7 \n00124\n", "rooms.csv", IDS),
    ("Room number\n", "rooms.csv", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "ids"), LISTS)
def test_a_file_of_ids_alone(written, text, name, ids):
    """The only column, whatever it is called; a .txt file without tabs has one ID a line."""
    assert room_ids(written(text, name)).ids == ids


# Cells that a spreadsheet has damaged; in a column of IDs, or in any.
NUMBERS = ["1001.0", "1614903140,0", "1,61E+09", "1e+9", "1,614,903,140", "1.614.903.140", "1'614"]
ERRORS = ["#N/A", "#NV", "#BEZUG!", "#DIV/0!", "#NAME?", "#¿NOMBRE?", "#####", "Err:502"]


@pytest.mark.parametrize("cell", [*NUMBERS, *ERRORS])
def test_what_a_spreadsheet_has_damaged_is_refused_with_its_line(written, cell):
    """An error is no password of a camera either. In a list, and in a frame of confkit, it is an
    ID, as code has made it."""
    problem = "a spreadsheet error" if cell in ERRORS else "has turned the ID into a number"
    for path in (written(f"room_id;floor\n7;1\n{cell};2\n"), written(f"7\n\n{cell}\n", "a.txt")):
        with pytest.raises(ck.ParameterError, match=f"{path.name}, line 3: .*{problem}"):
            room_ids(path)
    with pytest.raises(ck.ParameterError, match=f"position 1: .*{problem}"):
        room_ids(pd.DataFrame({"room_id": [cell]}))
    rows = f"user_id;login_password\ncam;x\n{cell};x\ncam;{cell}\n"
    _, problems = read_table(written(rows), ("user_id",), ("login_password",))
    damaged = [(3, "user_id"), (4, "login_password")]
    assert [problem[:2] for problem in problems] == damaged[: 1 + (cell in ERRORS)]
    assert room_ids([cell]).ids == [cell]
    assert room_ids(pd.DataFrame({"room_id": [cell]}, dtype="string")).ids == [cell]


MISSING = "position 2: The room ID is missing"
RAUM = pd.DataFrame({"Raum": ["1"], "Etage": ["2"]})
REFUSED = {
    "floats": (pd.Series([12, None]), "position 1: room_id is 12.0.*zeros.*1 more"),
    "None": (["7", None], MISSING),
    "NA": (pd.Series([7, pd.NA], dtype="Int64"), MISSING),
    "blanks": (["7", " \t"], "position 2"),
    "a lone surrogate": (["7", "a\ud800"], "position 2: .*surrogate"),
    "a camera": (["1", "rtsp://admin:hunter2@h/x"], "position 2: .*an address with a login"),
    "a dict": ({"7": 1}, "type dict.*list"),
    "a table of Arrow": (pa.Table.from_pydict({"room_id": ["1"]}), "of type Table.*pandas"),
    "no column named": (RAUM, "no column 'room_id'.*id_column=.*'Raum', 'Etage'"),
    "an index beside": (RAUM.set_index("Raum"), "no column 'room_id'.*id_column.*'Raum', 'Etage'"),
    "twice": (pd.DataFrame([["1", "2"]], columns=["room_id"] * 2), "two col.*'room_id'.*id_column"),
    "a path": ("00123", "There is no file '00123'.*pass a list"),
    "what is no path": ("9" * 5000, "There is no file"),
}
REFUSED_FILES = {
    "no header": ("00123\n7\n", "'00123'; is the header missing"),
    "no header, nor zeros": ("A-1\n", "'A-1'; is the header missing.*id_column='A-1'"),
    "three": ("room_id,floor\n,1\n,2\n,1\n", "line 2: .* 2 more problems: lines 3, 4"),
    "a cell too many": ("building,room_id\nMain, North,7\n", "line 2: The row has 3 cells"),
    "an open quote": ('room_id,topic\n1,"x"\n2,"Weekly\n3,"Daily"\n', "line 3: .*quote"),
    "an empty file": ("", "empty"),
    "Windows-1252": ((HEADER + ROW).encode("cp1252"), "line 2: .*UTF-8.*cp1252"),
    "UTF-16 without its mark": ((HEADER + "1,7").encode("utf-16-le"), "zero bytes.*CSV UTF-8"),
    "a workbook": (b"PK\x03\x04\xff\xfe\x00", "is a workbook.*CSV UTF-8"),
    "no text in a list": ("7\nBüro\n".encode("cp1252"), "rooms.txt, line 2: "),
    "a table in a list": ("7\nroom_id\tfloor\n", "'7'; is the header missing"),
}


@pytest.mark.parametrize(("source", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_id_is_refused_with_its_position(source, match):
    """Briefly; the advice never asks for the first room as a column's name."""
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(source)
    assert re.search("[^ ] Nothing was sent", str(raised.value))
    assert len(str(raised.value)) < 400
    assert "hunter2" not in str(raised.value)
    assert ("id_column" in raised.value.advice) == ("id_column" in match)


@pytest.mark.parametrize(("text", "match"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_damage_in_a_file_is_named_with_its_line(written, text, match):
    """No row is left out silently, nor taken for a header."""
    path = written(text, "rooms.txt" if "rooms.txt" in match else "rooms.csv")
    test_what_is_no_id_is_refused_with_its_position(path, match)


def test_an_id_from_code_is_never_damaged(client):
    """A room may be called 2.0: it is read by that ID, alone, in a list, and in our frames."""
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
