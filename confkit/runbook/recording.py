"""The runbook about a recording: which rooms were too small last month?"""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..client import Client
from ..errors import ConfigError
from ..text import counted
from .steps import Checks, Finding, ask, shorten

if TYPE_CHECKING:
    import pandas as pd

_COVERAGE = 0.95  # of the samples due, that a room needs
_RECENT = timedelta(days=2)


def capacity_review(
    client: Client, recording: str, *, days: int = 30, full_minutes: int = 30
) -> Checks:
    """Capacity of a month: which rooms were full for too long, and is the recording complete?

    `recording`: a folder that `confkit record` fills, of which the last `days` count. A room may be
    full for `full_minutes` in them. Nothing is asked of the service.
    """
    samples = yield from ask(
        "Recording",
        lambda: _load(client, recording, days),
        lambda rows: f"{counted(len(rows), 'sample')} of {counted(rows.room_id.nunique(), 'room')}",
    )
    if samples is None:
        return
    from ..occupancy.capacity import capacity_report  # needs pyarrow

    report = capacity_report(samples, tz="UTC")
    now = datetime.fromtimestamp(client.now(), UTC)
    yield from ask("Recording complete", lambda: _complete(samples.time, report, days, now))
    yield from ask("Rooms large enough", lambda: _large_enough(report, full_minutes))


def _load(client: Client, recording: str, days: int) -> "pd.DataFrame":
    """Return the samples of this service's last days; those of other services do not count."""
    from ..occupancy.folder import load_service  # needs pyarrow

    samples = load_service(client.name, recording)
    recent: pd.DataFrame = samples[samples.time > samples.time.max() - timedelta(days=days)]
    if recent.empty:
        raise ConfigError(f"there are no samples in {recording}", "Check recording, and days.")
    return recent


def _complete(
    times: "pd.Series[pd.Timestamp]", report: "pd.DataFrame", days: int, now: datetime
) -> str | Finding:
    first, last = times.min(), times.max()
    gaps = report.room_id[report.coverage < _COVERAGE]
    detail = f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC, "
    detail += f"gaps in {shorten(gaps)}" if len(gaps) else "no gaps"
    if now - last <= _RECENT and last - first >= 0.98 * timedelta(days=days) and gaps.empty:
        return detail
    advice = (
        "Check that `confkit record` runs, and look for errors in the column ret. Wait until there "
        f"are {days} days without gaps, or set days (-p days=...) to what you have."
    )
    return "UNKNOWN", detail, advice


def _large_enough(report: "pd.DataFrame", full_minutes: int) -> str | Finding:
    full = report[report.minutes_full > full_minutes].sort_values("minutes_full", ascending=False)
    if report.minutes_full.isna().all():
        return "UNKNOWN", "no room could be read", "Look at the column ret of the samples."
    if full.empty:
        return f"none was full for more than {report.minutes_full.max():g} minutes"
    advice = (
        "Create each anew with a larger attendee_max, and give people its number. Then record "
        "again: who else wanted to join is not known. `ck.capacity_report` has all rooms."
    )
    pairs = zip(full.room_id, full.reason, strict=True)
    return "FAIL", shorten(f"{room_id}: {reason}" for room_id, reason in pairs), advice
