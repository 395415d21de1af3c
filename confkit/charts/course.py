"""What a room's samples over time come to, in words."""

from datetime import tzinfo

from .times import day, lasting, moment
from .track import Track, by_day, local, unread


def finding(every: Track, name: str) -> str:
    """The room's peak, and for how long it was full, in one line."""
    import numpy as np

    if not len(every.start):
        return f"{name}: no samples"
    if np.isnan(every.users).all():
        return f"{name}: no sample could be read"
    place = int(np.nanargmax(every.users))
    peak, cap, full = float(every.users[place]), every.cap[place], int(every.full.sum())
    if not peak:
        return f"{name}: empty whenever it was read"
    told = f"{name}: peak {peak:,.0f} user{'s' * (peak != 1)}"
    told += ", no cap" if every.capped else ", attendee_max not read"
    if not np.isnan(cap):
        told = f"{name}: peak {peak:,.0f} of {cap:,.0f} users"
    return f"{told}, at the cap for {lasting(full / 60_000)}" if full else told


def summary(every: Track, name: str, here: tzinfo, zone_name: str) -> str:
    """The finding, what was read, and the ten fullest days."""
    import numpy as np

    lines = [finding(every, name)]
    if not len(every.start):
        return lines[0]
    lost = int(np.isnan(every.users).sum())
    first, last = local(every.start[0], here), local(every.end[-1], here)
    lines += [
        f"from {moment(first)} to {moment(last)} ({zone_name})",
        f"samples: {len(every.start):,}, of which could not be read: {lost:,}",
    ]
    if gaps := unread(every):
        lines.append(f"not known for {lasting(sum(b - a for a, b in gaps) / 60_000)}")
    if every.full.any():
        lines.append("while a room is at its cap, how many wanted to come in is not known")
    days = [found for found in by_day(every, here) if found[1]]
    days.sort(key=lambda found: (-found[2], -found[1], found[0]))
    lines += ["the fullest days:"] * bool(days)
    for midnight, peak, full in days[:10]:
        at_cap = f", at the cap for {lasting(full / 60_000)}" if full else ""
        lines.append(f"  {day(midnight)}: peak {peak:,.0f}{at_cap}")
    return "\n".join(lines)
