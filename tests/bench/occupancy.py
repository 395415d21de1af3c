"""Samples over time: appending them against SQLite, and their size (aims: 1.2 of SQLite's time, 1
byte a row)."""

import itertools
import sqlite3
import tempfile
from pathlib import Path

from confkit.occupancy.folder import append_sweep, save_occupancy
from confkit.occupancy.samples import COLUMNS, samples_table
from confkit.sandbox import Sandbox
from tests.bench.turns import taken

ROUNDS, SWEEPS, ROOMS, UNTIL = 9, 60, 1000, "2026-11-01T00:00Z"


def main() -> None:
    """Prints the milliseconds of an append, and bytes a row."""
    with tempfile.TemporaryDirectory() as place, Sandbox(seed=1) as sandbox:
        _append(Path(place), sandbox)
        folder = Path(place, "month")
        month = sandbox.simulate(rooms=232, days=30, every=60, until=UNTIL, failures=0.001)
        rows = save_occupancy(month, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
        print(f"a month of 232 rooms a minute, {rows:,} rows, compacted")
        print(f"  {size / rows:.2f} bytes a row      (aim: 1)\n")


def _append(place: Path, sandbox: Sandbox) -> None:
    day = sandbox.simulate(rooms=ROOMS, days=1, every=60, until=UNTIL)
    sweeps = [sweep for _, sweep in day.groupby("time")][600 : 600 + SWEEPS]
    tables = [samples_table(sweep) for sweep in sweeps]
    rows = [sweep.assign(time=sweep["time"].astype("int64")).astype(object) for sweep in sweeps]
    lists = [one.where(one.notna(), None)[list(COLUMNS)].values.tolist() for one in rows]
    base = sqlite3.connect(place / "samples.db")
    base.execute("PRAGMA journal_mode = wal")
    base.execute("PRAGMA synchronous = full")
    base.execute(f"CREATE TABLE samples ({', '.join(COLUMNS)})")
    insert = f"INSERT INTO samples VALUES ({', '.join('?' * len(COLUMNS))})"
    at = itertools.cycle(range(SWEEPS))

    def by_sqlite() -> None:
        with base:
            base.executemany(insert, lists[next(at)])

    ways = {"SQLite": by_sqlite, "ours": lambda: append_sweep(place / "hot", tables[next(at)])}
    theirs, ours = (1000 * each.seconds for each in taken(ways, ROUNDS * SWEEPS).values())
    base.close()
    print(f"append of {ROOMS:,} rows, durable, milliseconds, median of {ROUNDS * SWEEPS}")
    print(f"  SQLite {theirs:.2f}, append_sweep {ours:.2f}")
    print(f"  {ours / theirs:.2f} of it      (aim: 1.2)\n")
