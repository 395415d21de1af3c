"""Samples over time: appending them against SQLite, their size, and percentiles against pandas
(aims: 1.2 of SQLite's time, 1 byte a row, 1/8 of pandas' time)."""

import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

from confkit.occupancy.folder import append_sweep, save_occupancy
from confkit.occupancy.samples import COLUMNS, samples_table
from confkit.sandbox import Sandbox
from tests.bench.turns import taken

ROUNDS, SWEEPS, ROOMS = 9, 60, 1000
MONTH = {"rooms": 232, "days": 30, "every": 60, "until": "2026-11-01T00:00Z", "failures": 0.001}

# Each in a process of its own, which prints its seconds without imports, and its peak memory.
WAYS = {
    "pandas, p95": """
pd.read_parquet(folder, columns=["room_id", "users"]).groupby("room_id")["users"].quantile(0.95)
""",
    "DuckDB, p95": """
with samples_database(folder) as base:
    base.execute(
        "SELECT room_id, quantile_disc(users, 0.95) FROM samples GROUP BY room_id"
    ).df()
""",
    "p95 from counts": """
with samples_database(folder) as base:
    base.execute(
        "CREATE VIEW seen AS SELECT room_id, users, count(*) AS n FROM samples "
        "WHERE users IS NOT NULL GROUP BY ALL"
    )
    room_quantiles(base, {"p95": 0.95}, in_use=False)
""",
    "capacity_report": """
capacity_report(folder, "Europe/Berlin")
""",
}
MEASURED = """
import json, pathlib, sys, time
import duckdb, pandas as pd, pyarrow.parquet
from confkit.occupancy.capacity import capacity_report
from confkit.occupancy.counting import room_quantiles
from confkit.occupancy.counting import samples_database

def peak():  # not getrusage's, which counts what the process that started this one had
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024

folder, before, began = sys.argv[1], peak(), time.perf_counter()
{way}
print(json.dumps([time.perf_counter() - began, peak() - before]))
"""


def main() -> None:
    """Prints the milliseconds of an append, bytes a row, and seconds and memory of percentiles."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("CONFKIT_BENCH_DISK")) as place:
        _append(Path(place))
        folder = Path(place) / "month"
        rows = _month(folder)
        _percentiles(folder, rows)


def _append(place: Path) -> None:
    with Sandbox(seed=1) as sandbox:
        month = sandbox.simulate(rooms=ROOMS, days=1, every=60, until=MONTH["until"])
    sweeps = [sweep for _, sweep in month.groupby("time")][600 : 600 + SWEEPS]
    tables = [samples_table(sweep) for sweep in sweeps]
    lists = [_tuples(sweep) for sweep in sweeps]
    with sqlite3.connect(place / "samples.db", isolation_level=None) as base:
        base.execute("PRAGMA journal_mode = wal")
        base.execute("PRAGMA synchronous = full")
        base.execute(
            "CREATE TABLE samples (time INTEGER, room_id TEXT, users INTEGER, people INTEGER, "
            "devices INTEGER, attendee_max INTEGER, ret INTEGER)"
        )
        hot, at = place / "hot", itertools.cycle(range(SWEEPS))
        ways = {
            "SQLite": lambda: _insert(base, lists[next(at)]),
            "append_sweep": lambda: append_sweep(hot, tables[next(at)]),
            "SQLite, from a frame": lambda: _insert(base, _tuples(sweeps[next(at)])),
            "append_sweep, from a frame": lambda: append_sweep(
                hot, samples_table(sweeps[next(at)])
            ),
        }
        seconds = {way: each.seconds for way, each in taken(ways, ROUNDS * SWEEPS).items()}
    base.close()
    print(f"append of {ROOMS:,} rows, durable, median of {ROUNDS * SWEEPS}")
    for given, aim in (("", "      (aim: 1.2)"), (", from a frame", "")):
        ours, theirs = f"append_sweep{given}", f"SQLite{given}"
        print(f"  {theirs:<28}{1000 * seconds[theirs]:6.2f} ms")
        print(f"  {ours:<28}{1000 * seconds[ours]:6.2f} ms")
        print(f"  {'ratio':<28}{seconds[ours] / seconds[theirs]:6.2f}{aim}")
    print()


def _tuples(sweep: pd.DataFrame) -> list[tuple[Any, ...]]:
    times = sweep["time"].astype("int64").tolist()
    others = (sweep[name].astype(object).where(sweep[name].notna(), None) for name in COLUMNS[1:])
    return list(zip(times, *others, strict=True))


def _insert(base: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    base.execute("BEGIN")
    base.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    base.execute("COMMIT")


def _month(folder: Path) -> int:
    with Sandbox(seed=1) as sandbox:
        month = sandbox.simulate(**MONTH)
    rows = save_occupancy(month, folder)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"a simulated month of {MONTH['rooms']} rooms at {MONTH['every']} s, compacted")
    print(f"  bytes a row       {size / rows:6.2f}      (aim: 1)\n")
    return rows


def _percentiles(folder: Path, rows: int) -> None:
    found: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            told = subprocess.run(
                [sys.executable, "-c", MEASURED.format(way=way), str(folder)],
                check=True,
                stdout=subprocess.PIPE,
            ).stdout
            found[name].append(json.loads(told))
    pandas = median(seconds for seconds, _ in found["pandas, p95"])
    print(f"p95 per room over {rows:,} rows of a folder, median of {ROUNDS}")
    for name, values in found.items():
        seconds, memory = (median(column) for column in zip(*values, strict=True))
        aim = "      (aim: 0.125)" if name == "p95 from counts" else ""
        share = f"{seconds / pandas:6.2f} of pandas"
        print(f"  {name:<18}{seconds:6.2f} s {memory:6.0f} MB {share}{aim}")
    print()
