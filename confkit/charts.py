"""Charts: a DataFrame in, a matplotlib Figure out, no I/O."""

from typing import TYPE_CHECKING

from .errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NEAR = 0.8  # of the cap: from here on a room is nearly full

# Safe for colour-blind people (from the Okabe-Ito palette); states differ in hatching too.
_LOOKS = {
    "free": ("#56b4e9", ""),
    "near": ("#e69f00", "///"),
    "full": ("#d55e00", "xxx"),
    "no cap": ("#bbbbbb", ""),
}


def occupancy_chart(frame: "pd.DataFrame", *, service: str | None = None) -> "Figure":
    """A bar a room: its users against its `attendee_max`, the fullest on top.

    The frame holds `room_id`, `users` and `attendee_max`, and `topic` where there is one. A room
    whose users could not be read (`users` missing) is named as such, never drawn as empty; without
    a cap (missing or 0) a room's bar is grey. `service` stands in the title.
    """
    try:
        from matplotlib.ticker import MaxNLocator

        from .figure import Chart, families
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"charts need {error.name}; run: pip install 'confkit-notebooks[lab]'"
        ) from None

    missing = {"room_id", "users", "attendee_max"} - set(frame.columns)
    if missing:
        raise ValueError(f"the frame has no column {', '.join(sorted(missing))}")
    rows = _rows(frame)
    figure = Chart(figsize=(8, max(1.8, 0.42 * len(rows) + 1.4)), dpi=110, layout="constrained")
    axes = figure.add_subplot()
    title = axes.set_title(_finding(rows, service), loc="left", fontsize=11)
    for place, (_, users, cap) in enumerate(rows):
        if users is None:
            axes.text(0, place, " could not be read", va="center", color="#555555", style="italic")
            continue
        colour, hatch = _LOOKS[_state(users, cap)]
        axes.barh(place, users, height=0.6, color=colour, hatch=hatch, edgecolor="white")
        if cap:
            axes.plot([cap, cap], [place - 0.38, place + 0.38], color="#222222", linewidth=2)
        told = f" {users} of {cap}" if cap else f" {users}, no cap"
        axes.text(max(users, cap or 0), place, told, va="center", fontsize=9)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    for text in (title, *axes.get_yticklabels()):
        text.set_parse_math(False)  # a topic may hold dollars
        text.set_fontfamily(families())
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(0, 1.18 * max([1, *(max(users or 0, cap or 0) for _, users, cap in rows)]))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("users in the room; the line is attendee_max")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    return figure


def _rows(frame: "pd.DataFrame") -> list[tuple[str, int | None, int | None]]:
    import pandas as pd

    topics = frame["topic"] if "topic" in frame.columns else frame["room_id"]
    rows = [
        (
            _short(room_id if pd.isna(topic) else topic),
            None if pd.isna(users) else int(users),
            None if pd.isna(cap) else int(cap),
        )
        for room_id, topic, users, cap in zip(
            frame["room_id"], topics, frame["users"], frame["attendee_max"], strict=True
        )
    ]
    return sorted(rows, key=lambda row: -_utilisation(row[1], row[2]))


def _short(name: object) -> str:
    plain = "".join(letter if letter.isprintable() else " " for letter in str(name))
    return plain if len(plain) <= 32 else plain[:31] + "…"


def _utilisation(users: int | None, cap: int | None) -> float:
    if users is None:
        return -2.0
    return users / cap if cap else -1.0


def _state(users: int, cap: int | None) -> str:
    if not cap:
        return "no cap"
    return "full" if users >= cap else "near" if users >= NEAR * cap else "free"


def _finding(rows: list[tuple[str, int | None, int | None]], service: str | None) -> str:
    states = [_state(users, cap) for _, users, cap in rows if users is not None]
    unread = len(rows) - len(states)
    parts = [
        f"{states.count('full')} of {len(rows)} rooms full",
        f"{states.count('near')} nearly",
    ]
    if unread:
        parts.append(f"{unread} could not be read")
    told = ", ".join(parts) if rows else "no rooms"
    return f"{told} — {service}" if service else told
