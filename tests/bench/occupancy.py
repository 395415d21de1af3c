"""Samples over time: their size, and a report of ten million against pandas' own groupby (aims: 1
byte a row; 1.3 of its time and memory)."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

import confkit as ck
from confkit.sandbox import Sandbox
from tests.bench.turns import taken

ROUNDS = 9


def main() -> None:
    """Prints the bytes a row, and the seconds and MB of a report."""
    with tempfile.TemporaryDirectory() as folder, Sandbox(seed=1) as sandbox:
        month = sandbox.simulate(
            rooms=232, days=30, every=60, until="2026-11-01T00:00Z", failures=0.001
        )
        rows = ck.save_occupancy(month, folder)
        size = sum(path.stat().st_size for path in Path(folder).glob("*.parquet"))
        print(f"a month of 232 rooms a minute, {rows:,} rows, as Parquet")
        print(f"  {size / rows:.2f} bytes a row      (aim: 1)\n")
        _report(ck.load_occupancy(folder))


def _report(samples: pd.DataFrame) -> None:
    ways: dict[str, Callable[[], object]] = {
        "pandas": lambda: samples.groupby("room_id")["users"].quantile([0.5, 0.95, 0.99]),
        "capacity_report": lambda: ck.capacity_report(samples),
        "with a risk": lambda: ck.capacity_report(samples, risk=0.1, ahead="1w"),
    }
    seconds = {name: each.cpu for name, each in taken(ways, ROUNDS).items()}
    memory = {name: _peak(run) for name, run in ways.items()}
    print(f"{len(samples):,} samples that are loaded, median of {ROUNDS}  (aim: 1.3, both)")
    for name in ways:
        parts = [each[name] / each["pandas"] for each in (seconds, memory)]
        print(
            f"  {name:16} {seconds[name]:5.2f} s of a processor, {memory[name]:5,.0f} MB more",
            end="",
        )
        print(f"  {parts[0]:.2f}, {parts[1]:.2f}")
    print()


def _peak(run: Callable[[], object]) -> float:
    """The most memory in MB that it takes for a while (on Linux)."""
    status = Path("/proc/self/status")

    def value(name: str) -> float:
        return int(status.read_text().partition(f"{name}:")[2].split()[0]) / 1024

    Path("/proc/self/clear_refs").write_text("5")
    before = value("VmRSS")
    run()
    return value("VmHWM") - before
