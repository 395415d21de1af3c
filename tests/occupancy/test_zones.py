"""Time zones by name."""

import time
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from confkit.occupancy.zones import duration, zone


def test_a_duration_is_said_in_the_unit_that_fits():
    """Whole numbers have no point, one is singular, and the unit is the largest that fits."""
    minutes = [0, 0.5, 1, 2.5, 119, 120, 3450, 4320, 20_160, 525_600]
    said = "0 minutes, 30 seconds, 1 minute, 2.5 minutes, 119 minutes, 2 hours, 57.5 hours, "
    said += "3 days, 2 weeks, 52.1 weeks"
    assert ", ".join(map(duration, minutes)) == said


def test_a_zone_has_its_name():
    """A zone by name, or any tzinfo, is named by its name."""
    offset = timezone(timedelta(hours=5, minutes=45))
    given = ["Asia/Kathmandu", ZoneInfo("Europe/Berlin"), UTC, offset]
    names = ["Asia/Kathmandu", "Europe/Berlin", "UTC", "UTC+05:45"]
    assert [zone(one)[1] for one in given] == names


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
        assert zone(None)[1] == name
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("given", ["Middle/Earth", "", "/etc/passwd", "a\0b"])
def test_no_zone_is_a_clear_error(given):
    """A name that no zone has is a ValueError that shows one."""
    with pytest.raises(ValueError, match="Europe/Berlin"):
        zone(given)
