"""The parts of panels without a browser: fields, views and tables, and what no notebook saves."""

import re

import pandas as pd
import pytest

import confkit as ck
from confkit.panels.arranging import fields
from confkit.panels.parts import Bar, Column, Field, Mark, Table, View
from tests.panels.pressing import says


def sent(widget):
    """What the browser gets from now on."""
    messages = []
    widget.send = messages.append
    return messages


def test_what_is_typed_into_a_field_is_in_no_state_of_the_widget():
    """Python has it, the browser's saved state has not; clearing forgets it."""
    field = Field("Password")
    for give in (lambda text: says(field, "typed", text=text), field.fill):
        give("hunter2")
        assert field.text == "hunter2"
        assert "hunter2" not in f"{field.get_state()} {field!r} {field.__dict__}"
        field.clear()
        assert field.text is None


def test_a_field_shows_what_code_filled_in_only_where_it_may_and_never_a_login():
    """The page gets the text as a message, also one opened later; the state never has it."""
    for shows, text, told in (
        (True, "rtsp://h/1", 2),
        (True, "rtsp://u:pw@h/1", 0),
        (False, "rtsp://h/1", 0),
    ):
        field = Field("Address", "text", shows=shows)
        messages = sent(field)
        field.fill(text)
        says(field, "filled")
        assert [one["text"] for one in messages if one["kind"] == "fill"] == [text] * told
        assert text not in str(field.get_state())


def test_a_chosen_file_is_read_as_text():
    """UTF-8, with a mark or without, and what spreadsheets write otherwise."""
    field = Field("Table", "file", ".csv")
    for whole, text in (
        ("Köhler".encode("utf-8-sig"), "Köhler"),
        ("Köhler".encode("cp1252"), "Köhler"),
        (b"", None),
    ):
        says(field, "file", [memoryview(whole)], name="rooms.csv")
        assert (field.text, field.name) == (text, "rooms.csv")
        assert "hler" not in str(field.get_state())


def test_a_view_is_in_no_state_and_is_sent_to_who_opens_it_later():
    """The HTML goes by message; a page that opens asks for all there is."""
    view = View("Token")
    messages = sent(view)
    view.html = "<pre>swordfish</pre>"
    says(view, "ready")
    html = {"html": "<pre>swordfish</pre>"}
    assert messages == [
        {"kind": "shown", "values": html, "whole": False},
        {"kind": "shown", "values": {"label": "Token", **html}, "whole": True},
    ]
    assert "swordfish" not in str(view.get_state())


# Tables


COLUMNS = [
    Column("room_id", "Room"),
    Column("users", "Users", right=True),
    Column("state", "State", lambda row: Mark(row["state"], "good") if row["state"] else None),
    Column("share", "Use", lambda row: Bar("of 9", row["share"], "in use")),
    Column("absent", "Never there"),
]


def frame(rows):
    """So many rooms, of which every tenth was not read, and every other has no state."""
    return pd.DataFrame(
        {
            "room_id": [f"{1000 + n}" for n in range(rows)],
            "users": pd.array([None if n % 10 == 3 else n * 7 % 11 for n in range(rows)], "Int64"),
            "state": pd.array([None if n % 2 else "opening" for n in range(rows)], "string"),
            "share": 0.5,
        }
    )


@pytest.fixture
def told():
    """The rows that were picked, and the first ones of pages that came into view."""
    return []


@pytest.fixture
def table(told):
    def turned():
        told.append(made.visible[0])

    made = Table("Rooms", "room_id", COLUMNS, what="rooms", on_choice=told.append, on_page=turned)
    made.show(frame(120))
    return made


def test_a_table_sends_one_page_and_says_how_many_there_are(table):
    """Fifty rows of 120, the columns that the frame has, missing values as missing, in one
    message."""
    messages = sent(table)
    table.show(frame(121))
    assert len(messages) == 1
    assert (table.page, table.pages, table.told, len(table.rows)) == (0, 3, "121 rooms", 50)
    assert [column[0] for column in table.columns] == ["room_id", "users", "state", "share"]
    bar = {"text": "of 9", "share": 0.5, "tone": "in use"}
    assert table.rows[2:4] == [
        ["1002", ["1002", "3", {"text": "opening", "tone": "good"}, bar]],
        ["1003", ["1003", None, None, bar]],
    ]
    assert table.visible[:2] == ["1000", "1001"]


def test_a_table_sorts_all_rows_and_puts_missing_ones_last(table, told):
    """Numbers downwards first and texts upwards, the other way at the second click, the first page
    each time, and texts where a column has both."""
    for down, first in ((True, "10"), (False, "0")):
        table.turn(2)
        says(table, "sort", column="users")
        assert (table.page, tuple(table.sorted), table.rows[0][1][1]) == (0, ("users", down), first)
        assert told[-1] == table.visible[0]
    table.turn(2)
    assert table.rows[-1][1][1] is None
    with pytest.raises(ck.ConfigError, match="There are room_id, users"):
        table.sort("no such column")
    for message in ({"kind": "sort", "column": "nope"}, {"kind": "sort"}, {"kind": "page"}):
        says(table, **message)
    table.sort("room_id")
    assert tuple(table.sorted) == ("room_id", False)
    table.show(pd.DataFrame({"room_id": ["1", "2", "3"], "floor": ["b", 7, None]}))
    table.sort("floor")
    assert table.visible == ["2", "1", "3"]


def test_columns_are_chosen_among_those_that_there_are(table):
    """In the order of the table; without any of them the usual ones are shown."""
    for names in (["users", "room_id"], [], ["nope"], None, "users", [7, {}]):
        says(table, "columns", names=names)
        assert table.picked == (["room_id", "users"] if names and "room_id" in names else [])


def test_pages_end_where_the_rows_do(table, told):
    """A page beyond the last is the last; fewer rows bring a later page back."""
    says(table, "page", to=99)
    assert (table.page, len(table.rows), told) == (2, 20, ["1100"])
    table.turn(-5)
    assert table.page == 0
    table.turn(2)
    for rows, place in ((60, (1, 2, 10)), (0, (0, 1, 0))):
        table.show(frame(rows))
        assert (table.page, table.pages, len(table.rows)) == place


def test_a_row_is_picked_or_revealed_and_stays_so_while_it_is_there(table, told):
    """A pick is told; revealed is a row on whichever page, and one that is not there changes
    nothing."""
    says(table, "choose", key="1003")
    assert (table.chosen, told) == ("1003", ["1003"])
    for key in ("1073", "no such room"):
        table.reveal(key)
        assert (table.page, table.chosen) == (1, "1073")
    for rows, chosen in ((74, "1073"), (73, "")):
        table.show(frame(rows))
        assert table.chosen == chosen


def test_fields_are_escaped_and_a_missing_one_is_a_dash():
    """A topic with a tag in it is text."""
    told = fields([("topic", "<b>"), ("owner", None), ("users", 0)])
    assert re.findall("<dd>(.*?)</dd>", told) == ["&lt;b&gt;", "&ndash;", "0"]
