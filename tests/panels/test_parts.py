"""The parts of panels without a browser: fields, views and tables, and what no notebook saves."""

import pandas as pd
import pytest

import confkit as ck
from confkit.panels.arranging import fields
from confkit.panels.parts import Bar, Column, Field, Mark, Table, View


def test_what_is_typed_into_a_field_is_in_no_state_of_the_widget():
    """Python has it, the browser's saved state has not; clearing forgets it."""
    field = Field("Password")
    field._hear(None, {"kind": "typed", "text": "hunter2"}, [])
    assert field.text == "hunter2"
    assert "hunter2" not in repr(field.text)
    assert "hunter2" not in f"{field.get_state()} {field!r} {field.__dict__}"
    field.fill("other-secret")
    assert field.text == "other-secret"
    assert "other-secret" not in f"{field.get_state()} {field!r}"
    field.clear()
    assert field.text is None


def test_a_field_shows_what_code_filled_in_only_where_it_may_and_never_a_login():
    """The page gets the text as a message, also one opened later; the state never has it."""
    for shows, text, told in (
        (True, "rtsp://h/1", 1),
        (True, "rtsp://u:pw@h/1", 0),
        (False, "rtsp://h/1", 0),
    ):
        field, sent = Field("Address", "text", shows=shows), []
        field.send = lambda content, buffers=None, sent=sent: sent.append(content)
        field.fill(text)
        field._hear(None, {"kind": "filled"}, [])
        assert [one["text"] for one in sent if one["kind"] == "fill"] == [text] * 2 * told
        assert text not in str(field.get_state())


@pytest.mark.parametrize(
    ("whole", "text"),
    [("café".encode(), "café"), (b"\xef\xbb\xbfcaf", "caf"), ("café".encode("cp1252"), "café")],
)
def test_a_chosen_file_is_read_as_text(whole, text):
    """UTF-8, with a mark or without, and what spreadsheets write otherwise."""
    field = Field("Table", "file", ".csv")
    field._hear(None, {"kind": "file", "name": "rooms.csv"}, [memoryview(whole)])
    assert (field.text, field.name) == (text, "rooms.csv")
    assert text not in str(field.get_state())
    field._hear(None, {"kind": "file", "name": "empty.csv"}, [])
    assert field.text is None


def test_a_view_is_in_no_state_and_is_sent_to_who_opens_it_later():
    """The HTML goes by message; a page that opens asks for all there is."""
    view = View("Token")
    sent = []
    view.send = lambda content, buffers=None: sent.append(content)
    view.html = "<pre>abc</pre>"
    assert sent.pop() == {"kind": "shown", "values": {"html": "<pre>abc</pre>"}, "whole": False}
    view._hear(None, {"kind": "ready"}, [])
    values = {"label": "Token", "html": "<pre>abc</pre>"}
    assert sent == [{"kind": "shown", "values": values, "whole": True}]
    assert "abc" not in str(view.get_state())


@pytest.fixture
def table():
    columns = [
        Column("room_id", "Room"),
        Column("users", "Users", right=True),
        Column("state", "State", lambda row: Mark(row["state"], "good") if row["state"] else None),
        Column("share", "Use", lambda row: Bar(f"{row['users']} of 9", row["share"], "free")),
        Column("absent", "Never there"),
    ]
    made = Table("Rooms", "room_id", columns, what="rooms")
    made.show(frame(120))
    return made


def frame(rows):
    return pd.DataFrame(
        {
            "room_id": pd.array([f"{1000 + n}" for n in range(rows)], dtype="string"),
            "users": pd.array([None if n % 10 == 3 else n * 7 % 11 for n in range(rows)], "Int64"),
            "state": pd.array([None if n % 2 else "opening" for n in range(rows)], dtype="string"),
            "share": [0.5] * rows,
        }
    )


def test_a_table_sends_one_page_and_says_how_many_there_are(table):
    """Fifty rows of 120, the columns that the frame has, missing values as missing."""
    assert len(table.rows) == 50
    assert (table.page, table.pages, table.told) == (0, 3, "120 rooms")
    assert [column[0] for column in table.columns] == ["room_id", "users", "state", "share"]
    assert table.rows[0][1][0] == "1000"
    assert table.rows[3][1][1] is None, "a missing number is no zero"
    assert table.rows[1][1][2] is None
    assert table.rows[0][1][2] == {"text": "opening", "tone": "good"}
    assert table.visible[:2] == ["1000", "1001"]


def test_a_table_sorts_all_rows_and_puts_missing_ones_last(table):
    """Numbers downwards first and texts upwards, the other way at the second click, the first page
    each time."""
    table.turn(2)
    table._hear(None, {"kind": "sort", "column": "users"}, [])
    assert (table.page, table.sorted) == (0, ["users", True])
    assert table.rows[0][1][1] == "10"
    table._hear(None, {"kind": "sort", "column": "users"}, [])
    assert table.rows[0][1][1] == "0"
    table.turn(2)
    assert table.rows[-1][1][1] is None
    with pytest.raises(ck.ConfigError, match="There are room_id, users"):
        table.sort("no such column")
    for message in ({"kind": "sort", "column": "nope"}, {"kind": "sort"}, {"kind": "page"}):
        table._hear(None, message, [])
    assert table.sorted == ["users", False]
    table.sort("room_id")
    assert table.sorted == ["room_id", False]


@pytest.mark.parametrize("names", [["users", "room_id"], [], ["nope"], None, "users", [7, {}]])
def test_columns_are_chosen_among_those_that_there_are(table, names):
    """In the order of the table; without any of them the usual ones are shown."""
    table._hear(None, {"kind": "columns", "names": names}, [])
    assert table.picked == (["room_id", "users"] if names and "room_id" in names else [])


def test_pages_end_where_the_rows_do(table):
    """A page beyond the last is the last; fewer rows bring a later page back."""
    table._hear(None, {"kind": "page", "to": 99}, [])
    assert (table.page, len(table.rows)) == (2, 20)
    table.turn(-5)
    assert table.page == 0
    table.turn(2)
    table.show(frame(60))
    assert (table.page, table.pages, len(table.rows)) == (1, 2, 10)
    table.show(frame(0))
    assert (table.page, table.pages, table.rows, table.told) == (0, 1, [], "0 rooms")


def test_choosing_a_row_is_told_and_lasts_while_the_row_is_there():
    """The key of the row is handed on; a frame without it has none chosen."""
    chosen = []
    table = Table("Rooms", "room_id", [Column("room_id", "Room")], on_choice=chosen.append)
    table.show(frame(5))
    table._hear(None, {"kind": "choose", "key": "1003"}, [])
    assert (table.chosen, chosen) == ("1003", ["1003"])
    table.show(frame(4))
    assert table.chosen == "1003"
    table.show(frame(3))
    assert table.chosen == ""


def test_a_column_of_numbers_and_texts_is_sorted_as_text():
    """A column that somebody's own table brought along may hold both."""
    table = Table("Rooms", "room_id", [Column("room_id", "Room")])
    table.show(pd.DataFrame({"room_id": ["1", "2", "3"], "floor": ["b", 7, None]}))
    table.sort("floor")
    assert table.visible == ["2", "1", "3"]


def test_turning_and_sorting_tell_that_other_rows_are_seen():
    """Who reads only the rows on the screen learns that they are others."""
    seen = []
    table = Table(
        "Rooms",
        "room_id",
        [Column("room_id", "Room")],
        on_page=lambda: seen.append(table.visible[0]),
    )
    table.show(frame(120))
    table.turn(1)
    table.sort("room_id", down=True)
    assert seen == ["1050", "1119"]


def test_fields_are_escaped_and_a_missing_one_is_a_dash():
    """A topic with a tag in it is text."""
    assert "&lt;b&gt;" in fields([("topic", "<b>")])
    assert "&ndash;" in fields([("owner", None)])
    assert "<dd>0</dd>" in fields([("users", 0)])


def test_a_row_is_revealed_on_its_page_and_marked(table):
    """Whichever page is shown; a key that is not there changes nothing."""
    table.reveal("1073")
    assert (table.page, table.chosen) == (1, "1073")
    table.reveal("no such room")
    assert (table.page, table.chosen) == (1, "1073")
    assert table.ordered["room_id"].tolist()[73] == "1073"
