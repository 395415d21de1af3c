"""Time zones by name, and durations."""

import time
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from confkit.occupancy.times import duration, time_zone


def test_a_duration_has_the_unit_that_fits():
    """Minutes are whole, hours have their minutes, days and weeks one digit at most."""
    minutes = [0, 0.5, 1, 2.5, 60, 135, 1439, 1440, 3450, 14_400, 20_160, 525_600]
    texts = "0 min, 30 s, 1 min, 2 min, 1 h, 2 h 15 min, 23 h 59 min, 1 day, 2.4 days, 10 days, "
    assert ", ".join(map(duration, minutes)) == texts + "2 weeks, 52.1 weeks"


def test_a_zone_has_its_name():
    """A zone by name, or any tzinfo, is named by its name."""
    offset = timezone(timedelta(hours=5, minutes=45))
    given = ["Asia/Kathmandu", ZoneInfo("Europe/Berlin"), UTC, offset]
    names = ["Asia/Kathmandu", "Europe/Berlin", "UTC", "UTC+05:45"]
    assert [time_zone(one)[1] for one in given] == names


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        (":Europe/Berlin", "Europe/Berlin"),
        ("", "UTC"),
        (":/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("XYZ-05:45", "UTC+05:45"),
    ],
)
def test_the_local_zone_is_that_of_the_process(monkeypatch, environ, name):
    """Without a zone it is the process's own, by its name, or where there is none its offset."""
    monkeypatch.setenv("TZ", environ)
    time.tzset()
    try:
        assert time_zone(None)[1] == name
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("given", ["Middle/Earth", "", "/etc/passwd", "a\0b"])
def test_no_zone_is_a_clear_error(given):
    """A name that no zone has is a ValueError that shows one."""
    with pytest.raises(ValueError, match="Europe/Berlin"):
        time_zone(given)
