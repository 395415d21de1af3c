"""Plants each fault in a copy of this checkout and runs its tests there: which are noticed?

`python -m tests.mutations [NAME...] [--jobs 2]` ends with 1 unless all are. First the same tests
have to pass without a fault.
"""

import argparse
import compileall
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from . import ROOT, Fault, faults, summary, verdict

LONGEST = 600.0  # seconds for the tests of one fault
OPTIONS = "-q -o addopts= -p no:cacheprovider -p no:randomly --timeout=90"
PYTEST = [sys.executable, "-m", "pytest", *OPTIONS.split()]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis")


class Outcome(NamedTuple):
    """The `verdict` on a fault, pytest's last line, and the seconds that it took."""

    verdict: str
    told: str
    seconds: float = 0.0


def main(arguments: list[str]) -> int:
    """0 where all faults were noticed, else 1."""
    known = {fault.name: fault for fault in faults()}
    parser = argparse.ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}")
    parser.add_argument("--jobs", type=int, default=2, help="faults at once (2)")
    given = parser.parse_args(arguments)
    if strange := set(given.names) - set(known):
        parser.error(f"there is no fault {', '.join(sorted(strange))}; --help lists them")
    chosen = [known[name] for name in given.names or known]
    began, jobs = time.monotonic(), max(1, given.jobs)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(copied(Path(folder) / str(number)))
        try:
            wanted = list(dict.fromkeys(test for fault in chosen for test in fault.tests))
            shares = [share for n in range(jobs) if (share := wanted[n::jobs])]
            for sound in pool.map(lambda share: tried(copies, share), shares):
                print(f"without a fault: {sound.told}", flush=True)
                if sound.verdict != "missed":
                    sys.exit("these tests have to pass as they are, and none may be skipped")
            outcomes = pool.map(lambda fault: tried(copies, fault.tests, fault), chosen)
            noticed = sum(shown(*pair) for pair in zip(chosen, outcomes, strict=True))
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C no other fault is begun
    minutes = (time.monotonic() - began) / 60
    print(f"{noticed} of {len(chosen)} noticed, in {minutes:.1f} minutes")
    return int(noticed < len(chosen))


def shown(fault: Fault, outcome: Outcome) -> bool:
    """Whether the fault was noticed, which is printed."""
    noticed = outcome.verdict == "noticed"
    why = "" if noticed else f": {fault.says} {outcome.told}"
    print(f"{outcome.verdict:<7} {outcome.seconds:5.1f} s  {fault.name}{why}", flush=True)
    return noticed


def copied(place: Path) -> Path:
    """A copy of this checkout, from which confkit is imported wherever a process works."""
    shutil.copytree(ROOT, place, ignore=LEFT_OUT)
    # Known by its hash: a fault may leave size and second of a file as they were.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(place / "confkit", quiet=2, invalidation_mode=mode)
    line = [sys.executable, "-c", "import confkit; print(confkit.__file__)"]
    found = subprocess.check_output(line, cwd=place.parent, env=environ(place), text=True).strip()
    if Path(found) != place / "confkit" / "__init__.py":
        sys.exit(f"another confkit than the copy would be tested: {found}")
    return place


def environ(copy: Path) -> dict[str, str]:
    """The environment in which this copy is imported, and no test is skipped."""
    return {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "CI": "true"}


def tried(copies: "SimpleQueue[Path]", tests: list[str], fault: Fault | None = None) -> Outcome:
    """What these tests say of a copy that nobody else uses meanwhile, with the fault in it."""
    copy = copies.get()
    try:
        if fault is None:
            return run(copy, tests)
        path = copy / fault.file
        try:
            planted = fault.planted(copy)
        except LookupError as error:
            return Outcome("error", str(error))
        before = path.read_bytes()
        path.write_text(planted, encoding="utf-8")
        try:
            return run(copy, ["-x", *tests])
        finally:
            path.write_bytes(before)
    finally:
        copies.put(copy)


def run(copy: Path, tests: list[str]) -> Outcome:
    """What comes of these tests; whatever they have started ends with them."""
    began = time.monotonic()
    with subprocess.Popen(
        [*PYTEST, *tests],
        cwd=copy,
        env=environ(copy),
        text=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        try:
            output = process.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output = f"its tests did not end within {LONGEST:g} s"
    told = summary(output)
    return Outcome(verdict(process.returncode, told), told, time.monotonic() - began)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
