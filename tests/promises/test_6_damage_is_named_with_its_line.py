"""Tables as people have them: which IDs and rows are read, which are refused, and why."""

import io

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.tables import read_table, room_ids

IDS = ["00123", "7", "00124"]
TABLE = pd.DataFrame({"floor": [1, 2, 3], "room_id": IDS})
FORMS = [  # with the column that is named
    ((room_id for room_id in IDS), None),
    (["00123\r\n", 7, np.int64(7), "7\n", "00124"], None),
    (TABLE, None),
    (TABLE["room_id"].unique(), None),
    (TABLE["room_id"].astype(object) + "\u00a0", None),
    (pd.Categorical(IDS), None),
    (TABLE.set_index("room_id"), None),
    (pd.DataFrame({"room_id": ["a", "b", "c"], "number": IDS}), "number"),
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
    assert room_ids(source, id_column=column) == IDS


HEADER, ROW = "floor,room_id,name,note\n", "NA,00123,Tür,null"
FILES = {
    **{f"separator {mark!r}": (HEADER + ROW).replace(",", mark) for mark in ";\t|"},
    "Excel's own line": "sep=;\r\n" + (HEADER + ROW).replace(",", ";"),
    "UTF-16": ("\ufeff" + HEADER + ROW).encode("utf-16-le"),
    "empty lines": f"\n{HEADER.replace('room_id', 'Room ID')}\n{ROW}\n\n,,,\n\n",
    "a line end in a name": '"floor";"Room\nID";name;note\nNA;00123;Tür;null',
    "PowerShell's own line": "#TYPE System.Data.DataRow\r\n" + HEADER + ROW,
    "each line in quotes": f'"{HEADER[:-1]}"\n"{ROW}"\n',
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_every_usual_form_of_a_file_gives_the_same_cells(written, text):
    assert room_ids(str(written(text))) == ["00123"]
    [(_, cells)], problems = read_table(written(text), ("room_id", "floor"), ("name", "note"))
    expected = {"room_id": "00123", "floor": "NA", "name": "Tür", "note": "null"}
    assert (cells, problems) == (expected, [])


def test_a_file_of_ids_alone(written):
    """A .txt file has one ID a line; an only column may be called as it likes."""
    assert room_ids(written("# our rooms\n00123 # hall\n\n  7\t\n#8\n00124\n", "rooms.txt")) == IDS
    assert room_ids(written("Room number\n00123\n 7 \n00124\n")) == IDS


# Cells that a spreadsheet has damaged; in a column of IDs, or in any.
NUMBERS = ["1001.0", "1,61E+09", "1,614,903,140"]
ERRORS = ["#N/A", "#####", "#N/D!", "#NENÍ_K_DISPOZICI"]


@pytest.mark.parametrize("cell", [*NUMBERS, *ERRORS])
def test_what_a_spreadsheet_has_damaged_is_refused_with_its_line(written, cell):
    """An error is no password of a camera either. In a list it is an ID, as code has made it."""
    problem = "a spreadsheet error" if cell in ERRORS else "has turned the ID into a number"
    for path in (written(f"room_id;floor\n7;1\n{cell};2\n"), written(f"7\n\n{cell}\n", "a.txt")):
        with pytest.raises(ck.ParameterError, match=f"{path.name}, line 3: .*{problem}"):
            room_ids(path)
    with pytest.raises(ck.ParameterError, match=f"position 1: .*{problem}"):
        room_ids(pd.DataFrame({"room_id": [cell]}))
    rows = f"user_id;login_password\ncam;x\n{cell};x\ncam;{cell}\n"
    _, problems = read_table(written(rows), ("user_id",), ("login_password",))
    damaged = [(3, "user_id"), (4, "login_password")]
    lost = cell in ERRORS or "E+" in cell
    assert [problem[:2] for problem in problems] == damaged[: 1 + lost]
    assert room_ids([cell]) == [cell]


REFUSED = {
    "floats": (pd.Series([12, None]), "position 1: room_id is 12.0.*zeros.*1 more"),
    "a camera": (["1", "rtsp://admin:hunter2@h/x"], "position 2: .*an address with a login"),
    "an upload": (memoryview(b"room_id\n7\n"), "of type memoryview.*the path of a file"),
    "an open file": (io.StringIO("room_id\n7\n"), "of type StringIO"),
    "counts": (TABLE.groupby("room_id")["floor"].max(), "Pass its index"),
    "no column": (pd.DataFrame({"A": ["1"], "B": ["2"]}), "no column 'room_id'.*id_column=.*'A'"),
}
REFUSED_FILES = {
    "no header": ("00123\n7\n", "no column 'room_id'.*header.*may be a row"),
    "a cell too many": ("building,room_id\nMain, North,7\n", "line 2: The row has 3 cells"),
    "a header again": ("sep=;\nroom_id\n7\nroom_id\n", "line 4: The header is repeated"),
    "an apostrophe": ("room_id,x\n'0012,1\n", "line 2: .*apostrophe"),
    "two separators": ("room_id\n7;\n", "line 2: .*separator"),
    "a full-width comma": ("room_id\n7\uff0cx\n", "line 2: .*separator"),
    "a comment": ("room_id\n# closed\n7\n", "line 2: The line is a comment"),
    "JSON": ('[\n  {"room_id": "7"}\n]', "JSON"),
    "a web page": ("<table><tr><td>0012</td></tr></table>", "a web page"),
    "an open quote": ('room_id,topic\n1,"x"\n2,"Weekly\n3,"Daily"\n', "line 3: .*quote"),
    "Windows-1252": ((HEADER + ROW).encode("cp1252"), "line 2: .*UTF-8.*cp1252"),
}


@pytest.mark.parametrize(("source", "match"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_id_is_refused_with_its_position(source, match):
    with pytest.raises(ck.ParameterError, match=match) as raised:
        room_ids(source)
    assert "Nothing was sent" in str(raised.value)


@pytest.mark.parametrize(("text", "match"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_damage_in_a_file_is_named_with_its_line(written, text, match):
    """No row is left out silently, nor taken for a header."""
    test_what_is_no_id_is_refused_with_its_position(written(text), match)


def test_an_id_from_code_is_never_damaged(client):
    """A room may be called 2.0: it is read by that ID, in a list and in our frames."""
    ids = [ck.create_room(client, "t", "ops", room_extend_id=name) for name in ("2.0", "1.5E+09")]
    for source in (ids, ck.known_rooms(client), ck.known_rooms(client)["room_id"]):
        assert list(ck.sweep(client, source).frame().room_id) == ids
