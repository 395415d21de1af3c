"""A recorder in a time of its own, in which days pass quickly: FOLDER ROOMS START EVERY.

It goes on until it is killed, and what it tells in its log comes as lines on standard output. Where
a sweep is due every six hours, each fourth one is followed by the compaction of a day.
"""

import logging
import sys

import confkit as ck
from confkit.occupancy.recorder import Recorder


def main(folder: str, rooms: str, start: str, every: str) -> None:
    """Records as fast as the service answers."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stdout)
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    now = float(start)

    def sleep(seconds: float) -> None:
        nonlocal now
        now += 1200 * seconds  # a recorder waits a second at most, and then looks again

    with ck.connect() as client:
        recorder = Recorder(folder, clock=lambda: now, ticks=lambda: now, sleep=sleep)
        recorder.record(client, rooms, every=float(every))


if __name__ == "__main__":
    main(*sys.argv[1:])
