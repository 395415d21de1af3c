"""RoomExplorer with ever more rooms in the kernel (aims: the first rows in 0.3 s, a filter in
0.05 s)."""

from datetime import UTC, datetime

import confkit as ck
from confkit.many.sweeps import Sweep
from confkit.panels import RoomExplorer
from confkit.records import Room, RoomUser
from tests.bench.turns import taken

ROUNDS, SIZES = 3, (1_000, 100_000)


def main() -> None:
    """Prints the table."""
    print(f"explorer in the kernel, seconds, median of {ROUNDS} rounds")
    with ck.connect("sandbox") as client:
        for rooms in SIZES:
            sweep = swept(rooms)
            panel = RoomExplorer(client, sweep)
            ways = {
                "first rows": lambda sweep=sweep: RoomExplorer(client, sweep),
                "filter": lambda panel=panel: panel.filter("team 77"),
                "sort": lambda panel=panel: (panel.filter(), panel.sort("topic")),
            }
            found = taken(ways, ROUNDS)
            shown = ", ".join(f"{name} {found[name].seconds:.3f}" for name in ways)
            print(f"  {rooms:8,} rooms: {shown}")
    print("  (aims: first rows 0.3 s, filter 0.1 s)\n")


def swept(rooms: int) -> Sweep:
    """A finished sweep of so many rooms, none of which was asked for."""
    ids = tuple(f"10{number:06}" for number in range(rooms))
    found: list[object] = [{}]
    for number, room_id in enumerate(ids):
        room = Room(
            room_id=room_id,
            topic=f"Sync of team {(number * 7919 + 5000) % 9973}",
            room_mode=1,
            room_status=1,
            owner_id=f"operations-{number % 50}",
            attendee_max=25,
        )
        found += [room, [RoomUser("Ada", "5f0c")] * (number % 27)]
    now = datetime.now(UTC)
    return Sweep(ids, "SANDBOX", now, 60.0, len(found), True, (True, True), found, None)
