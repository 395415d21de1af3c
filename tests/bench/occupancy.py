"""A month of samples: their size, and a report of ten million beside pandas' own groupby."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import confkit as ck
from confkit.sandbox import Sandbox
from tests.bench.figures import Figure, take_turns


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, Sandbox(seed=1) as sandbox:
        month = sandbox.simulate(rooms=232, days=30, every=60, until="2026-11-01T00:00Z")
        rows = ck.save_occupancy(month, folder)
        size = sum(path.stat().st_size for path in Path(folder).glob("*.parquet"))
        samples = ck.load_occupancy(folder)
    yield Figure("bytes a sample as Parquet", size / rows, 1)
    ways: dict[str, Callable[[], object]] = {
        "pandas": lambda: samples.groupby("room_id")["users"].quantile([0.5, 0.95, 0.99]),
        "capacity_report": lambda: ck.capacity_report(samples),
    }
    usual, ours = (each.cpu for each in take_turns(ways, 9).values())
    yield Figure("`capacity_report` of 10 million samples / pandas' groupby", ours / usual, 1.3)
    usual, ours = (_peak(run) for run in ways.values())
    yield Figure("the same, memory", ours / usual, 1.3)


def _peak(run: Callable[[], object]) -> float:
    """The most memory in MB that it takes for a while (on Linux)."""
    status = Path("/proc/self/status")

    def value(name: str) -> float:
        return int(status.read_text().partition(f"{name}:")[2].split()[0]) / 1024

    Path("/proc/self/clear_refs").write_text("5")
    before = value("VmRSS")
    run()
    return value("VmHWM") - before
