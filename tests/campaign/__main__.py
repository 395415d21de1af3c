"""Attacks every promise, for minutes to hours, and says what held: `python -m tests.campaign`.

Each part comes in seeded pieces. What is done stands in a journal, so that a campaign that was
stopped goes on where it stopped; `--publish` writes the figures into the README.
"""

import argparse
import shutil
import sys
import time
import traceback
from pathlib import Path

from .frame import RAISED, Counts, Part, Piece, broken, named, parts, total
from .journal import ROOT, Journal, machine, sources
from .statement import publish


def main(arguments: list[str]) -> int:
    """0 when nothing was counted that must never be, else 1."""
    asked = arguments_of(arguments)
    known = parts()
    unknown = [name for name in asked.parts if not named(name, known)]
    if unknown:
        sys.exit(f"no part is called {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [part for name in asked.parts or known for part in named(name, known)]
    if asked.list:
        for part in chosen:
            print(f"{part.name:24} {part.pieces:>4} x {part.size:>7,} {part.unit}: {part.promise}")
        return 0
    print(machine(), flush=True)
    journal = Journal(asked.folder / "journal.jsonl", sources())
    try:
        done = {part.name: whole(part, journal, asked) for part in chosen}
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on with the piece that was under way.", flush=True)
        return 130
    except OSError as error:  # the journal's or a folder's; those of a piece are counted there
        sys.exit(f"nothing can be kept in {asked.folder}: {error}; name another with --folder")
    if asked.publish:
        publish(chosen, done)
    return 1 if any(broken(part, done[part.name]) for part in chosen) else 0


def whole(part: Part, journal: Journal, asked: argparse.Namespace) -> Counts:
    """The counts of a part's pieces, those that the journal knows included, printed."""
    most = part.pieces if asked.pieces is None else min(asked.pieces, part.pieces)
    numbers = range(most) if asked.piece is None else [asked.piece]
    found = []
    print(f"\n{part.name}: {part.promise}", flush=True)
    for number in numbers:
        folder = asked.folder / part.name / str(number)
        piece = Piece(part.name, asked.seed, number, asked.size or part.size, folder)
        counts = None if asked.piece is not None else journal.counts(piece)
        if counts is None:
            emptied(folder)
            began = time.monotonic()
            try:
                counts = part.run(piece)
            except Exception:  # noqa: BLE001  # the other pieces are to be run all the same
                traceback.print_exc()
                counts = {RAISED: 1}
            else:
                journal.keep(piece, counts, time.monotonic() - began)
        found.append(counts)
        wrong = broken(part, counts)
        if wrong:
            again = f"python -m tests.campaign {part.name} --seed {asked.seed} --piece {number}"
            again += f" --size {asked.size}" if asked.size else ""
            print(
                f"  BROKEN in piece {number}: {wrong}; see {folder}\n  again: {again}", flush=True
            )
    counts = total(found)
    for name, count in sorted(counts.items()):
        print(f"  {count:>12,.6g} {name}", flush=True)
    return counts


def emptied(folder: Path) -> None:
    """Nothing, once the folder is there and empty: what a run left in it is no part of the next.

    It stands beside it as NUMBER.before, since not every break comes again at once.
    """
    if folder.exists():
        before = folder.with_name(f"{folder.name}.before")
        shutil.rmtree(before, ignore_errors=True)
        folder.rename(before)
    folder.mkdir(parents=True)


def arguments_of(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("parts", nargs="*", help="parts or groups (reads); all if none is named")
    parser.add_argument("--list", action="store_true", help="name the parts, and run none")
    parser.add_argument("--seed", type=int, default=7, help="of all chance (7)")
    parser.add_argument("--size", type=int, help="units a piece, in place of the part's own")
    parser.add_argument("--pieces", type=int, help="of each part the first so many alone")
    parser.add_argument("--piece", type=int, help="run this piece alone, again")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / ".campaign", help="of journal and curves (.campaign)"
    )
    parser.add_argument("--publish", action="store_true", help="write the figures into the README")
    asked = parser.parse_args(arguments)
    if asked.publish and asked.piece is not None:
        parser.error("--publish takes whole parts, or their first --pieces; leave --piece out")
    for name in ("size", "pieces"):
        if (number := getattr(asked, name)) is not None and number < 1:
            parser.error(f"--{name} is {number}, but nothing would be done; give 1 or more")
    return asked


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
