"""Other people's texts as attacks, through all that is shown, exported, asked for and stored."""

import csv
import io
from collections import Counter
from pathlib import Path

from confkit.sandbox import Sandbox
from confkit.spreadsheet import as_csv
from confkit.tables import read_csv
from tests.injection import surfaces, texts
from tests.injection.asked import wrong_rooms
from tests.injection.service import hostile

from .frame import Counts, Part, Piece

AT_ONCE = 24  # texts in one service
CHARTED = 6
NEVER = (
    "markup alive",
    "control characters",
    "formulas",
    "cells changed",
    "wrong rooms",
    "files astray",
)


def run(piece: Piece) -> Counts:
    """Texts by chance, so many at once: a room each, its people and its devices are called so."""
    chance = piece.chance("texts")
    counts: Counter[str] = Counter()

    def wrong(name: str, why: str) -> None:
        counts[name] += 1
        piece.broke(f"{name}: {why}")

    while counts["texts"] < piece.size:
        wanted = min(AT_ONCE, max(CHARTED, piece.size - counts["texts"]))
        ids: dict[str, None] = {}
        while len(ids) < wanted:
            ids[texts.composed(chance)] = None
        some = list(ids)
        counts["texts"] += len(some)
        folder = piece.folder / f"occupancy-{counts['texts']}"
        with hostile(some) as (client, _):
            outputs = [
                *surfaces.of_frames(client, some),
                *surfaces.of_panels(client, some),
                *(
                    one
                    for at in range(len(some))
                    for one in surfaces.of_objects([some[at - 1], some[at]])
                ),
            ]
        with hostile(some[:CHARTED]) as (client, _):
            outputs += surfaces.of_charts(client, some[:CHARTED], folder)
        counts["outputs"] += len(outputs)
        for output in outputs:
            name, found = surfaces.wrong(output)
            if found:
                wrong(name, f"{output.where} ({output.kind}): {found!r}")
        for path in astray(piece.folder, folder):
            wrong("files astray", path)
        for why in changed(some, piece.folder):
            wrong("cells changed", why)
        with Sandbox(seed=1) as sandbox, sandbox.connect() as client:
            for why in wrong_rooms(sandbox, client, some):
                wrong("wrong rooms", why)
    return counts


def astray(outer: Path, folder: Path) -> list[str]:
    """The files of a recording that stand outside its folder, or are called by a text."""
    found = []
    for path in outer.rglob("*"):
        name = path.name
        known = (
            path == folder or folder in path.parents or name.startswith(("occupancy-", "broken"))
        )
        if not (known or name == "cells.csv") and "occupancy-" not in str(path):
            found.append(repr(path))
        if not (name.isascii() and name.isprintable()) or set(name) & set(" '\"<>;&$`"):
            found.append(repr(path))
    return found


def changed(some: list[str], folder: Path) -> list[str]:
    """The cells that are another text when an export of them is read again."""
    import pandas as pd

    frame = pd.DataFrame({"room_id": some, "topic": [*some[1:], some[0]]}, dtype="str")
    path = folder / "cells.csv"
    path.write_text(as_csv(frame), "utf-8-sig", newline="")
    if any("\0" in text for text in some):  # which no CSV file holds: U+FFFD stands for it
        frame = frame.replace("\0", "\ufffd", regex=True)
    found = read_csv(path)
    rows = [cells for _, cells in found.rows]
    wanted = frame.to_numpy().tolist()
    plain = list(csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
    if len(plain) != len(wanted) + 1:
        return [f"{len(plain)} lines for {len(wanted)} rows"]
    if found.problems or rows != wanted:
        differing = [pair for pair in zip(rows, wanted, strict=False) if pair[0] != pair[1]]
        return [f"{found.problems!r} {differing!r}"]
    return []


PARTS = (
    Part(
        "injection",
        "A topic, a name or an ID that is markup, a formula, a control sequence or a path is "
        "shown, exported and asked for as the text that it is.",
        "texts",
        run,
        pieces=20,
        size=480,
        short=24,
        never=NEVER,
    ),
)
