"""RoomExplorer with ever more rooms in the kernel, beside DataFrame.to_html with the same frame.

Aims: the first rows in 0.3 s, a filter in 0.1 s. A panel begins with a finished sweep, whose frame
has a column of its own, DataFrame.to_html with the frame.
"""

from datetime import UTC, datetime

import confkit as ck
from confkit.many.reading import Part
from confkit.many.result import Sweep
from confkit.panels import RoomExplorer
from confkit.panels.model import frame_of
from confkit.records import Room, RoomUser
from tests.bench.turns import taken

ROUNDS, SIZES = 3, (1_000, 10_000, 100_000)
COLUMNS = "topic room_id status utilisation people devices mode owner_id"  # of its table
WAYS = ("first rows", "its frame", "filter", "sort", "to_html")


def main() -> None:
    """Prints the table."""
    print(f"explorer in the kernel, seconds, median of {ROUNDS} rounds")
    print(f"  {'rooms':>8}{''.join(f'{name:>13}' for name in WAYS)}")
    with ck.connect("sandbox") as client:
        for rooms in SIZES:
            sweep = swept(rooms)
            panel, frame = RoomExplorer(client, sweep), frame_of(sweep)[COLUMNS.split()]
            runs = (
                lambda sweep=sweep: RoomExplorer(client, sweep),
                sweep.frame,
                lambda panel=panel: panel.filter("team 77"),
                lambda panel=panel: (panel.filter(), panel.sort("topic")),
                lambda frame=frame: frame.to_html(index=False),
            )
            found = taken(dict(zip(WAYS, runs, strict=True)), ROUNDS)
            print(f"  {rooms:8,}{''.join(f'{found[name].seconds:13.3f}' for name in WAYS)}")
    print("  (aims: first rows 0.3 s, filter 0.1 s)\n")


def swept(rooms: int) -> Sweep:
    """A finished sweep of so many rooms, none of which was asked for."""
    ids = tuple(f"10{number:06}" for number in range(rooms))
    found = [
        Room(
            room_id=room_id,
            topic=f"Sync of team {(number * 7919 + 5000) % 9973}",
            room_mode=1,
            room_status=1,
            owner_id=f"operations-{number % 50}",
            attendee_max=25,
        )
        for number, room_id in enumerate(ids)
    ]
    users = [[RoomUser("Ada", "5f0c")] * (number % 27) for number in range(rooms)]
    calls = 2 * rooms + 1
    part = Part(found, users, {}, calls, complete=True)
    return Sweep(ids, "SANDBOX", datetime.now(UTC), 60.0, calls, True, (), part, (True, True), None)
