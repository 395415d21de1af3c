"""Installs confkit with what its tests need into .venv, and runs them: `python3 -m tests`.

Runs with a bare Python; further arguments go to pytest. What the tests witness with and pip cannot
install (ffprobe, GStreamer, curl, openssl, Java) comes from Debian's packages when this runs as
root on Debian or Ubuntu; elsewhere the line that installs it is printed, and those tests are
skipped, or fail with CI=true. The same goes for the browser of the panels' tests, for which
Playwright knows a way where there is no such package.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHELL = "chromium-headless-shell"  # as in tests/browser/chromium.py
AT_ONCE = 2  # notebooks, each with a kernel that is often waiting
BESIDE = {  # what mostly waits, and so runs in processes of its own beside the rest
    "browsers, kernels, servers": [
        "tests/browser", "tests/course", "tests/runbook", "tests/test_binder.py",
        "tests/test_lab.py", "tests/test_notebooks_elsewhere.py",
    ],
    "the hostile world": [
        "tests/fuzzing", "tests/injection", "tests/secrets", "tests/test_nightly.py",
        "tests/test_chaos.py", "tests/rtsp/test_zoo.py",
    ],
}  # fmt: skip
WITNESSES = {  # a program, and the Debian packages that come with it
    "ffprobe": "ffmpeg",
    "curl": "curl",
    "openssl": "openssl",
    "javac": "default-jdk-headless",
    "gst-launch-1.0": "gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good "
    "gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav python3-gi "
    "gir1.2-gst-rtsp-server-1.0",
}


def main(arguments: list[str]) -> int:
    """pytest's exit status, or the notebooks' when pytest passes."""
    os.chdir(ROOT)
    witnesses()
    python = environment()
    browser(python)
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if arguments:
        return subprocess.run([python, "-m", "pytest", *arguments], env=environ).returncode
    return tests(python, environ) or notebooks(python, environ)


def tests(python: str, environ: Mapping[str, str]) -> int:
    """0 when all tests pass, in processes side by side; else the exit status of one of them."""
    pytest = [python, "-m", "pytest", "-p", "no:cacheprovider"]
    apart = [part for parts in BESIDE.values() for part in parts]
    with ExitStack() as open_files:
        told = {name: open_files.enter_context(tempfile.TemporaryFile("w+")) for name in BESIDE}
        running = {
            name: subprocess.Popen(
                [*pytest, *parts], env=environ, stdout=told[name], stderr=subprocess.STDOUT
            )
            for name, parts in BESIDE.items()
        }
        try:
            rest = [*pytest, "tests", *(f"--ignore={part}" for part in apart)]
            found = [subprocess.run(rest, env=environ).returncode]
            for name, process in running.items():
                found.append(process.wait())
                told[name].seek(0)
                print(f"\nand, run beside these, {name}:\n{told[name].read()}", flush=True)
        finally:
            for process in running.values():
                process.terminate()
    return next(filter(None, found), 0)  # below 0 where a signal ended one


def notebooks(python: str, environ: Mapping[str, str]) -> int:
    """0, or pytest's exit status when a notebook's outputs are not those that it holds."""
    compared = [
        python, "-m", "pytest", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=60",
        "-p", "no:cacheprovider",
    ]  # fmt: skip
    found = sorted(map(str, Path("notebooks").rglob("*.ipynb")))

    def run(part: list[str]) -> int:
        done = subprocess.run(
            [*compared, *part], env=environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        print(done.stdout, flush=True)  # in one piece, as another part runs beside this one
        return done.returncode

    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts = [found[start::AT_ONCE] for start in range(AT_ONCE)]
        return next(filter(None, [*pool.map(run, filter(None, parts))]), 0)


def environment() -> str:
    """The Python of .venv, with this checkout and the tests' needs installed in it."""
    folder = ROOT / ".venv"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (
        not python.exists()
        or subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode
    ):
        print(f"making {folder}", flush=True)
        if importlib.util.find_spec("ensurepip") is None and not install("python3-venv"):
            sys.exit("this Python makes no environments without the package python3-venv")
        venv.create(folder, with_pip=True, clear=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-e", ".[lab,test]"], check=True)
    return str(python)


def witnesses() -> None:
    """Installs the missing witnesses where that is possible, or says how."""
    lists = [packages for program, packages in WITNESSES.items() if not shutil.which(program)]
    missing = " ".join(lists).split()
    if missing and not install(*missing):
        print("some tests have no witness here, and are skipped", flush=True)


def browser(python: str) -> None:
    """Installs Chromium without windows where it is not and that is possible; where there is no
    browser at all it says how."""
    look = [python, "-m", "tests.browser.chromium"]
    there = subprocess.run(look, stdout=subprocess.DEVNULL).returncode == 0
    if shutil.which(SHELL) or (there and not is_root()):
        return
    if install(SHELL) or there or install("chromium"):  # Debian has both, Ubuntu neither
        return
    line = ["-m", "playwright", "install", "--with-deps", "chromium"]  # Ubuntu has no such package
    if not is_root() or subprocess.run([python, *line]).returncode:
        print(f"or: {python} {' '.join(line)}\nThe tests of the panels are skipped", flush=True)


def is_root() -> bool:
    """Whether this may install packages on Debian and Ubuntu."""
    return bool(shutil.which("apt-get")) and hasattr(os, "geteuid") and os.geteuid() == 0


def install(*packages: str) -> bool:
    """Whether Debian's packages could be installed; where not, prints the line that does it."""
    line = f"apt-get install -y --no-install-recommends {' '.join(packages)}"
    if is_root():
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=quiet)
        done = subprocess.run([*line.split(), "-qq"], env=quiet, stdout=subprocess.DEVNULL)
        if done.returncode == 0:
            return True
    print(f"to install what is missing: sudo {line}", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
