"""The README's table of promises, made of the figures that were last measured."""

import datetime
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .frame import Counts, Part, broken, named, parts
from .journal import ROOT, machine, sources

MEASURED = ROOT / "tests" / "campaign" / "measured.json"
README = ROOT / "README.md"
NAMED = 8  # kinds of break that a row tells by name; more of them nobody would read
BEGIN, END = "<!-- promises -->\n", "<!-- end of promises -->\n"


class Promise(NamedTuple):
    """A row of the table: what is promised, and the parts or groups of parts that attack it."""

    told: str
    attacks: tuple[str, ...]


PROMISES = (
    Promise("Secrets never show: in no value, error, traceback, log, panel, saved notebook, report "
            "or process.", ("secrets",)),
    Promise("Whatever a network, a proxy or a broken service does, a reading call, a sweep or a "
            "recording gives what is so, or an error that names its cause, in time. A failed call "
            "is never an empty room.", ("reads",)),
    Promise("Only reads are repeated. A change is made once at most, and none that happened is "
            "told as failed, however many answers are lost; an import that is killed goes on where "
            "it stopped.", ("writes", "kills-import")),
    Promise("An expired token costs one new authentication, however many threads meet it.",
            ("expired-tokens",)),
    Promise("Each button that changes something in the panels of rooms and of devices does what a "
            "public function does.", ("clicks",)),
    Promise("Every result code becomes an error that names its cause and the next step, and says "
            "how sure that is.", ("failures-told",)),
    Promise("With `read_only=True` nothing that changes the service is sent.", ("read-only",)),
    Promise("The sandbox is the interface, complete: any steps in any order, any call, any bytes.",
            ("fuzz-model", "fuzz-schema", "fuzz-requests")),
    Promise("Whatever a service or a camera sends is understood, or refused in words.",
            ("fuzz-records", "fuzz-rtsp")),
    Promise("What was told as done or written is there after a `kill -9`, a full disk, rights "
            "that are missing, a clock that steps, several processes in one folder.",
            ("kills-sandbox", "kills-recorder", "folders")),
    Promise("Thousands of connections, slow callers and huge requests keep nobody else from an "
            "answer of the sandbox, and its memory stays bounded.", ("overload",)),
    Promise("An hour of load takes no descriptor, thread or memory for good, from a sandbox, its "
            "clients or a panel's kernel; but a panel keeps up to some 20 MB of what it has read.",
            ("soak",)),
    Promise("Other people's texts are shown, exported and asked for as texts: no markup, formula, "
            "path or control sequence among them acts.", ("injection",)),
    Promise("No dependency has a weakness known to pip-audit, of those that an advisory service "
            "answered for.", ("audit",)),
)  # fmt: skip


def publish(chosen: Sequence[Part], done: Mapping[str, Counts]) -> None:
    """Keeps the figures of these parts in measured.json and writes the README's table anew."""
    measured = json.loads(MEASURED.read_text("utf-8"))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for part in chosen:
        measured[part.name] = {
            "counts": dict(done[part.name]), "date": today, "machine": machine(),
            "sources": sources(),
        }  # fmt: skip
    MEASURED.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", "utf-8")
    README.write_text(with_table(README.read_text("utf-8"), table(measured)), "utf-8")


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """The table in Markdown: each promise, its figure, and the names that measure it again."""
    rows = ["| what we promise | last measured | again |", "|---|---|---|"]
    for promise in PROMISES:
        attacks = [part for name in promise.attacks for part in named(name, parts())]
        done = [(part, measured[part.name]["counts"]) for part in attacks if part.name in measured]
        since = min((measured[part.name]["date"] for part, _ in done), default="")
        again = " ".join(promise.attacks)
        told = f"{figure(done)} ({since})" if done else "not measured yet"
        rows.append(f"| {promise.told} | {told} | `{again}` |")
    return "\n".join(rows) + "\n"


def figure(done: Sequence[tuple[Part, Counts]]) -> str:
    """What some parts counted, in a line: how much was done, and how often a promise broke."""
    units: Counter[str] = Counter()
    most: dict[str, float] = {}
    wrong: Counter[str] = Counter()
    for part, counts in done:
        for name in (part.unit, *part.beside):
            if name.startswith("most "):
                most[name.removeprefix("most ")] = counts.get(name, 0)
            else:
                units[name] += int(counts.get(name, 0))
        wrong.update(dict.fromkeys(part.never, 0))
        wrong.update(broken(part, counts))
    told = ", ".join(
        [f"{number:,} {unit}" for unit, number in units.items()]
        + [f"at most {number:.2g} {what}" for what, number in most.items()]
    )
    broke = ", ".join(f"{number:,} {what}" for what, number in wrong.items() if number)
    if broke:
        return f"{told}: BROKEN, {broke}"
    if len(wrong) > NAMED:
        return f"{told}: 0 breaks, of {len(wrong)} kinds that are looked for"
    return f"{told}: " + ", ".join(f"0 {what}" for what in wrong)


def with_table(text: str, rows: str) -> str:
    """The README's text with these rows between the two marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{rows}{END}{after}"
