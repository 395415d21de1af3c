"""Room IDs as people paste them, and those in a file that a browser sends."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from confkit.errors import ParameterError
from confkit.many.tables import spoilt_id
from confkit.panels.pasting import columns_in_file, ids_in_file, pasted_ids


@given(
    st.lists(st.text("abc0123456789-_.", min_size=1), min_size=1),
    st.sampled_from([" ", ", ", ";", "\n", "\t", " | ", "\r\n", '","']),
)
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
