"""Search and filters as functions of a frame, and the frame into which readings are put."""

from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import confkit as ck
from confkit.errors import ParameterError
from confkit.many.ids import RoomIds
from confkit.many.tables import spoilt_id
from confkit.panels.filtering import Filter, matching, searchable
from confkit.panels.pasting import columns_in_file, ids_in_file, pasted_ids
from confkit.panels.room_list import (
    counted,
    frame_of_rooms,
    joined,
    others,
    outcome,
    unasked,
    without,
)


@pytest.fixture
def building(client, sandbox):
    """Four rooms: one full, one without a cap, one that is locked, one that is not there."""
    weekly = ck.create_room(client, "Weekly Sync", "ops", attendee_max=2)
    open_end = ck.create_room(client, "Open end", "sales")
    locked = ck.create_room(client, "Locked", "ops", attendee_max=4, room_extend_id="Sales-7")
    for name in ("Ada", "Bo"):
        sandbox.join(weekly, name)
    sandbox.lock(locked)
    return [weekly, open_end, locked, "0000"]


@pytest.fixture
def rooms(client, building):
    """What a panel searches in."""
    return searchable(frame_of_rooms(ck.sweep(client, building)))


def found(rooms, **wanted):
    """The IDs that are left."""
    return matching(rooms, Filter(**wanted))["room_id"].tolist()


def test_a_search_finds_every_word_in_topic_id_owner_or_external_id(rooms, building):
    """Capitals do not matter; every word has to be somewhere."""
    weekly, open_end, locked, absent = building
    assert found(rooms) == building
    assert found(rooms, text="SYNC weekly") == [weekly]
    assert found(rooms, text="sync locked") == []
    assert found(rooms, text=open_end[2:]) == [open_end]
    assert found(rooms, text="ops") == [weekly, locked]
    assert found(rooms, text="sales") == [open_end, locked]
    assert found(rooms, text="000") == [absent]


@pytest.mark.parametrize("text", ["(", "\\", ".*", "[a", "week.y"])
def test_a_search_takes_what_is_typed_as_it_stands(rooms, text):
    """It is no pattern."""
    assert found(rooms, text=text) == []


def test_a_filter_leaves_the_rooms_of_one_status_or_mode(rooms, building):
    """A room that was not read has neither."""
    weekly, open_end, locked, _ = building
    assert found(rooms, status="opening") == [weekly]
    assert found(rooms, status="scheduled") == [open_end]
    assert found(rooms, status="locked") == [locked]
    assert found(rooms, mode="MCU") == [weekly, open_end, locked]
    assert found(rooms, mode="peer-to-peer") == []


def test_what_is_missing_is_never_fuller_than_anything(rooms, building):
    """Neither a room without a cap nor one that could not be read has a utilisation."""
    weekly, _, locked, _ = building
    assert found(rooms, fuller_than=99.5) == [weekly]
    assert found(rooms, fuller_than=100) == []
    assert found(rooms, fuller_than=-1) == [weekly, locked]


def test_only_failures_are_the_rooms_of_which_something_is_missing(rooms, building):
    """Filters combine."""
    assert found(rooms, failures=True) == building[-1:]
    assert found(rooms, failures=True, text="weekly") == []


def test_the_utilisation_is_that_of_the_occupancy_frame(client, building):
    """One rule for both."""
    found = ck.sweep(client, building)
    ours = frame_of_rooms(found)["utilisation"]
    pd.testing.assert_series_equal(ours, ck.occupancy_frame(found)["utilisation"])


def test_no_rooms_can_be_searched_too(client):
    """An empty frame has the same columns."""
    rooms = searchable(frame_of_rooms(unasked(client, RoomIds([]))))
    left = matching(rooms, Filter("x", "opening", "MCU", 80, True))
    assert left.empty
    assert list(left.columns) == list(rooms.frame.columns)


def test_a_reading_replaces_its_rooms_and_leaves_the_others(client, building, sandbox):
    """The order stays, new rooms come last, and types are those of a whole reading."""
    weekly, open_end, locked, absent = building
    before = frame_of_rooms(ck.sweep(client, [weekly, absent, locked]))
    sandbox.leave(weekly, ck.get_room_users(client, weekly)[0].user_id)
    after = joined(before, frame_of_rooms(ck.sweep(client, [open_end, weekly])))
    assert after["room_id"].tolist() == [weekly, absent, locked, open_end]
    assert after["users"].tolist() == [1, pd.NA, 0, 0]
    assert after["ret"].tolist() == [0, 404, 0, 0]
    assert after.dtypes.equals(before.dtypes)
    assert pd.Timestamp(after.attrs["time"]) == after["read_at"].min() == before["read_at"].min()


def test_further_columns_of_a_callers_table_stay(client, building):
    """Rooms that came without them have none."""
    weekly, open_end, locked, _ = building
    table = pd.DataFrame({"room_id": [weekly, locked], "site": ["Oslo", "Rome"]})
    before = frame_of_rooms(ck.sweep(client, table))
    after = joined(before, frame_of_rooms(ck.sweep(client, [locked, open_end])))
    assert after["site"].fillna("-").tolist() == ["Oslo", "Rome", "-"]
    assert without(after, weekly)["site"].fillna("-").tolist() == ["Rome", "-"]


def test_columns_of_a_callers_table_may_be_called_as_ours(client, building):
    """Each stays one column, though two come to the same name, and is there after a refresh."""
    table = pd.DataFrame(
        {"room_id": building[:2], "read_at": ["a", "b"], "read_at (given)": ["c", "d"]}
    )
    before = frame_of_rooms(ck.sweep(client, table))
    assert before.columns.is_unique
    after = joined(before, frame_of_rooms(ck.sweep(client, building[:2])))
    assert after.columns.tolist() == before.columns.tolist()
    assert after.iloc[:, -2:].to_numpy().tolist() == [["a", "c"], ["b", "d"]]


def test_a_reading_of_nothing_changes_nothing(client, building):
    """The rows stay as they are."""
    before = frame_of_rooms(ck.sweep(client, building))
    nothing = frame_of_rooms(unasked(client, RoomIds([])))
    pd.testing.assert_frame_equal(joined(before, nothing), before)
    pd.testing.assert_frame_equal(joined(nothing, before), before)


def test_rooms_that_were_not_asked_are_told_apart_from_failures(client, building):
    """Neither is a zero."""
    given = RoomIds(building, pd.DataFrame({"site": list("abcd")}))
    new = others(given, known=building[:1])
    assert new.ids == building[1:]
    frame = joined(
        frame_of_rooms(ck.sweep(client, building[:1] + building[-1:])),
        frame_of_rooms(unasked(client, others(given, building[:1] + building[-1:]))),
    )
    assert frame["users"].tolist() == [2, pd.NA, pd.NA, pd.NA]
    told = counted(4, frame)
    assert told.startswith("4 rooms · 1 not read in full · 2 not asked · read at ")
    assert counted(1, frame).startswith("1 of 4 rooms · ")
    assert frame["read_at"].isna().tolist() == [False, True, True, True]
    again = joined(frame, frame_of_rooms(unasked(client, given)))
    assert again["users"].tolist() == [2, pd.NA, pd.NA, pd.NA]
    assert again["ret"].fillna(-1).tolist() == [0, 404, -1, -1]
    assert again["read_at"].equals(frame["read_at"])


def test_what_is_said_of_a_reading_names_the_commonest_failure(client, building):
    """Nothing is said of one in which all was read."""
    whole = ck.sweep(client, building[:3])
    assert outcome(whole, whole.frame()) == ""
    part = ck.sweep(client, building)
    told = outcome(part, part.frame())
    assert told.startswith("1 of 4 rooms could not be read, all (1, such as room '0000'): ")
    assert "missing, not zero" in told
    ended = replace(part, complete=False)
    assert outcome(ended, ended.frame()).startswith("Ended early: 4 of 4 rooms were read; 0 were")


@given(st.lists(st.text("abc0123456789-_.", min_size=1), min_size=1),
       st.sampled_from([" ", ", ", ";", "\n", "\t", " | ", "\r\n", '","']))  # fmt: skip
def test_pasted_ids_are_found_between_any_separators(ids, between):
    """In their order, each once."""
    assume(not any(map(spoilt_id, ids)))
    assert pasted_ids(f"[{between.join(ids)}]") == list(dict.fromkeys(ids))


def test_nothing_pasted_is_no_id():
    """Separators alone are nothing."""
    assert pasted_ids(' ,;\n\t "" ') == []


def test_a_file_is_read_as_a_sweep_reads_a_path():
    """With its further columns, semicolons, leading zeros, and the same errors."""
    found = ids_in_file("rooms.csv", "room_id;site\n007;Oslo\n8;Rome\n")
    assert found.ids == ["007", "8"]
    assert found.columns["site"].tolist() == ["Oslo", "Rome"]
    assert ids_in_file("../rooms.txt", "# ours\n007\n8\n").ids == ["007", "8"]


@pytest.mark.parametrize("name", ["é" * 300 + ".txt", "..", "", "a\0b.txt", "x" * 256 + ".txt"])
def test_a_file_of_any_name_is_read(name):
    """A name that no file may have here, too long or with a NUL, is no reason to refuse one."""
    text = "room_id\n007\n" if not name.endswith(".txt") else "007\n"
    assert ids_in_file(name, text).ids == ["007"]
    assert columns_in_file(name, text) == ([] if name.endswith(".txt") else ["room_id"])
    with pytest.raises(ParameterError, match=r"rooms\.csv, line 3: A spreadsheet has made"):
        ids_in_file("rooms.csv", "room_id\n1\n1.2E+09\n")


def test_the_columns_of_a_file_can_be_offered():
    """When none is called room_id people choose the one with the IDs."""
    table = "number,site\n007,Oslo\n"
    assert columns_in_file("a.csv", table) == ["number", "site"]
    assert columns_in_file("a.txt", "007\n") == []
    with pytest.raises(ParameterError, match="does not say which column"):
        ids_in_file("a.csv", table)
    assert ids_in_file("a.csv", table, "number").ids == ["007"]
