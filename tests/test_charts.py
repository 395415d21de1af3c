"""The occupancy chart: a bar for each room that was read, and none for one that was not."""

import io

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

import confkit as ck


def frame(*rows):
    """A frame with a row for each (topic, users, attendee_max)."""
    return pd.DataFrame(
        {
            "room_id": pd.array([f"room-{place}" for place in range(len(rows))], dtype="string"),
            "topic": pd.array([row[0] for row in rows], dtype="string"),
            "users": pd.array([row[1] for row in rows], dtype="Int64"),
            "attendee_max": pd.array([row[2] for row in rows], dtype="Int64"),
        }
    )


def drawn(figure):
    """The figure's axes, after it was really drawn as a picture."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")
    (axes,) = figure.axes
    return axes


def bars(axes):
    """Length and row of each bar."""
    patches = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return [(bar.get_width(), round(bar.get_y() + bar.get_height() / 2)) for bar in patches]


def labels(axes):
    """The rooms' names from top to bottom."""
    named = {round(tick.get_position()[1]): tick.get_text() for tick in axes.get_yticklabels()}
    return [named[place] for place in sorted(named)]


def told(axes):
    """All texts inside the axes."""
    return [text.get_text().strip() for text in axes.texts]


@pytest.mark.parametrize("count", [0, 1, 12, 200])
def test_every_room_has_its_bar(count):
    """For none, one, a dozen or two hundred rooms: a bar each, of its users' length."""
    rows = [(f"Room {number}", number % 30, 25) for number in range(count)]
    axes = drawn(ck.occupancy_chart(frame(*rows)))
    assert sorted(width for width, _ in bars(axes)) == sorted(row[1] for row in rows)
    assert sorted(place for _, place in bars(axes)) == list(range(count))
    assert len(labels(axes)) == count
    full = sum(row[1] >= 25 for row in rows)
    title = axes.get_title(loc="left")
    assert title.startswith(f"{full} of {count} rooms full" if count else "no rooms")


def test_rows_stay_apart_however_many():
    """A chart grows with its rooms, so that names do not run into each other."""
    few = ck.occupancy_chart(frame(*[("a", 1, 2)] * 12)).get_size_inches()
    many = ck.occupancy_chart(frame(*[("a", 1, 2)] * 200)).get_size_inches()
    assert few[0] == many[0]
    assert many[1] / 200 > 0.3


def test_a_room_that_could_not_be_read_has_no_bar():
    """Missing users are named as such, counted in the title, and never drawn as empty."""
    rows = [("Lost", None, 25), ("Empty", 0, 25), ("Busy", 20, 25)]
    axes = drawn(ck.occupancy_chart(frame(*rows)))
    assert labels(axes) == ["Busy", "Empty", "Lost"]
    assert bars(axes) == [(20, 0), (0, 1)]
    assert told(axes) == ["20 of 25", "0 of 25", "could not be read"]
    assert axes.get_title(loc="left") == "0 of 3 rooms full, 1 nearly, 1 could not be read"


def test_a_frame_of_nothing_but_failures_is_drawn():
    """When no room could be read the chart says so for each and has no bar."""
    axes = drawn(ck.occupancy_chart(frame(("a", None, 5), ("b", None, None))))
    assert bars(axes) == []
    assert told(axes) == ["could not be read"] * 2
    assert "0 of 2 rooms full" in axes.get_title(loc="left")


@pytest.mark.parametrize("cap", [None, 0])
def test_a_room_without_a_cap_is_grey_and_has_no_line(cap):
    """A missing cap or one of 0 is no cap: the room is neither full nor nearly full."""
    axes = drawn(ck.occupancy_chart(frame(("Open", 40, cap))))
    assert told(axes) == ["40, no cap"]
    assert axes.lines == [] or len(axes.lines) == 0
    assert axes.patches[0].get_facecolor()[:3] == pytest.approx((0xBB / 255,) * 3)
    assert axes.get_title(loc="left") == "0 of 1 rooms full, 0 nearly"


def test_a_rooms_cap_is_a_line_at_its_place():
    """Each cap is a line across the room's own bar."""
    axes = drawn(ck.occupancy_chart(frame(("a", 5, 10), ("b", 1, 20))))
    assert [list(line.get_xdata()) for line in axes.lines] == [[10, 10], [20, 20]]
    assert [sum(line.get_ydata()) / 2 for line in axes.lines] == pytest.approx([0, 1])
    assert axes.get_xlim()[1] > 20


@pytest.mark.parametrize(
    ("users", "cap", "title"),
    [(7, 10, "0 of 1 rooms full, 0 nearly"), (8, 10, "0 of 1 rooms full, 1 nearly"),
     (9, 10, "0 of 1 rooms full, 1 nearly"), (10, 10, "1 of 1 rooms full, 0 nearly"),
     (12, 10, "1 of 1 rooms full, 0 nearly"), (0, 1, "0 of 1 rooms full, 0 nearly")],
)  # fmt: skip
def test_full_is_the_cap_and_nearly_is_from_four_fifths(users, cap, title):
    """A room is full at its cap and beyond, nearly full from 80 percent on."""
    axes = drawn(ck.occupancy_chart(frame(("a", users, cap))))
    assert axes.get_title(loc="left") == title
    assert told(axes) == [f"{users} of {cap}"]


def test_states_differ_in_colour_and_in_hatching():
    """Who cannot tell the colours apart tells full, nearly and free by the pattern."""
    axes = drawn(ck.occupancy_chart(frame(("a", 10, 10), ("b", 8, 10), ("c", 1, 10))))
    assert len({bar.get_facecolor() for bar in axes.patches}) == 3
    assert len({bar.get_hatch() for bar in axes.patches}) == 3


def test_the_fullest_room_is_on_top():
    """Rooms are sorted by users per cap; those without a cap come next, the unread last."""
    rows = [("none", 99, None), ("lost", None, 5), ("half", 5, 10), ("over", 3, 2), ("full", 9, 9)]
    axes = drawn(ck.occupancy_chart(frame(*rows)))
    assert labels(axes) == ["over", "full", "half", "none", "lost"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_a_room_without_a_topic_is_named_by_its_number():
    """Where the topic is missing, in one row or as a column, the room's ID stands there."""
    rows = frame((None, 1, 2), ("Named", 2, 2))
    assert labels(drawn(ck.occupancy_chart(rows))) == ["Named", "room-0"]
    assert labels(drawn(ck.occupancy_chart(rows.drop(columns="topic")))) == ["room-1", "room-0"]


@pytest.mark.parametrize(
    "topic",
    ["日本語の会議", "العربية", "עברית", "हिन्दी", "ไทย", "한국어", "Ελληνικά", "Привет",
     "😀 party", "a\tb", "line\nbreak", "x\x00y", "\u202eabc", "a\u0301"],
)  # fmt: skip
def test_a_topic_in_any_script_is_drawn_without_a_warning(topic):
    """A topic that the font does not hold neither warns nor stops the chart."""
    drawn(ck.occupancy_chart(frame((topic, 1, 2))))


@pytest.mark.parametrize(
    "topic", ["$", "$$", "a$b$c", "$\\frac$", "\\$x$", "\\frac{", "^_{}", "%", "&amp;", "_", " "]
)
def test_a_topic_that_looks_like_mathematics_is_a_text(topic):
    """Dollars and backslashes of a topic, or of the service's name, are drawn as they are."""
    axes = drawn(ck.occupancy_chart(frame((topic, 1, 2)), service=f"SANDBOX {topic}"))
    assert labels(axes)[0] == topic


def test_a_long_topic_is_shortened():
    """A topic of 149 letters leaves room for the bars."""
    axes = drawn(ck.occupancy_chart(frame(("A" * 149, 1, 2), ("B" * 32, 1, 3))))
    assert labels(axes) == ["A" * 31 + "…", "B" * 32]


def test_the_service_stands_in_the_title():
    """Nobody takes one service for another: its name stands at the end of the title."""
    axes = drawn(ck.occupancy_chart(frame(("a", 1, 2)), service="SANDBOX"))
    assert axes.get_title(loc="left") == "0 of 1 rooms full, 0 nearly — SANDBOX"
    assert "—" not in ck.occupancy_chart(frame()).axes[0].get_title(loc="left")


def test_a_frame_without_a_needed_column_is_refused():
    """A missing column is a ValueError that names it."""
    for name in ("room_id", "users", "attendee_max"):
        with pytest.raises(ValueError, match=name):
            ck.occupancy_chart(frame(("a", 1, 2)).drop(columns=name))


def test_plain_numbers_and_floats_will_do():
    """A frame from a CSV, where missing numbers make floats, gives the same chart."""
    csv = pd.DataFrame({"room_id": [1, 2], "users": [3.0, None], "attendee_max": [None, 4.0]})
    axes = drawn(ck.occupancy_chart(csv))
    assert labels(axes) == ["1", "2"]
    assert told(axes) == ["3, no cap", "could not be read"]


def test_a_chart_leaves_pyplot_and_the_frame_alone():
    """No figure stays open behind the caller's back, and the frame is not changed."""
    import matplotlib.pyplot as plt

    rows = frame(("b", 1, 2), ("a", 2, 2))
    before = rows.copy()
    figures = plt.get_fignums()
    ck.occupancy_chart(rows)
    assert plt.get_fignums() == figures
    pd.testing.assert_frame_equal(rows, before)
