"""Room IDs as people paste them, and those in a file that a browser sends."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from confkit.panels.pasting import columns_in_file, ids_in_file, pasted_ids
from confkit.tables import spreadsheet_damage


@given(
    st.lists(st.text("abc0123456789-_.", min_size=1)),
    st.sampled_from([" ", ", ", ";", "\n", "\t", " | ", "\r\n", '","']),
)
@example([], ' ,;\n\t "" ')
def test_pasted_ids_are_found_between_any_separators(ids, between):
    """In their order, each once; separators alone are nothing."""
    assume(not any(spreadsheet_damage(one, is_id=True) for one in ids))
    assert pasted_ids(f"[{between.join(ids)}{between}]") == list(dict.fromkeys(ids))


def test_a_file_of_any_name_is_read():
    """A name that no file may have here, too long or with a NUL, is no reason to refuse one."""
    for name in ("é" * 300 + ".txt", "..", "", "a\0b.txt"):
        names = [] if name.endswith(".txt") else ["room_id"]
        text = "\n".join([*names, "007"])
        assert ids_in_file(name, text).ids == ["007"]
        assert columns_in_file(name, text) == names
    assert columns_in_file("a.csv", "number;site\n007;Oslo\n") == ["number", "site"]
