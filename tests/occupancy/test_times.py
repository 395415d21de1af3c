"""Time zones by name, and durations."""

import time
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from confkit.occupancy.times import duration, time_zone


def test_a_duration_has_the_unit_that_fits():
    minutes = [0, 0.5, 1, 2.5, 60, 135, 1439, 1440, 3450, 20_160, 525_600]
    texts = "0 min, 30 s, 1 min, 2 min, 1 h, 2 h 15 min, 23 h 59 min, 1 day, 2.4 days, 2 weeks"
    assert ", ".join(map(duration, minutes)) == f"{texts}, 52.1 weeks"


@pytest.mark.parametrize(
    ("tz", "environ", "name"),
    [
        ("Asia/Kathmandu", "UTC", "Asia/Kathmandu"),
        (ZoneInfo("Europe/Berlin"), "UTC", "Europe/Berlin"),
        (UTC, "Europe/Berlin", "UTC"),
        (timezone(timedelta(hours=5, minutes=45)), "UTC", "UTC+05:45"),
        # None is local time, by its name, or else its offset
        (None, ":Europe/Berlin", "Europe/Berlin"),
        (None, "", "UTC"),
        (None, ":/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        (None, "XYZ-05:45", "UTC+05:45"),
    ],
)
def test_a_zone_has_its_name(monkeypatch, tz, environ, name):
    monkeypatch.setenv("TZ", environ)
    time.tzset()
    try:
        assert time_zone(tz)[1] == name
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("tz", ["Middle/Earth", "", "/etc/passwd", "a\0b"])
def test_an_unknown_zone_is_refused(tz):
    with pytest.raises(ValueError, match="Europe/Berlin"):
        time_zone(tz)
