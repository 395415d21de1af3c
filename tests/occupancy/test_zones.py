"""Time zones by name."""

from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from confkit.occupancy.zones import duration, zone


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (0, "0 minutes"),
        (0.5, "30 seconds"),
        (1, "1 minute"),
        (2.5, "2.5 minutes"),
        (119, "119 minutes"),
        (120, "2 hours"),
        (3450, "57.5 hours"),
        (4320, "3 days"),
        (20_160, "2 weeks"),
        (525_600, "52.1 weeks"),
    ],
)
def test_a_duration_is_said_in_the_unit_that_fits(minutes, said):
    """Whole numbers have no point, one is singular, and the unit is the largest that fits."""
    assert duration(minutes) == said


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Asia/Kathmandu", "Asia/Kathmandu"),
        (ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
        (UTC, "UTC"),
        (timezone(timedelta(hours=5, minutes=45)), "UTC+05:45"),
    ],
)
def test_a_zone_has_its_name(given, name):
    """A zone by name, or any tzinfo, is named by its name."""
    assert zone(given)[1] == name


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ("Asia/Kathmandu", "Asia/Kathmandu"),
        (":Europe/Berlin", "Europe/Berlin"),
        ("", "UTC"),
        (":/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
    ],
)
def test_the_local_zone_is_that_of_the_process(monkeypatch, environ, name):
    """Without a zone it is the process's own, by its name."""
    monkeypatch.setenv("TZ", environ)
    assert zone(None)[1] == name


def test_a_local_zone_without_a_name_is_told_by_its_offset(monkeypatch):
    """Where no name is to be had, the zone is named by its offset from UTC."""
    import time

    monkeypatch.setenv("TZ", "XYZ-05:45")
    time.tzset()
    try:
        assert zone(None)[1] == "UTC+05:45"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("given", ["Middle/Earth", "", "/etc/passwd", "a\0b"])
def test_no_zone_is_a_clear_error(given):
    """A name that no zone has is a ValueError that shows one."""
    with pytest.raises(ValueError, match="Europe/Berlin"):
        zone(given)
