"""The command `lab`: JupyterLab on a copy of the notebooks, with a service behind every
`ck.connect()` in them; or the panels as a page without code."""

import argparse
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .. import profiles
from ..connect import SERVICE, SETTINGS, connect
from ..errors import ConfigError, missing_extra
from ..text import say
from .options import Commands, add_command, environment_of, option, port, switch

FIRST = "first-look.ipynb"
APP = "app.ipynb"
_NAME = "confkit-notebooks"  # a copy's; the second is confkit-notebooks-2
_MARK = ".copied-by-confkit"  # in each copy; says of which notebooks it is one


def add_lab_command(commands: Commands) -> None:
    """Add it to the commands of `confkit`."""
    made = add_command(
        commands,
        "lab",
        _lab,
        "open JupyterLab on the notebooks",
        option("--profile", help="the service to use; without one, a sandbox"),
        option("--port", type=port, default=8888, help="or the next free one (8888)"),
        switch("--fresh", "make a new copy of the notebooks, beside the one that you have"),
        switch("--here", "open the notebooks of this checkout, not a copy"),
        switch("--app", "open the panels as a page without code (Voila)"),
        option("--rooms", metavar="FILE", help="room IDs for the app, a text or CSV file"),
        epilog="Further arguments are JupyterLab's or Voila's, such as --no-browser.",
    )
    made.set_defaults(takes_more=True)


def _lab(options: argparse.Namespace) -> int:
    """Open JupyterLab on a copy of the notebooks, or the panels as a page without code.

    The copy is the folder confkit-notebooks in your home folder, made when it is not there. What
    is in it is yours: it is opened again as it is, and nothing of it is replaced or deleted.
    --fresh makes another one beside it, such as confkit-notebooks-2, which is opened from then on.

    Without a service of yours (--profile, CONFKIT_*) they use the embedded one. Ctrl-C ends
    everything.
    """
    if options.rooms and not options.app:
        raise ConfigError("--rooms is for the app: confkit lab --app --rooms FILE")
    program = "voila" if options.app else "jupyterlab"
    if importlib.util.find_spec(program) is None:
        raise missing_extra("this needs", program, "lab")
    environment = service(options.profile, os.environ)
    if options.rooms:
        if not Path(options.rooms).is_file():
            raise ConfigError("there is no such file with room IDs", "Give another to --rooms.")
        environment["CONFKIT_ROOMS"] = str(Path(options.rooms).resolve())
    if options.app:
        say("confkit: the panels are a page of Voila; Ctrl-C ends everything")
        command = _app(originals(), options.port)
    else:
        folder = originals(here=True) if options.here else copy(originals(), options.fresh)
        say(f"confkit: the notebooks are in {folder}; Ctrl-C ends everything")
        command = _jupyterlab(folder, options.port)
    # Apart from the terminal: a Ctrl-C while it still starts would be a traceback of its own.
    line = [sys.executable, "-m", program, *command, *options.extra]
    with (
        _writable_home(os.environ) as own,
        subprocess.Popen(line, env={**environment, **own}, start_new_session=True) as server,
    ):
        try:
            return server.wait()
        except KeyboardInterrupt:
            server.terminate()  # it closes its kernels, and ends
            return 130 if server.wait() == -signal.SIGTERM else 0


def _jupyterlab(folder: Path, port: int) -> list[str]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [
        f"--ServerApp.root_dir={folder}",
        f"--port={port}",
        "--ServerApp.answer_yes=True",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
        *(["--allow-root"] if root else []),  # as in a container, where there is nobody else
    ]


def _app(folder: Path, port: int) -> list[str]:
    """Voila, for who has the token in the address that it opens: the page acts with your keys.

    It cannot tell when a page is closed, so a kernel without one ends after some minutes."""
    return [
        str(folder / APP),
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        "--Voila.auto_token=True",
        "--MappingKernelManager.cull_idle_timeout=120",
        "--MappingKernelManager.cull_interval=60",
    ]


def service(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the notebooks' `ck.connect()` finds the service that is meant.

    Nothing named: the sandbox. A real service is announced in capitals.
    """
    chosen = environment_of(profile, environment)
    addresses = any(chosen.get(SETTINGS[name].variable) for name in SERVICE[:2])
    if not addresses:
        chosen["CONFKIT_PROFILE"] = chosen.get("CONFKIT_PROFILE") or profiles.EMBEDDED
        if chosen["CONFKIT_PROFILE"] == profiles.EMBEDDED:
            say("confkit: every notebook has a sandbox of its own; no real service is used")
            return chosen
    with connect(profile) as client:
        say(
            f"confkit: CONNECT() IN A NOTEBOOK USES THE REAL SERVICE {client.name} AT "
            f'{client.base_url}; notebooks that connect to "sandbox" stay on theirs'
        )
    return chosen


@contextmanager
def _writable_home(environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Variables for Jupyter with a folder where the home folder cannot be written, as in some
    containers; the folder is deleted afterwards."""
    home = Path(environment.get("HOME") or Path.home())
    if os.access(home, os.W_OK) or "JUPYTER_RUNTIME_DIR" in environment:
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="confkit-", ignore_cleanup_errors=True) as folder:
        say(f"confkit: {home} cannot be written, so Jupyter keeps its settings in {folder}")
        names = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")
        yield dict.fromkeys(names, folder)


def originals(here: bool = False) -> Path:
    """The folder of the notebooks as they come: the checkout's, or else the installed ones, which
    are not to be opened in place."""
    package = Path(__file__).resolve().parents[1]
    checkout, installed = package.parent / "notebooks", package / "_notebooks"
    if (checkout / FIRST).is_file():
        return checkout
    if here:
        raise ConfigError("confkit runs from no checkout", "Leave out --here.")
    if not installed.is_dir():
        raise ConfigError("the notebooks are not installed", "Install confkit-notebooks again.")
    return installed


def copy(notebooks: Path, fresh: bool = False) -> Path:
    """The user's newest copy of these notebooks as it is, or a new one: where there is none, or a
    `fresh` one is wanted. It is in the home folder, or here where that cannot be written."""
    home = next((one for one in (Path.home(), Path.cwd()) if os.access(one, os.W_OK)), Path.home())
    taken = {
        int(found[1] or 1): path
        for path in home.glob(f"{_NAME}*")
        if (found := re.fullmatch(rf"{_NAME}(?:-(\d+))?", path.name))
    }
    copies = [number for number, path in taken.items() if (path / _MARK).is_file()]
    version = _version(notebooks)
    if copies and not fresh:
        newest = taken[max(copies)]
        if (newest / _MARK).read_text("utf-8") != version:
            say("confkit: your copy is of another version; --fresh makes a new one beside it")
        return newest
    made = home / (f"{_NAME}-{max(taken) + 1}" if taken else _NAME)
    try:
        with tempfile.TemporaryDirectory(prefix=f".{_NAME}-", dir=home) as draft:
            leave_out = shutil.ignore_patterns(".*", "__pycache__")
            whole = Path(shutil.copytree(notebooks, Path(draft, _NAME), ignore=leave_out))
            (whole / _MARK).write_text(version, "utf-8")
            whole.rename(made)
    except OSError as error:
        raise ConfigError(
            f"the notebooks cannot be copied to {made}",
            "Free some space, or set HOME to a folder of yours.",
        ) from error
    return made


def _version(notebooks: Path) -> str:
    """A text that is another one when any of the notebooks is."""
    contents = [path.read_bytes() for path in sorted(notebooks.rglob("*.ipynb"))]
    return hashlib.sha256(b"".join(contents)).hexdigest()
