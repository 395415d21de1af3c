"""Was a room too small in the last month, and is the recording whole enough to say so?"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..sweep import sweep
from ..text import counted
from .rooms import few
from .steps import Checks, Finding, asked, told

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client


def month(recording: str, service: str, days: int = 30) -> pd.DataFrame:
    """Return the samples of the last `days` of a recording, as `ck.load_occupancy` does; of this
    service where it has any.

    ConfigError: there is no sample in it, or no such folder."""
    if not recording:
        raise ConfigError("no recording is given", "Set recording to confkit record's folder.")
    samples = _own(recording, service)
    if samples.empty:
        raise ConfigError("there is no sample in it")
    found: pd.DataFrame = samples[samples.time > samples.time.max() - timedelta(days=days)]
    return found


def _own(recording: str, service: str) -> pd.DataFrame:
    """Return the samples of this service, or all of them where there is none. ConfigError: these
    are of several services."""
    from ..occupancy.folder import load_occupancy  # needs pyarrow
    from ..occupancy.samples import service_of

    samples = load_occupancy(recording)
    own = samples[samples.service == service]
    samples = own if len(own) else samples
    service_of(samples)
    return samples


def fullest(
    client: Client, source: str | pd.DataFrame, tz: str = "UTC", risk: float | None = None
) -> pd.DataFrame:
    """Return `ck.capacity_report` with the rooms' topics (A3), the fullest rooms first; of a folder
    with samples of several services, of those of this one."""
    from ..occupancy.capacity import capacity_report  # needs pyarrow

    samples = _own(source, client.name) if isinstance(source, str) else source
    report = capacity_report(samples, tz=tz, risk=risk)
    read = sweep(client, list(report.room_id), users=False, progress=False)
    report["topic"] = report.room_id.map({room.room_id: room.topic for room in read.rooms})
    return report.sort_values(["minutes_full", "peak"], ascending=False)


def capacity_review(
    client: Client,
    recording: str,
    *,
    days: int = 30,
    full_minutes: int = 30,
    coverage: float = 0.95,
    stale_days: int = 2,
    tz: str = "UTC",
    now: pd.Timestamp | None = None,
) -> Checks:
    """Which rooms were full in the last `days`, for more than `full_minutes`?

    `recording`: a folder that `confkit record` fills; `coverage`: the share of the samples due that
    each room needs; `stale_days`: how old the last sample may be at `now`. Only the rooms' topics
    are read from the service (A3).
    """
    import pandas as pd

    from ..occupancy.samples import service_of

    samples = yield from asked(
        "the recording can be read",
        lambda: month(recording, client.name, days),
        lambda frame: (
            f"{counted(len(frame), 'sample')} of {counted(frame.room_id.nunique(), 'room')}"
        ),
        advice="Set recording to the folder that confkit record fills, and look whether it runs.",
    )
    if samples is None:
        return
    first, last = samples.time.min(), samples.time.max()
    age, long = (now or pd.Timestamp.now("UTC")) - last, last - first
    whose = service_of(samples) or client.name
    span = f"{first:%Y-%m-%d} to {last:%Y-%m-%d}, {long / timedelta(days=1):.1f} days"
    for check, well, found, advice in (
        (
            f"it covers {days} days",
            long >= 0.98 * timedelta(days=days),
            span,
            "Wait until there is a month, or set days to what you have.",
        ),
        (
            "it is recent",
            age <= timedelta(days=stale_days),
            f"its last sample is of {last:%Y-%m-%d %H:%M} UTC",
            "Look whether confkit record runs.",
        ),
        (
            "it is of this service",
            whose == client.name,
            f"it was recorded from {whose}",
            f"This is {client.name}: connect to the service of the recording.",
        ),
    ):
        yield told(check, found if well else ("UNKNOWN", found, advice))
    report = fullest(client, samples, tz)
    yield told(
        "every room was read often enough", _whole(report.set_index("room_id").coverage, coverage)
    )
    small = f"no room was full for more than {full_minutes} minutes"
    yield told(small, _small(report, full_minutes))


def _whole(seen: pd.Series[float], coverage: float) -> Finding:
    thin = seen[seen < coverage]
    if thin.empty:
        return f"{counted(len(seen), 'room')}, at least {seen.min():.1%} of each"
    named = few(f"{room_id} ({share:.0%})" for room_id, share in thin.items())
    advice = "Look for gaps of the recorder, and for errors of these rooms in the column ret."
    return "UNKNOWN", f"{len(thin)} of {counted(len(seen), 'room')} were not: {named}", advice


def _small(report: pd.DataFrame, full_minutes: int) -> Finding:
    full = report[report.minutes_full.fillna(0) > full_minutes]
    if len(full):
        topics = full.topic.where(full.topic.notna(), full.room_id)
        return (
            "FAIL",
            "; ".join(f"{one}: {why}" for one, why in zip(topics, full.reason, strict=True)),
            "Give these rooms a larger attendee_max: create a new room each, and give people its "
            "number. Then record again, as true demand is not known.",
        )
    if report.minutes_full.isna().all():
        return "UNKNOWN", "no room could be read", "Look at the column ret of the samples."
    return f"at most {report.minutes_full.max():g} minutes"
