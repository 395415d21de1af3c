"""How far this machine's clock is from the service's, by the Date header of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..checklist import Check
    from .case import Case

MOST = 5.0  # seconds that do no harm; the header has whole ones
_HARM = (
    "the interface shows no time in its signatures, so it should matter only for how long a token "
    "lives, and for certificates (assumed)"
)


def clock(case: Case, name: str) -> Check:
    """Whether this machine's clock and the service's agree."""
    if not case.skews:
        return case.check(
            name, "UNKNOWN", "the service's answers hold no Date header, by which to tell",
            "Compare the clocks by hand (timedatectl) when logins fail or tokens end early.",
        )  # fmt: skip
    skew = min(case.skews, key=abs)  # the quickest answer tells best
    if abs(skew) <= MOST:
        return case.check(
            name, "PASS", f"this machine and the service agree within {MOST:g} s (Date header)"
        )
    return case.check(
        name, "FAIL",
        f"this machine is {duration(skew)} {'behind' if skew > 0 else 'ahead of'} the service, by "
        f"the Date header; {_HARM}",
        "Set the clock that is wrong by a time server (NTP), here or there.",
    )  # fmt: skip


def duration(seconds: float) -> str:
    """Seconds in words of a fitting size."""
    size = abs(seconds)
    for length, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if size >= 2 * length:
            return f"{size / length:.0f} {unit}"
    return f"{size:.0f} s"
