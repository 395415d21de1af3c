"""Time zones and times as charts tell them: in English, whatever the machine's language."""

from datetime import datetime, tzinfo

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def zone(tz: str | tzinfo | None) -> tuple[tzinfo, str]:
    """A time zone and its name; None is this machine's own. ValueError where there is none so."""
    from ..occupancy.zones import zone as named  # loads pandas

    found, name = named(tz)
    return found, plain(name)


def plain(name: str) -> str:
    """A zone's name as people know it."""
    return "UTC" if name in ("Etc/UTC", "Etc/Universal", "Zulu") else name


def parsed(time: str | datetime) -> datetime:
    """The time in UTC, of ISO text too; without an offset it is local. ValueError for others."""
    from ..occupancy.zones import moment as given

    return given(time, "time")


def moment(time: datetime) -> str:
    """Such as "Sat 21 Nov 2026, 15:47"."""
    return f"{DAYS[time.weekday()][:3]} {day(time)}, {time:%H:%M}"


def day(time: datetime) -> str:
    """Such as "21 Nov 2026"."""
    return f"{time.day} {_MONTHS[time.month - 1]} {time.year}"


def span(first: datetime, last: datetime) -> str:
    """From when to when, in days; with the hours where it is one day."""
    if first.date() == last.date():
        return f"{moment(first)} to {last:%H:%M}"
    return f"{day(first)} to {day(last)}"


def lasting(minutes: float) -> str:
    """Such as "45 min", "2 h 15 min" or "38 h"; whole minutes, and hours from a day on."""
    whole = round(minutes)
    if whole < 60:
        return f"{whole} min" if whole or not minutes else "under 1 min"
    hours, rest = divmod(whole, 60)
    if hours >= 24:
        return f"{round(whole / 60):,} h"
    return f"{hours} h {rest} min" if rest else f"{hours} h"
