"""Installs confkit with what its tests need into .venv, and runs them: `python3 -m tests`.

Runs with a bare Python; further arguments go to pytest. The notebooks, types and style are checked,
too. The everyday run is the same each time; a few failures are run once more (`rerun`). `python3 -m
tests nightly` runs all tests, with the newest packages, in a random order, and repeats nothing.

What pip cannot install comes from Debian's packages where this runs as root or in CI; elsewhere the
line that installs it is printed, and those tests are skipped, or fail with CI=true.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from . import rerun

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SHELL = "chromium-headless-shell"  # as in tests/browser/chromium.py
# A program, and the Debian packages that come with it.
WITNESSES = {"ffprobe": "ffmpeg", "curl": "curl", "openssl": "openssl"}
# Many a test mostly waits, so two processes more than there are cores.
BESIDE = ("-n", str((os.cpu_count() or 1) + 2), "--dist", "loadgroup")
WITHOUT_NOTEBOOKS = ("-p", "no:nbval")  # which takes seconds to load, in each process
NOTEBOOKS = ("-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60")


def main(arguments):
    """pytest's exit status; without arguments that of the first of all jobs that fails."""
    os.chdir(ROOT)
    os.environ["PYTHONPYCACHEPREFIX"] = str(VENV / "bytecode")  # outside of what is tested
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # many a test starts a Python of its own
    nightly = "nightly" in arguments
    witnesses()
    python = environment(newest=nightly)
    browser(python)
    if arguments == ["nightly"]:
        return every_night(python)
    if arguments:
        return subprocess.run([python, "-m", "pytest", *arguments]).returncode
    return every_day(python)


def every_day(python):
    """The exit status of what has to pass before a change lands, each time in the same way."""
    pytest = [python, "-m", "pytest", *WITHOUT_NOTEBOOKS]
    order = ["--randomly-seed=1", "--durations=25"]
    nbval = [python, *NOTEBOOKS]
    with ThreadPoolExecutor() as pool:  # its end waits for all three
        style = pool.submit(reported, "types and style", *checks(python))
        books = pool.submit(rerun.run, [*nbval, "notebooks"], partial(reported, "notebooks"))
        tests = rerun.run([*pytest, *BESIDE, *order, "tests"], call)
    tests = rerun.once_more(tests, [*pytest, "-p", "no:randomly"], call)
    notebooks = rerun.once_more(books.result(), nbval, call)
    for name in (*tests.flaky, *notebooks.flaky):  # GitHub shows such a line at the run
        print(f"::warning title=FLAKY::{name} failed, and passed alone", flush=True)
    return tests.status or notebooks.status or style.result()  # below 0 where a signal ended one


def every_night(python):
    """The exit status of all tests, in a random order and with many random examples."""
    tests = [python, "-m", "pytest", *WITHOUT_NOTEBOOKS, *BESIDE, "--hypothesis-profile=nightly"]
    statuses = [
        call([*tests, "-m", "nightly or not nightly", "-p", "no:cacheprovider", "tests"]),
        call([python, *NOTEBOOKS, "-p", "no:cacheprovider", "notebooks"]),
        reported("types and style", *checks(python)),
    ]
    return next(filter(None, statuses), 0)


def call(command):
    """The exit status of this command."""
    return subprocess.run(command).returncode


def reported(name, *commands):
    """The first exit status that is not 0; the commands' output is printed in one piece."""
    status, outputs = 0, []
    for command in commands:
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        outputs.append(done.stdout)
        status = status or done.returncode
    print(f"\n{name}{' FAILED' if status else ''}:\n{''.join(outputs)}", flush=True)
    return status


def checks(python):
    """The commands that check types and style."""
    ruff = str(Path(python).with_name("ruff"))
    return [[python, "-m", "mypy"], [ruff, "check", "."], [ruff, "format", "--check", "."]]


def environment(newest):
    """The Python of .venv, with this checkout and what its tests need, as in `constraints.txt`."""
    python = VENV / "bin" / "python"
    there = [python, "-m", "pip", "--version"]
    if not python.exists() or subprocess.run(there, capture_output=True).returncode:
        print(f"making {VENV}", flush=True)
        if importlib.util.find_spec("ensurepip") is None and not install("python3-venv"):
            sys.exit("this Python makes no environments without the package python3-venv")
        venv.create(VENV, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    which = ["--constraint", str(ROOT / "tests" / "constraints.txt")]
    if newest:
        which = ["--upgrade", "--upgrade-strategy=eager"]
    subprocess.run([*pip, *which, "-e", ".[lab,test]"], check=True)
    return str(python)


def witnesses():
    """Installs the missing witnesses where that is possible, or says how."""
    missing = [package for program, package in WITNESSES.items() if not shutil.which(program)]
    if missing and not install(*missing):
        print("some tests have no witness here, and are skipped", flush=True)


def browser(python):
    """Installs Chromium without windows where that is possible, or says how."""
    look = [python, "-m", "tests.browser.chromium"]
    if subprocess.run(look, stdout=subprocess.DEVNULL).returncode == 0 or install(SHELL):
        return
    line = ["-m", "playwright", "install", "--with-deps", "chromium"]  # Ubuntu has no such package
    if root() is None or subprocess.run([python, *line]).returncode:
        print(f"or: {python} {' '.join(line)}\nThe tests of the panels are skipped", flush=True)


def root():
    """What stands before a command that installs Debian's packages; None where this may not."""
    if not shutil.which("apt-get"):
        return None
    if os.geteuid() == 0:
        return []
    # In CI sudo asks for no password.
    return ["sudo", "-n"] if os.environ.get("CI") and shutil.which("sudo") else None


def install(*packages):
    """Whether Debian's packages could be installed; where not, prints the line that does it."""
    line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    if (before := root()) is not None:
        quiet = [*before, "env", "DEBIAN_FRONTEND=noninteractive"]
        subprocess.run([*quiet, "apt-get", "update", "-qq"], check=False)
        done = subprocess.run([*quiet, *line.split(), "-qq"], stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            return True
    print(f"to install what is missing: sudo {line}", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
