"""Times in readable form: moments, time zones, days and durations."""

import os
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd

Moment = str | date  # a datetime is a date


def parse_moment(value: Moment, name: str) -> datetime:
    """Return the moment in UTC; ISO text or a datetime without an offset is local time, a date its
    midnight. ValueError names the argument."""
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"{name} is {value!r}; pass a time such as '2026-03-29T08:00' (local) or "
            "'2026-03-29T08:00Z', or a datetime"
        ) from None


def time_zone(tz: str | tzinfo | None) -> tuple[tzinfo, str]:
    """Return the time zone and its name; None for local time. ValueError: no such time zone."""
    try:
        zone = tz if isinstance(tz, tzinfo) else ZoneInfo(_local_name() if tz is None else tz)
    except (ValueError, OSError, LookupError):  # no key, no such file, no such zone
        if tz is not None:
            raise ValueError(
                f"no such time zone: {tz!r}; use one such as 'Europe/Berlin'"
            ) from None
        zone = pd.Timestamp(0, tz="tzlocal()").tzinfo or UTC  # with its changes of the clock
    name = str(datetime.now(zone).tzname() if "tzlocal" in str(zone) else zone)
    return zone, "UTC" if name == "Etc/UTC" else name


def _local_name() -> str:
    """Return the name of the system's time zone; the environment's TZ has precedence."""
    path = os.environ.get("TZ")
    if path is None:
        link = Path("/etc/localtime")
        path = str(link.readlink()) if link.is_symlink() else "/"
    return path.removeprefix(":").rpartition("zoneinfo/")[2] or "UTC"


def duration(minutes: float) -> str:
    """Return a text such as "30 s", "45 min", "14 h 55 min", "2.4 days" or "12 weeks"."""
    if 0 < minutes < 0.99:
        return f"{60 * minutes:.0f} s"
    hours, rest = divmod(round(minutes), 60)
    if hours < 24:
        parts = [f"{hours} h"] * (hours > 0) + [f"{rest} min"] * (rest > 0 or not hours)
        return " ".join(parts)
    unit, size = ("day", 1_440) if minutes < 20_159 else ("week", 10_080)
    number = f"{minutes / size:,.1f}".removesuffix(".0")
    return f"{number} {unit}" if number == "1" else f"{number} {unit}s"


def format_moment(time: datetime) -> str:
    """Return a text such as "Sat 21 Nov 2026, 15:47"."""
    return f"{time:%a} {format_day(time)}, {time:%H:%M}"


def format_day(time: date) -> str:
    """Return a text such as "21 Nov 2026"."""
    return f"{time.day} {time:%b %Y}"


def format_span(first: datetime, last: datetime) -> str:
    """Return a period in days, with the hours if it is within one day."""
    if first.date() == last.date():
        return f"{format_moment(first)} to {last:%H:%M}"
    return f"{format_day(first)} to {format_day(last)}"
