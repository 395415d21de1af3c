"""Moments and time zones as people give them, and durations as people say them."""

import os
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd

Moment = str | date  # a datetime is a date


def moment(given: Moment, name: str) -> datetime:
    """The moment in UTC; ISO text or a datetime without an offset is local time, a date its
    midnight. ValueError names the argument."""
    try:
        if not isinstance(given, str | date):
            raise TypeError
        if isinstance(given, str):
            given = datetime.fromisoformat(given)  # others guess at which number is the month
        found = pd.Timestamp(given)
        if pd.isna(found):
            raise TypeError
        return found.to_pydatetime(warn=False).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name} is {given!r}; give a time such as '2026-03-29T08:00' (local) or "
            "'2026-03-29T08:00Z', or a datetime"
        ) from None


def zone(given: str | tzinfo | None) -> tuple[tzinfo, str]:
    """The time zone and its name; None is this machine's. ValueError where there is none so."""
    here: tzinfo
    try:
        here = (
            given
            if isinstance(given, tzinfo)
            else ZoneInfo(_local_name() if given is None else given)
        )
    except (ValueError, OSError, LookupError):  # no key, no such file, no such zone
        if given is not None:
            raise ValueError(
                f"there is no time zone {given!r}; give one such as 'Europe/Berlin'"
            ) from None
        here = timezone(datetime.now().astimezone().utcoffset() or timedelta())
    name = str(here)
    return here, "UTC" if name in ("Etc/UTC", "Etc/Universal", "Zulu") else name


def duration(minutes: float) -> str:
    """Such as "30 seconds", "45 minutes", "57.5 hours", "9 days" or "12 weeks"."""
    units = (("week", 10_080, 2), ("day", 1_440, 3), ("hour", 60, 2), ("minute", 1, 1))
    fits = (unit[:2] for unit in units if minutes >= unit[1] * unit[2] - 1e-6)
    unit, size = next(fits, ("second", 1 / 60) if minutes > 0 else ("minute", 1))
    number = minutes / size
    written = f"{number:,.1f}".removesuffix(".0")
    return f"{written} {unit}" if written == "1" else f"{written} {unit}s"


def _local_name() -> str:
    """Where systems keep the name of their zone; what a process's TZ says goes before."""
    name = os.environ.get("TZ")
    if name is not None:
        return name.removeprefix(":").rpartition("zoneinfo/")[2] or "UTC"
    link = Path("/etc/localtime")
    return str(link.readlink()).rpartition("zoneinfo/")[2] if link.is_symlink() else ""
