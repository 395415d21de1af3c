"""What processes take up, seen from outside, a line of a curve at a time."""

import csv
import time
from collections.abc import Mapping
from pathlib import Path

Sample = Mapping[str, float]


def sample(pid: int) -> dict[str, float]:
    """Memory in MB, descriptors and threads of a process; nothing where /proc is not known, or the
    process is gone."""
    place = Path(f"/proc/{pid}")
    try:
        told = dict(
            line.split(":", 1)
            for line in (place / "status").read_text().splitlines()
            if ":" in line
        )
        found = {
            "RSS in MB": int(told["VmRSS"].split()[0]) / 1024,
            "descriptors": sum(1 for _ in (place / "fd").iterdir()),
            "threads": int(told["Threads"]),
        }
    except (OSError, KeyError):
        return {}
    try:
        lines = (place / "smaps_rollup").read_text().splitlines()
        found["PSS in MB"] = (
            next(int(line.split()[1]) for line in lines if line[:4] == "Pss:") / 1024
        )
    except (OSError, StopIteration):
        pass  # not every system lets one look
    return found


class Curve:
    """Samples by the second, kept in a file while they come."""

    def __init__(self, path: Path) -> None:
        self.samples: list[dict[str, float]] = []
        self._path, self._began = path, time.monotonic()
        path.unlink(missing_ok=True)

    def add(self, values: Sample) -> None:
        """Nothing, once a line with these values is in the file."""
        one = {"seconds": round(time.monotonic() - self._began, 2), **values}
        self.samples.append(one)
        new = not self._path.exists()
        with self._path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(self.samples[0]), extrasaction="ignore", restval="")
            if new:
                writer.writeheader()
            writer.writerow({name: f"{value:.6g}" for name, value in one.items()})

    def of(self, name: str) -> list[tuple[float, float]]:
        """The values of this name with their seconds."""
        return [(one["seconds"], one[name]) for one in self.samples if name in one]


def draw(curve: Curve, path: Path, title: str) -> None:
    """Nothing, once the curves stand one above the other in a picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [name for name in curve.samples[0] if name != "seconds"]
    figure = Figure(figsize=(9, 1.3 * len(names)), layout="constrained")
    FigureCanvasAgg(figure)
    for number, name in enumerate(names):
        axes = figure.add_subplot(len(names), 1, number + 1)
        seconds, values = zip(*curve.of(name), strict=True)
        axes.plot([one / 60 for one in seconds], values, linewidth=1)
        axes.set_ylim(0, 1.15 * max(*values, 1e-9))
        axes.set_ylabel(name.replace(" of ", "\nof "), rotation=0, ha="right", va="center", size=7)
        axes.tick_params(labelsize=7)
    axes.set_xlabel("minutes")
    figure.suptitle(title, size=9)
    figure.savefig(path, dpi=100)
