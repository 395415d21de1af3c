"""The README's table of promises, made of the figures that were last measured."""

import datetime
import json
from collections.abc import Mapping, Sequence

from .frame import Counts, Part, broken
from .journal import ROOT, machine

MEASURED = ROOT / "tests" / "campaign" / "measured.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- promises -->\n", "<!-- end of promises -->\n"


def publish(chosen: Sequence[Part], done: Mapping[str, Counts]) -> None:
    """Keeps the figures of these parts in measured.json and writes the README's table anew."""
    measured = json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for part in chosen:
        measured[part.name] = {
            "promise": part.promise, "unit": part.unit, "counts": dict(done[part.name]),
            "broken": broken(part, done[part.name]), "never": list(part.never), "date": today,
            "machine": machine(),
        }  # fmt: skip
    MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", "utf-8")
    README.write_text(with_table(README.read_text("utf-8"), table(measured)), "utf-8")


def table(measured: Mapping[str, Mapping]) -> str:
    """The table in Markdown: a row a part, with its figure and the command that measures it."""
    rows = ["| what we promise | last measured | again |", "|---|---|---|"]
    for name, one in sorted(measured.items()):
        rows.append(f"| {one['promise']} | {figure(one)} | `{name}` |")
    return "\n".join(rows) + "\n"


def figure(one: Mapping) -> str:
    """What one part counted, in a line: how much was done, and how often it broke."""
    counts = one["counts"]
    done = f"{counts[one['unit']]:,.0f} {one['unit']}"
    if one["broken"]:
        return f"{done}: BROKEN, " + ", ".join(f"{n:,.0f} {k}" for k, n in one["broken"].items())
    return f"{done}: 0 {', 0 '.join(one['never'])}"


def with_table(text: str, rows: str) -> str:
    """The README's text with these rows between the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{rows}{END}{after}"
