"""Tables of devices: read as they were meant, or refused with every problem named."""

import pandas as pd
import pytest

import confkit as ck
from confkit.bulk.table import read_devices

HEADER = "room_id,user_id,user_name,user_address,login_name,login_password,user_data\n"
ADDRESS = "rtsp://192.0.2.7/s"


def written(folder, text):
    path = folder / "cameras.csv"
    path.write_text(text, "utf-8")
    return path


def frame(**columns):
    """A table of one good row, but for these columns."""
    row = {"room_id": "1", "user_id": "cam", "user_name": "Door", "user_address": ADDRESS}
    cells = {name: [value] for name, value in {**row, **columns}.items()}
    return pd.DataFrame(cells, dtype=object)


ROW = f"1,c,D,{ADDRESS}"
# A file, and the row, the column and a part of its only problem.
WRONG_FILES = [
    ("room_id,user_id,user_name\n1,c,D\n", None, "user_address", "missing"),
    (HEADER.replace("password", "pasword"), None, "login_pasword", "mean login_password"),
    (f"{HEADER}1.23457E+11,c,D,{ADDRESS}", 2, "room_id", "rounded"),
    (f"{HEADER}1,c,D,192.0.2.7/s", 2, "user_address", "not a valid address"),
    (f"{HEADER}1,c,D,rtsp://u:ge#heim@192.0.2.7/", 2, "user_address", "%23"),
    (f"{HEADER}{ROW},admin,", 2, "login_password", "login_name is not"),
    (f"{HEADER}{ROW},admin,NULL", 2, "login_password", "no value"),
    (f"username,{HEADER}admin,{ROW},,geheim", 2, "login_name", "login_password is not"),
    (f"{HEADER}1,c,D,rtsp://u:geheim@h/,u,geheim2", 2, "user_address", "differs from the one"),
    (f"{HEADER}{ROW}\n\n2,c,D,{ADDRESS}", 4, "user_id", "Row 2"),
    (f"{HEADER}{ROW}\n1,d,D,rtsp://u:geheim@192.0.2.7:554/s", 3, "user_address", "Row 2"),
    (f"options,{HEADER}[1],{ROW}", 2, "options", "not a JSON object"),
]
WRONG_CELLS = [
    ("room_id", 1047.0, "Read the column as text"),  # a digit may be lost
    ("login_password", 471147, "is not text"),
]


@pytest.mark.parametrize(("text", "row", "column", "part"), WRONG_FILES)
def test_a_mistake_in_a_file_is_named_with_its_row_and_column(tmp_path, text, row, column, part):
    """It shows no password."""
    [problem] = read_devices(written(tmp_path, text))[1]
    assert problem[:2] == (row, column)
    assert part in problem.problem
    assert "geheim" not in problem.problem


@pytest.mark.parametrize(("column", "cell", "part"), WRONG_CELLS)
def test_a_wrong_cell_of_a_frame_is_named_by_position(column, cell, part):
    table = frame(**{column: cell}).set_index(pd.Index(["x"]))
    [(row, named, problem)] = read_devices(table)[1]
    assert (row, named) == (1, column)
    assert part in problem
    assert "471147" not in problem


def test_whatever_a_device_has_may_stand_in_a_table():
    for columns in (
        {"user_address": "sip://192.0.2.7/s"},
        # Some cameras have no password: only an address can say so.
        {"user_address": "rtsp://admin:@192.0.2.7/s", "login_name": "admin"},
        dict.fromkeys(("login_name", "login_password", "user_data"), pd.NA),
        {"room_id": 1, "options": '{"codec": "h264"}'},
    ):
        [(_, device)], problems = read_devices(frame(**columns))
        assert problems == []
        assert (device.room_id, device.user_data, device.login_password) == ("1", "", None)


def test_a_devices_frame_with_its_secrets_can_be_imported_again():
    """A masked one is refused."""
    device = ck.Device("1", "cam", "Door", ADDRESS, "x", {"login_password": "geheim", "more": [1]})
    assert read_devices(ck.devices_frame(device, secrets=True)) == ([(1, device)], [])
    [(row, column, problem)] = read_devices(ck.devices_frame(device))[1]
    assert (row, column) == (1, "options")
    assert "masked" in problem


def test_all_problems_are_named_at_once_and_nothing_is_sent(script, tmp_path):
    service = script()
    rows = "".join(f"{i},,D{i},rtsp://h/{i},,p{i} \n\n" for i in range(12))
    with pytest.raises(ck.TableError) as raised:
        ck.import_devices(service.client(), written(tmp_path, HEADER + rows))
    error = raised.value
    assert "24 problems" in str(error)
    assert "row 2 (user_id): The cell is empty." in str(error)
    assert len(error.problems) == 24
    assert not service.requests
