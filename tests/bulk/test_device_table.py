"""Tables of devices: read as they were meant, or refused as a whole with every problem named."""

import io

import pandas as pd
import pytest

import confkit as ck
from confkit.bulk.device_table import device_rows
from tests.secrets.surfaces import everything_of

HEADER = "room_id,user_id,user_name,user_address,login_name,login_password,user_data\n"
ADDRESS = "rtsp://192.0.2.7/s"
PASSWORD = "p@:/#%w"


@pytest.fixture
def written(tmp_path):
    """Writes a file: written(text, encoding) gives its path."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "cameras.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def frame(**columns):
    """A table of one good row, but for these columns."""
    row = {"room_id": "1", "user_id": "cam", "user_name": "Door", "user_address": ADDRESS}
    cells = {name: [value] for name, value in {**row, **columns}.items()}
    return pd.DataFrame(cells, dtype=object)


def problems(table, **options):
    """The problems of a table as (row, column, text)."""
    return [tuple(problem) for problem in device_rows(table, **options)[1]]


def only_device(table, **options):
    """The one device of a table that has no problems."""
    [row], wrong = device_rows(table, **options)
    assert wrong == []
    return row.device


def told_of(error):
    """All that a person could be shown of an error, but for the frame of the test itself."""
    return everything_of(error.with_traceback(error.__traceback__.tb_next))


ROW = f"00123,NA,Tür,{ADDRESS},null,{PASSWORD},x"


WRONG_FILES = {
    "room_id,user_id,user_name\n1,c,D\n": (None, "user_address", "missing"),
    f"roomId,user_id,user_name,user_address\n1,c,D,{ADDRESS}": (None, "room_id", "'roomId'"),
    f"{HEADER.replace('login_password', 'login_pasword')}1,c,D,{ADDRESS}": (
        None,
        "login_pasword",
        "looks like login_password",
    ),
    f"{HEADER.replace('user_data', 'user_id')}1,c,D,{ADDRESS}": (None, "user_id", "twice"),
    f"{HEADER}1,c,D,{ADDRESS},a,b,x,c": (2, None, "8 cells and the header 7"),
    f'{HEADER}1,c,"D,{ADDRESS}\n1,d,D,{ADDRESS}': (2, None, "quote"),
    f"{HEADER}1, ,D,{ADDRESS}": (2, "user_id", "empty"),
    f"{HEADER}1.23457E+11,c,D,{ADDRESS}": (2, "room_id", "rounded"),
    f"{HEADER}1,c,D,192.0.2.7/s": (2, "user_address", "not an address"),
    f"{HEADER}1,c,D,rtsp://192.0.2.7/a b": (2, "user_address", "space"),
    f"{HEADER}1,c,D,rtsp://u:ge#heim@192.0.2.7/": (2, "user_address", "%23"),
    f"{HEADER}1,c,D,rtsp://u:***@192.0.2.7/": (2, "user_address", "masked"),
    f"{HEADER}1,c,D,{ADDRESS},admin,geheim ": (2, "login_password", "white space"),
    f"{HEADER}1,c,D,{ADDRESS},admin,***": (2, "options", "masked"),
    f"{HEADER}1,c,D,{ADDRESS},,,pass: ***": (2, "user_data", "masked"),
    f"{HEADER}1,c,D,{ADDRESS},admin,": (2, "login_password", "login_name is not"),
    f"{HEADER}1,c,D,http://u:geheim@192.0.2.7/": (2, "user_address", "rtsp://, rtsps://, sip://"),
    f"{HEADER}1,c,D,rtsp://u:geheim@192.0.2.7/,admin,geheim": (2, "login_name", "not the one"),
    f"{HEADER}1,c,D,rtsp://u:geheim@192.0.2.7/,u,geheim2": (2, "login_password", "not the one"),
    f"{HEADER}1,c,D,{ADDRESS}\n2,c,D,{ADDRESS}": (3, "user_id", "Row 2"),
    f"{HEADER}1,c,D,{ADDRESS}\n1,d,D,rtsp://u:geheim@192.0.2.7:554/s": (
        3,
        "user_address",
        "Row 2",
    ),
    "options," + HEADER + f"[1],1,c,D,{ADDRESS}": (2, "options", "not a JSON object"),
}


@pytest.mark.parametrize("text", WRONG_FILES)
def test_what_is_wrong_in_a_file_is_named_with_its_row_and_column(written, text):
    """Each mistake is one problem, at its place, in a sentence, and shows no password."""
    row, column, part = WRONG_FILES[text]
    [found] = problems(written(text))
    assert found[:2] == (row, column)
    assert part in found[2]
    assert "geheim" not in found[2]


def test_a_file_without_a_header_shows_nothing_of_its_first_row(written):
    """The columns are missing; the cells that stand in their place may be secret."""
    found = problems(written(f"1,cam,Door,{ADDRESS},admin,geheim\n"))
    assert [column for _, column, _ in found] == ["room_id", "user_id", "user_name", "user_address"]
    assert "geheim" not in str(found)


def test_the_text_of_a_file_is_not_taken_for_its_path(client):
    """Who gives the CSV text itself is told so, without a word of it."""
    with pytest.raises(ck.TableError, match="path of a CSV file") as raised:
        ck.import_devices(client, f"{HEADER}1,c,D,{ADDRESS},admin,geheim")
    assert "geheim" not in told_of(raised.value)
    with pytest.raises(FileNotFoundError):
        ck.import_devices(client, "nowhere.csv")
    with pytest.raises(TypeError, match="DataFrame or the path"):
        ck.import_devices(client, [{"room_id": "1"}])


def test_a_file_that_is_open_is_read_as_it_stands(written):
    """What was pasted or uploaded needs no path; its rows have the numbers of their lines."""
    with written("\n" + HEADER + ROW, "utf-8-sig").open(encoding="utf-8") as opened:
        [row], wrong = device_rows(opened)
    assert (row.row, row.device, wrong) == (3, only_device(io.StringIO(HEADER + ROW)), [])
    assert problems(io.StringIO(""))[0][2].startswith("The file is empty.")
    assert device_rows(io.StringIO(HEADER)) == device_rows(frame().head(0)) == ([], [])


MISSING = [None, float("nan"), pd.NA, pd.NaT, ""]


@pytest.mark.parametrize(
    ("column", "cell", "part"),
    [
        ("room_id", 1047.0, "Read the column as text"),  # a digit may be lost
        ("login_password", 471147, "is not a text"),
        ("user_name", "\ud800", "half a character"),
        ("options", '{"a": 1', "not a JSON object"),
        *(("user_id", missing, "The cell is empty.") for missing in MISSING),
    ],
)
def test_a_wrong_cell_of_a_frame_is_named(column, cell, part):
    """What cannot travel as it was meant is found before anything is sent, and not quoted."""
    [(row, named, text)] = problems(frame(**{column: cell}))
    assert (row, named) == (1, column)
    assert part in text
    assert "471147" not in text


@pytest.mark.parametrize(
    "columns",
    [
        *({"user_address": f"{one}://192.0.2.7/s"} for one in ("RTSPS", "sip", "h323")),
        # Some cameras have no password: only an address can say so.
        {"user_address": "rtsp://admin:@192.0.2.7/s", "login_name": "admin"},
        {"user_address": "rtsp://admin:geheim@192.0.2.7/s", "login_name": "admin"},
        *(dict.fromkeys(("login_name", "login_password", "user_data"), one) for one in MISSING),
        {"room_id": 1, "options": '{"codec": "h264"}'},
    ],
)
def test_whatever_a_device_has_may_stand_in_a_table(columns):
    """Cameras and conferencing terminals, logins in their addresses, whole numbers as IDs, and what
    pandas takes for missing."""
    device = only_device(frame(**columns))
    assert (device.room_id, device.user_data, device.login_password) == ("1", "", None)


def test_rows_of_a_frame_are_numbered_by_position():
    """Whatever the index says, the first row is 1; other columns and names do not matter."""
    table = pd.concat([frame(), frame(user_id="", user_address="rtsp://192.0.2.8/s")])
    table.index = pd.Index(["x", "x"])
    table[7] = "unrelated"
    assert [found[:2] for found in problems(table)] == [(2, "user_id")]


def test_a_devices_frame_with_its_secrets_can_be_imported_again():
    """What devices_frame gives is a table: its options come along, and a masked one is refused."""
    device = ck.Device("1", "cam", "Door", ADDRESS, "x", {"login_password": "geheim", "more": [1]})
    assert only_device(ck.devices_frame(device, secrets=True)) == device
    [(row, column, text)] = problems(ck.devices_frame(device))
    assert (row, column) == (1, "options")
    assert "masked" in text


def test_all_problems_come_at_once_and_nothing_is_sent(script, written):
    """The error is a ValueError that shows the first twenty and holds all of them."""
    service = script()
    rows = "".join(f"{i},,D{i},rtsp://h/{i},,p{i} \n\n" for i in range(12))
    with pytest.raises(ck.TableError) as raised:
        ck.import_devices(service.client(), written(HEADER + rows))
    error = raised.value
    assert isinstance(error, ValueError | ck.ParameterError)
    head, first, *_, last = str(error).splitlines()[:22]
    assert "24 problems" in head
    assert "row 2, user_id: The cell is empty." in first
    assert "and 4 more" in last
    assert list(pd.DataFrame(error.problems).columns) == ["row", "column", "problem"]
    assert len(error.problems) == 24
    assert not service.requests


def test_an_encoding_that_is_none_is_a_problem_of_the_table(client, written):
    """It is named, and no traceback holds the file's passwords."""
    with pytest.raises(ck.TableError, match="no encoding 'utf-9'"):
        ck.import_devices(client, written(HEADER + ROW), encoding="utf-9")
