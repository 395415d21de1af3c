"""CSV files as people have them: read as they were meant, whatever program wrote them."""

import pytest

from confkit.many.tables import read_table

NAMES = ("room_id", "user_id", "user_name", "user_address", "login_name", "login_password")
HEADER = ",".join([*NAMES, "user_data"]) + "\n"
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


def read(path, encoding=None):
    """The numbered rows of a file that has no problems."""
    rows, problems = read_table(path, NAMES, ("user_data",), encoding)
    assert problems == []
    return rows


ROW = f"00123,NA,Tür,{ADDRESS},null,{PASSWORD},x"
FORMS = {
    "plain": HEADER + ROW,
    "byte-order mark": "\ufeff" + HEADER + ROW + "\n",
    "semicolons": (HEADER + ROW).replace(",", ";"),
    "tabs": (HEADER + ROW).replace(",", "\t"),
    "CRLF": (HEADER + ROW).replace("\n", "\r\n") + "\r\n",
    "CR": (HEADER + ROW).replace("\n", "\r"),
    "spaces after commas": (HEADER + ROW).replace(",", ", "),
    "spaces around names": HEADER.replace("room_id", " room_id ") + ROW,
    "empty lines": f"\n{HEADER}\n{ROW}\n\n,,,,,,\n\n",
    "quotes": HEADER + ",".join(f'"{cell}"' for cell in ROW.split(",")),
    "another order": f"login_password,user_address,user_name,user_id,room_id,login_name,user_data\n"
    f"{PASSWORD},{ADDRESS},Tür,NA,00123,null,x\n",
    "more columns": HEADER[:-1] + ",floor,serial number\n" + ROW + ",3,0815\n",
    "separators at the end": HEADER[:-1] + ",\n" + ROW + ",,,\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_usual_form_of_a_file_gives_the_same_cells(written, form):
    """However a spreadsheet writes the file, IDs stay text and every cell comes as it was meant."""
    [(_, cells)] = read(written(FORMS[form]))
    assert list(cells) == [*NAMES, "user_data"]
    assert list(cells.values()) == ["00123", "NA", "Tür", ADDRESS, "null", PASSWORD, "x"]


def test_encodings_are_read_when_they_are_certain_or_named(written):
    """UTF-16 has its mark; Windows-1252 is taken when it is named, and refused, not guessed."""
    assert read(written(FORMS["tabs"], "utf-16"))[0][1]["user_name"] == "Tür"
    path = written(FORMS["semicolons"], "cp1252")
    assert read(path, "cp1252")[0][1]["user_name"] == "Tür"
    [problem] = read_table(path, NAMES, ())[1]
    assert problem[:2] == (2, None)
    assert "UTF-8" in problem.problem
    assert 'encoding="cp1252"' in problem.problem


def test_a_quoted_cell_may_hold_separators_quotes_and_lines(written):
    """A name of two lines is one name, and rows are numbered by the lines of the file."""
    text = HEADER + f'1,a,"Door, ""north""\nwing",{ADDRESS}\n\n1,b,Gate,rtsp://192.0.2.8/s\n'
    rows = [(number, cells["user_name"]) for number, cells in read(written(text))]
    assert rows == [(2, 'Door, "north"\nwing'), (5, "Gate")]


def test_cells_that_excel_leaves_out_at_the_end_of_a_row_are_empty(written):
    """A row may end before the optional columns."""
    [(_, cells)] = read(written(f"{HEADER}1,cam,Door,{ADDRESS}\n"))
    assert not any(cells[name] for name in ("login_name", "login_password", "user_data"))


def test_a_text_with_zeros_or_a_workbook_is_no_csv_file(written):
    """UTF-16 without its mark, and an Excel workbook, are refused with what to do."""
    for raw in (HEADER.encode("utf-16-le"), b"PK\x03\x04\xff\xfe\x00"):
        [(_, _, text)] = read_table(written(raw), NAMES, ())[1]
        assert "CSV UTF-8" in text
