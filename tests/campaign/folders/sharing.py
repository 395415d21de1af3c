"""One of several processes that write one folder: `... sharing FOLDER NUMBER TIMES`.

It prints what it was told is kept: profiles, outcomes of the course, samples.
"""

import json
import sys
import warnings
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pandas as pd

from confkit import profiles
from confkit.course import kept
from confkit.occupancy.compaction import append_sweep, compact, save_occupancy
from confkit.occupancy.loading import load_occupancy
from confkit.occupancy.samples import samples_table

from .home import at_home

_BEGIN = datetime(2026, 12, 31, 12, tzinfo=UTC)


def main(folder: Path, number: int, times: int) -> None:
    """Writes and reads, and prints what it was told is kept."""
    told: dict[str, list[str]] = {"p": [], "c": [], "t": [], "wrong": []}
    samples = folder / "samples"
    with at_home(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        for turn in range(times):
            try:
                profiles.save(f"p{number}-{turn}", {"base_url": "http://h"})
                told["p"].append(f"p{number}-{turn}")
                if kept.keep(f"e{number}-{turn}", True):
                    told["c"].append(f"e{number}-{turn}")
                time = _BEGIN + timedelta(hours=turn)
                frame = pd.DataFrame({
                    "time": time, "room_id": [f"room {number}"], "users": 1, "people": 1,
                    "devices": 0, "attendee_max": None, "ret": 0,
                })  # fmt: skip
                if turn % 2:
                    save_occupancy(frame, samples)
                else:
                    append_sweep(samples, samples_table(frame))
                told["t"].append(f"room {number} {time.isoformat()}")
                if turn % 3 == number:
                    compact(samples, date(2027, 1, 2))
                load_occupancy(samples)
            except Exception as error:  # noqa: BLE001  # that is what is looked for
                told["wrong"].append(f"{number}/{turn}: {error!r}")
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
