"""What all panels share: work that shows in them, errors shown, questions, one thing at a time."""

import json
import logging
import threading
from concurrent.futures import CancelledError

import pandas as pd
import pytest

import confkit as ck
from confkit.panels.arranging import button, fields
from confkit.panels.panel import Panel
from confkit.panels.parts import Bar, Column, Field, Mark, Table, View
from tests.panels.pressing import page

LONG = 10  # seconds that a test waits at most for what takes none


class Counting(Panel):
    """A panel whose work the test holds up."""

    def __init__(self, client=None):
        super().__init__("Counting", client)
        self.begun, self.go = threading.Event(), threading.Event()
        self.times = 0

    def count(self):
        """Counts, once `go` is set or the work is cancelled."""
        with self.working("Counting") as work:
            self.begun.set()
            while not self.go.wait(0.01):
                if work.cancelled.is_set():
                    self.frame.tell("Counted nothing.")
                    return
            self.times += 1
            work.progress(self.times, 3)
            self.value = self.times

    def break_(self, error):
        with self.working("Breaking"):
            raise error


def test_a_first_reading_that_fails_keeps_nobody_waiting_and_is_no_value():
    """Who asks for the value gets the error, which the panel shows, until there is a value."""
    panel = Counting()
    panel.first(lambda: panel.break_(ck.ConfigError("No service. Name one.")))
    for _ in range(2):
        with pytest.raises(ck.ConfigError, match="Name one"):
            _ = panel.value
    assert panel.wait(LONG)
    assert panel.frame.text == "No service. Name one."
    panel.go.set()
    panel.count()
    assert panel.value == 1


def test_who_sees_what_is_drawn_reads_the_value_that_belongs_to_it():
    """In whichever thread: not the value before, as long as the new one is not there yet."""
    panel, found = Counting(), []
    readers = []

    def draw(new):
        # The page shows it from here on, and somebody there runs a cell.
        readers.append(threading.Thread(target=lambda: found.append(panel.value)))
        readers[-1].start()
        readers[-1].join(0.1)
        return new

    for new in ("first", "second"):
        panel.draws(lambda new=new: draw(new))
        readers[-1].join(LONG)
        assert (found[-1], panel.value) == (new, new)


def test_an_error_is_told_in_the_panel_and_raised_to_code_but_not_by_a_click(caplog):
    """A click ends in a text, not in a log."""
    panel = Counting()
    with pytest.raises(ck.ConfigError):
        panel.break_(ck.ConfigError("The keys are wrong. Check them."))
    assert (panel.frame.text, panel.frame.tone) == ("The keys are wrong. Check them.", "bad")
    assert panel.frame.busy == ""
    panel.frame.tell("")
    panel.clicked(lambda: panel.break_(ck.ConfigError("Again. Check them.")))()
    assert panel.wait(LONG)
    assert (panel.frame.text, panel.frame.tone) == ("Again. Check them.", "bad")
    assert not caplog.records


def test_an_error_that_nobody_expects_is_told_in_the_panel_and_logged_once(caplog):
    """It is a fault of ours, so its traceback is kept for a report."""
    panel = Counting()
    with caplog.at_level(logging.ERROR):
        panel.clicked(lambda: panel.break_(ZeroDivisionError("by nought")))()
        assert panel.wait(LONG)
    assert "ZeroDivisionError: by nought" in panel.frame.text
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_cancel_ends_the_work_under_way():
    """The browser's Cancel reaches the work while it runs; without work it does nothing."""
    panel = Counting()
    panel.cancel()
    panel.clicked(panel.count)()
    assert panel.begun.wait(LONG)
    panel.frame._hear(None, {"kind": "cancel"}, [])
    assert panel.wait(LONG)
    assert (panel.times, panel.frame.text) == (0, "Counted nothing.")


def test_work_that_was_cancelled_is_no_error():
    """A function that raises CancelledError ends in a plain word."""
    panel = Counting()
    with pytest.raises(CancelledError):
        panel.break_(CancelledError())
    assert (panel.frame.text, panel.frame.tone) == ("Cancelled.", "")


def test_work_within_work_is_one():
    """A method may call another: both are cancelled together, and the outer is reported again."""
    panel = Counting()
    with panel.working("Outer") as outer:
        with panel.working("Inner") as inner:
            assert inner is outer
        assert panel.frame.busy == "Outer"
    assert panel.frame.busy == ""


def test_a_question_comes_before_a_change_and_only_yes_does_it():
    """The question is asked in words; no, and nothing happened; yes, and it is done."""
    panel = Counting()
    panel.go.set()
    delete = button(
        "Count", panel.clicked(lambda: panel.ask("Count it", "Count one more?", panel.count))
    )
    delete.click()
    assert panel.wait(LONG)
    assert (panel.frame.question, panel.frame.yes) == ("Count one more?", "Count it")
    panel.frame._hear(None, {"kind": "no"}, [])
    assert panel.wait(LONG)
    assert (panel.frame.question, panel.times) == ("", 0)
    delete.click()
    assert panel.wait(LONG)
    panel.frame._hear(None, {"kind": "yes"}, [])
    assert panel.wait(LONG)
    assert (panel.frame.question, panel.times) == ("", 1)
    panel.answer(True)
    assert panel.times == 1, "a question is answered once"


def test_no_is_taken_at_once_whatever_else_is_under_way():
    """A question that was answered with no is gone, and nothing is done later."""
    panel = Counting()
    panel.clicked(panel.count)()
    assert panel.begun.wait(LONG)
    panel.ask("Count it", "Count one more?", panel.count)
    panel.frame._hear(None, {"kind": "no", "question": "Count one more?"}, [])
    assert panel.frame.question == ""
    panel.go.set()
    assert panel.wait(LONG)
    assert panel.times == 1


def test_yes_is_done_after_what_is_under_way_and_no_longer_asked():
    """The question goes at once; a no that comes after the yes is no answer to anything."""
    panel = Counting()
    panel.clicked(panel.count)()
    assert panel.begun.wait(LONG)
    panel.ask("Count it", "Count one more?", panel.count)
    panel.frame._hear(None, {"kind": "yes", "question": "Count one more?"}, [])
    assert panel.frame.question == ""
    panel.frame._hear(None, {"kind": "no", "question": "Count one more?"}, [])
    panel.go.set()
    assert panel.wait(LONG)
    assert panel.times == 2


def test_an_answer_to_an_earlier_question_answers_none():
    """What was clicked before another question came up is not done to that one's room."""
    panel = Counting()
    panel.go.set()
    panel.ask("Count it", "Count one more?", panel.count)
    panel.ask("Count it", "Count two more?", panel.count)
    panel.frame._hear(None, {"kind": "yes", "question": "Count one more?"}, [])
    assert panel.wait(LONG)
    assert (panel.times, panel.frame.question) == (0, "Count two more?")


def test_a_panel_that_is_closed_ends_its_work():
    """Nothing goes on for a panel that nobody has any more."""
    panel = Counting()
    panel.clicked(panel.count)()
    assert panel.begun.wait(LONG)
    panel.close()
    assert panel.wait(LONG)
    assert panel.times == 0


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), "5"])
def test_a_clock_that_makes_no_sense_is_refused(seconds):
    """Seconds, or 0 for never."""
    with pytest.raises(ck.ConfigError, match="0 for never"):
        Counting().every(seconds, print)


def test_progress_of_many_steps_is_told_some_hundred_times():
    """A sweep of 100,000 rooms does not send 100,000 messages."""
    panel = Counting()
    told = []
    panel.frame.observe(lambda change: told.append(change["new"]), "done")
    with panel.working("Reading") as work:
        for step in range(100_000):
            work.progress(step + 1, 100_000)
    assert told[-1] in (100_000, 0)
    assert 50 < len(told) < 250


def test_the_head_names_the_service_and_says_that_it_is_read_only(sandbox):
    """Nobody takes one service for another."""
    with sandbox.connect(read_only=True) as client:
        panel = Counting(client)
        assert panel.frame.service == "SANDBOX"
        assert "Read only" in panel.frame.note
        refused = button("Delete", print, refused=panel.frame.note)
        assert refused.disabled
        assert "read_only=False" in refused.tooltip


@pytest.mark.parametrize("message", [None, "text", {}, {"kind": 7}, {"kind": "unknown"}])
def test_messages_that_make_no_sense_are_left_alone(message):
    """What a stranger's script sends to a widget does not break it."""
    Counting().frame._hear(None, message, [])


# The parts


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


def test_the_head_hides_the_login_of_an_address_whatever_it_says():
    """A device may be called by its address; what stands in the head may be saved."""
    panel = Counting()
    panel.frame.tell("rtsp://user:hunter2@host/1 was imported", "good")
    panel.ask("Remove", "Remove rtsp://user:hunter2@host/1?", print)
    with panel.working("Removing rtsp://user:hunter2@host/1"):
        assert "hunter2" not in page(panel)
    assert "***@host" in panel.frame.question


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


def test_a_column_of_numbers_and_texts_is_sorted_as_text():
    """A caller's column of anything does not break the table."""
    table = Table("Rooms", "room_id", [Column("room_id", "Room"), Column("note", "Note")])
    made = frame(4)
    made["note"] = [10, "a", 2.5, None]
    table.show(made)
    table.sort("note")
    assert [cells[1] for _, cells in table.rows] == ["10", "2.5", "a", None]


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


def test_the_browser_gets_as_much_of_a_long_table_as_of_a_short_one(table):
    """100,000 rows cost no more than a page of them."""
    few = len(json.dumps([table.columns, table.rows]))
    table.show(frame(100_000))
    assert len(json.dumps([table.columns, table.rows])) < 1.5 * few


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
