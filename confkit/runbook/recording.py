"""Was a room too small in the last month, and is the recording whole enough to say so?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from ..checklist import Check
from ..errors import ConfigError
from ..many.sweeps import sweep
from .steps import Finding, Steps

if TYPE_CHECKING:
    import pandas as pd

    from ..client import Client

READ, FRESH, OURS = "the recording can be read", "it is recent", "it is of this service"
WHOLE = "every room was read often enough"


def month(recording: str, days: int = 30) -> pd.DataFrame:
    """Return the samples of the last `days` of a recording, as `ck.load_occupancy` does.

    ConfigError: there is no sample in it. RecordingError: there is no recording."""
    if not recording:
        raise ConfigError("no recording is given", "Set recording to confkit record's folder.")
    from ..occupancy.loading import load_occupancy  # needs pyarrow

    samples = load_occupancy(recording)
    if samples.empty:
        raise ConfigError("there is no sample in it")
    found: pd.DataFrame = samples[samples.time > samples.time.max() - timedelta(days=days)]
    found.attrs = samples.attrs
    return found


def fullest(
    client: Client, source: str | pd.DataFrame, tz: str = "UTC", risk: float | None = None
) -> pd.DataFrame:
    """Return `ck.capacity_report` with the rooms' topics (A3), the fullest rooms first; without
    `risk` where the samples are of two services."""
    from ..occupancy.capacity import capacity_report  # needs duckdb
    from ..occupancy.folder import whose

    mixed = ", " in (whose(source) or "")
    report = capacity_report(source, tz=tz, risk=None if mixed else risk)
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
) -> Iterator[Check]:
    """Which rooms were full in the last `days`, for more than `full_minutes`?

    `recording`: a folder that `confkit record` fills; `coverage`: the share of the samples due that
    each room needs; `stale_days`: how old the last sample may be at `now`. Only the rooms' topics
    are read from the service (A3).
    """
    import pandas as pd

    steps = Steps(client)
    covers, small = (
        f"it covers {days} days",
        f"no room was full for more than {full_minutes} minutes",
    )
    samples = yield from steps.asked(
        READ,
        lambda: month(recording, days),
        found=lambda frame: f"{len(frame):,} samples of {frame.room_id.nunique()} rooms",
        advice="Set recording to the folder that confkit record fills, and look whether it runs.",
    )
    if samples is None:
        yield steps.skipped(WHOLE, "there are no samples")
        yield steps.skipped(small, "there are no samples")
        return
    first, last = samples.time.min(), samples.time.max()
    long = (last - first) / timedelta(days=1)
    span = f"{first:%Y-%m-%d} to {last:%Y-%m-%d}, {long:.1f} days"
    if long < 0.98 * days:
        advice = "Wait until there is a month, or set days to what you have."
        yield steps.unknown(covers, span, advice)
    else:
        yield steps.passed(covers, span)
    age = (now or pd.Timestamp.now("UTC")) - last
    if age > timedelta(days=stale_days):
        found = f"it ended {age / timedelta(days=1):.0f} days ago"
        yield steps.unknown(FRESH, found, "Look whether confkit record runs.")
    else:
        yield steps.passed(FRESH, f"its last sample is of {last:%Y-%m-%d %H:%M} UTC")
    yield steps.told(OURS, _ours(client, samples.attrs.get("service")))
    report = fullest(client, samples, tz)
    yield steps.told(WHOLE, _whole(samples, report, coverage))
    yield steps.told(small, _small(report, full_minutes))


def _ours(client: Client, whose: str | None) -> Finding:
    if whose is None:
        return "SKIP", "it does not name the service"
    if whose == client.name:
        return "PASS", f"it was recorded from {whose}"
    return (
        "UNKNOWN",
        f"it was recorded from {whose}, and this is {client.name}",
        "Connect to the service of the recording, or give the recording of this one.",
    )


def _whole(samples: pd.DataFrame, report: pd.DataFrame, coverage: float) -> Finding:
    """A sample that failed, or lacks the room's cap, is a gap, in which the room may be full."""
    no_cap = samples.users.notna() & samples.attendee_max.isna() & samples.ret.ne(0).fillna(True)
    missing = report.room_id.map(no_cap.groupby(samples.room_id).mean())
    seen = report.coverage.fillna(0) * (1 - missing)
    thin = report[seen < coverage]
    if thin.empty:
        return "PASS", f"{len(report)} rooms, at least {seen.min():.1%} of each"
    shares = seen[thin.index].map("{:.0%}".format).where(thin.samples > 0, "never")
    named = ", ".join((thin.room_id + " (" + shares + ")").head(5))
    more = f" and {len(thin) - 5} more" if len(thin) > 5 else ""
    return (
        "UNKNOWN",
        f"{len(thin)} of {len(report)} rooms were not: {named}{more}",
        "Look for gaps of the recorder, and for errors of these rooms in the column ret.",
    )


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
    longest = report.minutes_full.max()
    return "PASS", f"at most {longest:g} minutes" if longest else "none was full"
