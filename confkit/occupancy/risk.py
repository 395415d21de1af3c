"""Caps that few rooms exceed in the weeks ahead: how few is calibrated on the recording's own past.

Rolling conformal prediction (Vovk, Gammerman, Shafer: Algorithmic Learning in a Random World,
2005). Wherever the past has some weeks and as many as are ahead after them, a room's surplus is by
how much its later peak exceeded its earlier one. Of these, over rooms and weeks, the quantile that
belongs to the risk is what a cap needs above the peak of the last weeks.
"""

import math
import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..errors import ConfigError
from ..text import counted
from ..transport import finite
from .zones import duration

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

LONGEST = 26  # weeks that are looked at, if not twice the time ahead is more
_AHEAD = re.compile(r"(\d{1,4})([wd])")
_LEAST = 4  # weeks without which no change can be seen
_OF_RISK = 0.75  # the rest is for what the weeks ahead have in common and the past had not
_WORST = 0.9  # of the past windows, the one whose surplus is taken where that is larger than of all
_TREND = -1
_SURE = 0.99  # that a change of use is none by chance
_SLIGHT = 0.1  # the change of all rooms together that is no reason to decline

# Weeks are counted back from the last sample, so that the last one is whole. One is seen where it
# has four fifths of the room's usual number of samples, over four days.
_WEEKS = """
SELECT room_id, week, peak, level, used, at_cap,
       n >= 0.8 * median(n) OVER room AND until - since >= 4 * 86400000 AS seen,
       (max(until) OVER room - min(since) OVER room) / 86400000 AS days
FROM (
    SELECT room_id, week, sum(n) AS n, max(users) AS peak, avg(users) AS level,
           max(used) AS used, max(full_) AS at_cap, min(since) AS since, max(t) AS until
    FROM (
        SELECT room_id, t // 86400000 AS day, (latest - t) // 604800000 AS week, max(t) AS t,
               min(t) AS since, count(users) AS n, max(users) AS users,
               max(coalesce(people, users)) AS used,
               max(CAST(users >= nullif(cap, 0) AS INTEGER)) AS full_
        FROM samples, (SELECT max(t) AS latest FROM samples)
        WHERE t > latest - 604800000 * ?::BIGINT AND users IS NOT NULL
        GROUP BY ALL
    )
    GROUP BY ALL
)
WINDOW room AS (PARTITION BY room_id)
ORDER BY room_id
"""


@dataclass(frozen=True)
class Weeks:
    """What was seen of rooms, an entry each, in weeks, the last one last: the `peak` of users, the
    `level` (a usual day's peak), whether people were there, whether it stood `at_cap`, whether the
    week was `seen` in full; and the `days` that each room was seen for at all."""

    rooms: pd.Index
    peak: Floats
    level: Floats
    used: Flags
    at_cap: Flags
    seen: Flags
    days: Floats


def check_risk(risk: float, ahead: Any) -> int:
    """The weeks ahead, whole ones; ConfigError: `risk` or `ahead` is none."""
    if not (finite(risk) and risk < 1):
        raise ConfigError(f"risk is {risk!r}", "Give a share between 0 and 1, such as 0.10.")
    if text := _AHEAD.fullmatch(str(ahead)):
        ahead = timedelta(days=int(text[1]) * (1 if text[2] == "d" else 7))
    if not isinstance(ahead, timedelta) or not ahead > timedelta(0):
        raise ConfigError(f"ahead is {ahead!r}", "Give a time such as '4w' or '10d'.")
    return math.ceil(ahead / timedelta(weeks=1))


def promises(base: "DuckDBPyConnection", risk: float, ahead: int) -> pd.DataFrame:
    """One row per room: the cap `promised` for so many weeks `ahead`, missing where none can be,
    `why` that is so, `days_seen`, and on how many past `windows` it rests, over all rooms.

    Rooms are only compared with rooms like them: used, below their cap, seen without a gap.
    """
    weeks = seen_weeks(base, max(LONGEST, 2 * ahead))
    count = weeks.peak.shape[1]
    rests = max(ahead, count // 2)  # weeks whose peak a cap rests on
    share, windows, full = _surplus(weeks, rests, ahead, risk * _OF_RISK)
    past = weeks.peak[:, -rests:].max(axis=1, initial=0)
    cap = np.maximum(1, np.floor(past + share * _spread(past) + 1e-9))
    lacks = f"only {counted(windows, 'window')} of the past to compare with"
    if full:
        lacks = f"{full} of {counted(windows, 'window')} of the past ended at a cap"
    why = _declined(weeks, ahead, rests, lacks if math.isinf(share) else "")
    table = {
        "promised": pd.array(np.where(why == "", cap, np.nan), "Float64"),
        "why": why,
        "days_seen": np.ceil(weeks.days),
        "windows": windows,
    }
    return pd.DataFrame(table, index=weeks.rooms)


def seen_weeks(base: "DuckDBPyConnection", most: int) -> Weeks:
    """The last weeks of a recording, at the most so many."""
    found = base.execute(_WEEKS, [most]).df()
    count = int(found.loc[found["seen"], "week"].max() + 1) if found["seen"].any() else 0
    days = found.groupby("room_id")["days"].first()
    found["week"] = count - 1 - found["week"]
    found = found[found["week"] >= 0]

    def table(name: str) -> NDArray[Any]:
        wide = found.pivot(index="room_id", columns="week", values=name).astype(float)
        return wide.reindex(index=days.index, columns=range(count)).fillna(0).to_numpy()

    peak, level, used, at_cap, seen = map(table, ("peak", "level", "used", "at_cap", "seen"))
    return Weeks(days.index, peak, level, used > 0, at_cap > 0, seen > 0, days.to_numpy(float))


def _surplus(weeks: Weeks, rests: int, ahead: int, risk: float) -> tuple[float, int, int]:
    """What a cap needs above a peak, in units of its `_spread`, from how many windows that is
    known, and how many of these ended at a cap; infinite where that is too little for the risk."""
    each = []
    for end in range(rests, weeks.peak.shape[1] - ahead + 1):
        before, after = slice(end - rests, end), slice(end, end + ahead)
        alike = weeks.used[:, before].any(axis=1) & ~weeks.at_cap[:, :end].any(axis=1)
        alike &= weeks.seen[:, end - rests : end + ahead].all(axis=1)
        past, later = weeks.peak[:, before].max(axis=1), weeks.peak[:, after].max(axis=1)
        # Of a room that then stood at its cap nobody knows how many would have come.
        surplus = np.where(weeks.at_cap[:, after].any(axis=1), np.inf, later - past)
        each.append((surplus / _spread(past))[alike])
    found = np.concatenate([*each, np.empty(0)])
    # Windows that overlap say the same in part.
    apart = len(found) / max(1, len(each)) * max(1, (weeks.peak.shape[1] - rests) // ahead)
    worst = [_upper(one, risk, len(one)) for one in each]
    worst = [one for one in worst if math.isfinite(one)]
    share = _upper(found, risk, apart)
    if worst:
        share = max(share, float(np.quantile(worst, _WORST, method="higher")))
    return share, len(found), int(np.isinf(found).sum())


def _upper(found: Floats, risk: float, apart: float) -> float:
    """The value that at most this share of as many exceeds, and one more like them."""
    level = (apart + 1) / max(1, apart) * (1 - risk)
    if not len(found) or level > 1:
        return math.inf
    return float(np.sort(found)[math.ceil(level * len(found)) - 1])


def _spread(peak: Floats) -> Floats:
    """By how much peaks of this size vary, up to a factor: more where more people meet."""
    spread: Floats = np.sqrt(peak + 1)
    return spread


def _declined(weeks: Weeks, ahead: int, rests: int, lacks: str) -> NDArray[np.object_]:
    """Why there is no promise for a room, such as what all of them lack; an empty text where there
    is one."""
    rooms, count = weeks.peak.shape
    last = f"no promise for {counted(ahead, 'week')}"
    why = np.full(rooms, lacks and f"{lacks}: {last}", dtype=object)
    if count >= _LEAST:
        changed = _changes(weeks.level, weeks.seen)
        for room in np.flatnonzero(changed):
            why[room] = f"its use {_told(changed[room], count)}: {last}"
        usual = weeks.level.mean(axis=1, keepdims=True)
        usual = (weeks.level / np.where(usual, usual, np.nan))[usual[:, 0] > 0]
        together = usual.mean(axis=0)[None] if len(usual) else np.ones((1, count))
        if place := _changes(together, np.ones_like(together, dtype=bool))[0]:
            middle = count // 2 if place == _TREND else place
            before, after = together[0, :middle].mean(), together[0, middle:].mean()
            if abs(after - before) > _SLIGHT * before:
                why[:] = f"the use of all rooms {_told(place, count)}: {last}"
    why[weeks.at_cap.any(axis=1)] = f"it stood at its cap: {last}"
    first = count - np.maximum.accumulate(weeks.seen, axis=1).sum(axis=1)
    for room in np.flatnonzero(~weeks.seen.any(axis=1) | (weeks.seen.sum(axis=1) < count - first)):
        why[room] = f"its record has a gap: {last}"
    least = max(2 * ahead, _LEAST)
    little = np.full(rooms, count < least) | (count - first < rests)
    for room in np.flatnonzero(little):
        seen = duration(1440 * weeks.days[room])
        why[room] = f"{seen} seen: {last}, which takes {max(least, rests)} weeks"
    return why


def _told(place: int, count: int) -> str:
    if place == _TREND:
        return "grows or falls from week to week"
    return f"changed {counted(count - int(place), 'week')} before the end"


def _changes(level: Floats, seen: Flags) -> NDArray[np.int64]:
    """For each row the week from which on its level is another one, _TREND where it grows or falls
    all the time, and 0 where it stays the same, as far as that is told from chance."""
    usual = level.sum(axis=1, keepdims=True) / np.maximum(1, seen.sum(axis=1, keepdims=True))
    sure, place = _shaped(np.where(seen, level, usual))
    return np.where(sure > _by_chance(level.shape[1]), place, 0)


def _shaped(level: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """How well the best of some shapes fits each row, steps and a line, in units of what is left
    then; and the place of that step."""
    weeks = np.arange(level.shape[1])
    places = np.append(weeks[2:-1], _TREND)
    shapes = np.array([weeks if at == _TREND else weeks >= at for at in places], dtype=float)
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    level = level - level.mean(axis=1, keepdims=True)
    fits = np.abs(level @ shapes.T)
    left = np.maximum((level**2).sum(axis=1, keepdims=True) - fits**2, 1e-9)
    sure = np.where(fits > 1e-6, fits / np.sqrt(left / (len(weeks) - 2)), 0)
    return sure.max(axis=1), places[sure.argmax(axis=1)]


@cache
def _by_chance(count: int) -> float:
    """What `_shaped` exceeds in one of a hundred rows in which nothing changes."""
    chance = np.random.Generator(np.random.PCG64(count))
    return float(np.quantile(_shaped(chance.standard_normal((20_000, count)))[0], _SURE))
