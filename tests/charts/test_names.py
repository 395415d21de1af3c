"""What rooms are called in charts: any script, any length, never two alike."""

import logging

import pytest

from confkit.charts import occupancy_chart, occupancy_curve
from confkit.charts.texts import called, short, wrapped

from .looking import frame, head, legible, only, rows, samples


def named(*topics):
    return list(rows(only(occupancy_chart(frame(*[(topic, 1, 2) for topic in topics])))))


@pytest.mark.parametrize(
    "topic",
    [
        *(
            "日本語の会議",
            "العربية",
            "हिन्दी",
            "ไทย",
            "한국어",
            "Привет",
            "😀 party",
            "\u202eabc",
            "a\u0301",
        ),
        *("a\tb", "line\nbreak", "x\x00y", "$$", "$\\frac$", "\\frac{", "^_{}", "%", "&amp;"),
    ],
)
def test_a_topic_of_any_letters_is_drawn_without_a_warning(topic, caplog):
    """A topic that the font does not hold neither warns, nor logs, nor stops the chart; dollars and
    backslashes of a topic, or of the service's name, are drawn as they are."""
    caplog.set_level(logging.WARNING)
    chart = occupancy_chart(frame((topic, 1, 2)), service=f"SANDBOX {topic}")
    legible(chart)
    assert caplog.records == []
    if topic.isascii() and topic.isprintable():
        assert list(rows(only(chart))) == [topic]
        assert head(chart)[1] == f"SANDBOX {topic}"


def test_a_title_in_another_script_is_not_bold():
    """Few fonts of other scripts come in bold: asking for one would log a warning."""
    weights = [
        occupancy_curve(samples((1, 0, 2)), "101", topic=topic).texts[0].get_fontweight()
        for topic in ("Board room", "会議")
    ]
    assert weights == ["bold", "normal"]


def test_a_long_topic_is_shortened():
    """A topic of 149 letters leaves room for the bars; a wide letter takes the room of two."""
    assert named("A" * 149, "B" * 34) == ["A" * 33 + "…", "B" * 34]
    assert short("会" * 149) == "会" * 16 + "…"


def test_topics_that_become_alike_are_told_apart_by_their_rooms():
    """Two topics that differ after the cut only, or not at all, come with the room's ID; one that
    is empty or white is no name."""
    alike = "Quarterly review of the advisory board, part "
    assert named(alike + "one", alike + "two", "Other", "  ", None) == [
        "Other",
        "Quarterly review of the… · room-0",
        "Quarterly review of the… · room-1",
        "room-3",
        "room-4",
    ]
    assert named("Same", "Same") == ["Same · room-0", "Same · room-1"]


def test_a_text_that_has_place_names_the_whole_room():
    """A summary gives each room's ID once, whole, also where it is part of the topic."""
    assert called("Room 10", "1") == "Room 10 (1)"
    assert called("Same · 101", "101") == "Same (101)"
    assert called("101", "101") == "101"


def test_a_long_service_name_is_broken_into_lines():
    """A service's name of any length stays within the picture, in at most three lines."""
    name = "conference-" * 20 + ".example.org and " * 5
    legible(occupancy_chart(frame(("a", 1, 2)), service=name, time="2026-01-01T00:00Z"))
    assert wrapped("one two three four", 9) == "one two\nthree\nfour"
    assert wrapped("one two three four five six", 9).endswith("…")
    assert wrapped("会議 会議 会議", 9) == "会議 会議\n会議"
