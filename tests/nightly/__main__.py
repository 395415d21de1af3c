"""Attacks what confkit promises, for as long as asked: `python -m tests.nightly`.

Each part comes in seeded pieces, in turn, until the minutes are over. The folder holds a report,
and for each piece what it left.
"""

import argparse
import datetime
import itertools
import os
import platform
import shutil
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from .parts import PARTS
from .piece import ROOT, Piece


def main(arguments: list[str]) -> int:
    """0 when nothing broke, else 1."""
    asked = arguments_of(arguments)
    chosen = [name for name in PARTS if not asked.part or name in asked.part]
    if asked.list:
        for name in chosen:
            print(f"{name:18} {PARTS[name].size:>7,} {PARTS[name].unit:10} {PARTS[name].promise}")
        return 0
    began, done = time.monotonic(), []
    report = asked.folder / "report.md"
    try:
        for number in itertools.count(asked.piece or 0):
            over = time.monotonic() - began > 60 * asked.minutes
            for name in chosen:
                if number == (asked.piece or 0) or not (over or PARTS[name].once):
                    done.append(carried_out(name, number, asked))
                    report.write_text(text_of(done, asked.seed, time.monotonic() - began))
            if over or asked.piece is not None:
                break
    except KeyboardInterrupt:
        print("stopped", flush=True)
    print(f"see {report}", flush=True)
    return 1 if any(piece.broken for piece in done) else 0


def carried_out(name: str, number: int, asked: argparse.Namespace) -> Piece:
    """The piece of this number, in a folder that is empty before."""
    folder = asked.folder / name / str(number)
    shutil.rmtree(folder, ignore_errors=True)
    piece = Piece(name, asked.seed, number, asked.size or PARTS[name].size, folder)
    try:
        PARTS[name].run(piece)
    except Exception:  # noqa: BLE001  # the other pieces are run all the same
        piece.broke("pieces that raised", traceback.format_exc())
    print(f"{name} {number}: {dict(piece.counts)}", flush=True)
    if piece.broken:
        print(f"  BROKEN: {dict(piece.broken)}; see {folder}\n  again: {piece.again()}", flush=True)
    return piece


def text_of(done: list[Piece], seed: int, seconds: float) -> str:
    """The report, in Markdown: of which sources, on what, how much, and what broke."""
    asked = ["git", "describe", "--always", "--abbrev=40", "--dirty"]  # a commit, perhaps changed
    commit = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    when = f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC"
    where = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    text = f"# Nightly, {when}\n\nCommit {commit or 'unknown'}, seed {seed}, {seconds / 60:.0f} "
    text += f"minutes; {where}.\n\n| part | pieces | done | broken |\n|---|---|---|---|\n"
    for name in dict.fromkeys(piece.part for piece in done):
        pieces = [piece for piece in done if piece.part == name]
        told = [
            ", ".join(f"{n:,g} {what}" for what, n in sorted(sum(some, Counter()).items())) or "0"
            for some in ([one.counts for one in pieces], [one.broken for one in pieces])
        ]
        text += f"| {name} | {len(pieces)} | {' | '.join(told)} |\n"
    return text + "".join(f"\n    {piece.again()}\n" for piece in done if piece.broken)


def arguments_of(arguments: list[str]) -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.nightly", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name the parts, and run none")
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="this one alone; may stand several times"
    )
    parser.add_argument("--seed", type=int, default=7, help="of all chance (7)")
    parser.add_argument(
        "--minutes", type=float, default=120, help="no round begins later (120); one is always run"
    )
    parser.add_argument("--size", type=int, help="units a piece, in place of the part's own")
    parser.add_argument("--piece", type=int, help="run the pieces of this number alone, again")
    parser.add_argument("--folder", type=Path, default=ROOT / ".nightly", help="(.nightly)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
