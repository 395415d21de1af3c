"""Writes, while something is wrong with the disk or the folder, and looks at what is there then.

`python -m tests.campaign.folders.attempting FOLDER SEED SIZE MOUNTS` runs in a process of its own,
since limits and mounts are a process's; it prints what it counted.
"""

import json
import logging
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from confkit.errors import ConfkitError

from .writers import Unreadable, Writer, writers

_STEP = re.compile(r"\b(free|give|name|see|set|run|call|ask|look|make|end|restart)\b", re.I)
_DISK = 4_000_000  # bytes of the disk that is filled
_PLAIN = ("table", "picture")  # whose OSError is what Python people expect
_CLOSED = ("rooms", "people")  # are on the disk, but not in the folder that is closed


class Attempts:
    """What was written by whom, what is known to be there, and what is wrong with it."""

    def __init__(self, folder: Path, chance: random.Random, mounts: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []
        self._chance, self._mounts = chance, mounts
        self._disk = folder / "disk"
        self._disk.mkdir(exist_ok=True)
        if mounts:
            _run("mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(self._disk))
        self.inside, self.store = self._disk / "inside", self._disk / "store"
        self.inside.mkdir(exist_ok=True)
        self._tried: dict[str, set[int]] = {}
        self._known: dict[str, list[int]] = {}

    def attempt(self, writer: Writer, number: int) -> None:
        """One write under one fault, and a look at the place afterwards."""
        faults = [self._limited, self._full] if self._mounts else [self._limited]
        if writer.place not in _CLOSED:
            faults += [self._gone]
            if self._mounts or os.geteuid():  # without mounts nothing is closed to root
                faults += [self._closed]
        fault = self._chance.choice([*faults, self._well])
        if not writer.rewrites:
            self._tried.setdefault(writer.place, set()).add(number)
        self.counts["writes"] += 1
        with fault(writer) as name:
            self.counts[name] += 1
            if self._written(writer, number, name) and not writer.rewrites:
                self._know(writer, number)
            if name == "writes into a folder that went":
                self._look(writer, name)
        self._look(writer, name)

    def _written(self, writer: Writer, number: int, name: str) -> bool:
        try:
            if writer.write(number) is not False:
                return True
        except ConfkitError as error:
            if not _STEP.search(str(error)):
                self._wrong("errors without a next step", f"{writer.name}: {error}")
        except OSError as error:
            if writer.name not in _PLAIN:
                self._wrong("foreign exceptions", f"{writer.name}, {name}: {error!r}")
        except Exception as error:  # noqa: BLE001  # that is what is looked for
            self._wrong("foreign exceptions", f"{writer.name}, {name}: {error!r}")
        self.counts["writes that failed"] += 1
        if name == "writes as usual":
            self._wrong("foreign exceptions", f"{writer.name} failed with nothing wrong")
        return False

    def _know(self, writer: Writer, number: int) -> None:
        known = self._known.setdefault(writer.place, [])
        if writer.cycle:
            known.clear()
        known.append(number)

    def _look(self, writer: Writer, name: str) -> None:
        told = f"{writer.name}, {name}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = list(writer.read())
        except Unreadable as error:
            self._wrong("half-written files", f"{told}: {error}")
            return
        except Exception as error:  # noqa: BLE001  # whatever cannot be read is counted
            self._wrong("unreadable files", f"{told}: {error!r}")
            return
        known, tried = self._known.get(writer.place, []), self._tried.get(writer.place, set())
        if writer.cycle:
            allowed = {one % writer.cycle for one in (*known, *tried)}
            if (known and not found) or not set(found) <= allowed:
                self._wrong("lost values", f"{told}: {found} in place of {known}")
            self._tried[writer.place] = set(found)
            self._known[writer.place] = found
            return
        if len(found) != len(set(found)):
            self._wrong("doubled samples", told)
        lost = set(known) - set(found)
        if lost:
            self._wrong("lost values", f"{told}: {sorted(lost)}")
        # One that failed may be there all the same, and is from then on.
        self._known[writer.place] = sorted(set(found) & tried)

    def _wrong(self, name: str, why: str) -> None:
        self.counts[name] += 1
        self.notes.append(f"{name}: {why}")

    @contextmanager
    def _well(self, _: Writer) -> Iterator[str]:
        yield "writes as usual"

    @contextmanager
    def _limited(self, _: Writer) -> Iterator[str]:
        """No file may grow beyond a few bytes: a disk that is full, for whoever asks."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self._chance.randrange(6_000), hard))
        try:
            yield "writes beyond a limit"
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @contextmanager
    def _full(self, _: Writer) -> Iterator[str]:
        ballast = self._disk / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(b"x" * 4096)
        with ballast.open("rb+") as file:
            file.truncate(max(0, ballast.stat().st_size - 4096 * self._chance.randrange(4)))
        try:
            yield "writes on a full disk"
        finally:
            ballast.unlink()

    @contextmanager
    def _closed(self, _: Writer) -> Iterator[str]:
        if self._mounts:
            _run("mount", "--bind", str(self.inside), str(self.inside))
            _run("mount", "-o", "remount,bind,ro", str(self.inside))
            try:
                yield "writes into a read-only folder"
            finally:
                _run("umount", str(self.inside))
            return
        folders = [self.inside, *(place for place in self.inside.rglob("*") if place.is_dir())]
        for folder in folders:
            folder.chmod(0o500)
        try:
            yield "writes into a read-only folder"
        finally:
            for folder in folders:
                folder.chmod(0o700)

    @contextmanager
    def _gone(self, writer: Writer) -> Iterator[str]:
        """The folder goes; what was in it is no loss until it comes back."""
        away = self.inside.with_name("away")
        self.inside.rename(away)
        before = self._known.pop(writer.place, [])
        try:
            yield "writes into a folder that went"
        finally:
            shutil.rmtree(self.inside, ignore_errors=True)
            away.rename(self.inside)
            self._known[writer.place] = before


def main(folder: Path, seed: str, size: int, mounts: bool) -> None:
    """Writes so often, and prints what was counted, and why."""
    logging.disable()  # what fails is told here in another way
    chance = random.Random(seed)
    attempts = Attempts(folder, chance, mounts)
    with ExitStack() as around:
        known = writers(attempts.inside, attempts.store, around)
        order: list[Writer] = []
        for number in range(size):
            if not order:
                order = chance.sample(known, len(known))
            attempts.attempt(order.pop(), number)
    if not mounts:
        attempts.counts["kinds not tried without rights to mount"] += 1
    print(json.dumps({"counts": attempts.counts, "notes": attempts.notes}))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4] == "mounts")
