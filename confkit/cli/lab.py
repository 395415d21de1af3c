"""Opens JupyterLab on the notebooks, with a service behind every `ck.connect()` in them; or the
panels as a page without code."""

import argparse
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .. import profiles
from ..connect import OF_A_SERVICE, connect
from ..errors import ConfigError, missing_extra
from ..terminal import OTHERS, handled, say
from . import options as shared
from .options import Commands, add_command

FIRST = "01-first-look.ipynb"
APP = "app.ipynb"


def add_lab_command(commands: Commands) -> None:
    """Add it to the commands of `confkit`."""
    made = add_command(
        commands,
        "lab",
        _lab,
        "open JupyterLab on the notebooks",
        description="Opens JupyterLab on the notebooks, or the panels as a page without code. "
        "Without a service of yours (--profile, CONFKIT_*) they use the embedded one. Ctrl-C ends "
        "everything.",
        epilog="Further arguments are JupyterLab's or Voila's, such as --no-browser.",
    )
    made.add_argument("--profile", help="the service to use; without one, a sandbox")
    made.add_argument("--port", type=shared.port, default=8888, help="or the next free one (8888)")
    made.add_argument(
        "--app", action="store_true", help="open the panels as a page without code (Voila)"
    )
    made.add_argument("--rooms", metavar="FILE", help="room IDs for the app, a text or CSV file")
    made.set_defaults(takes_more=True)


def _lab(options: argparse.Namespace) -> int:
    if options.rooms and not options.app:
        raise ConfigError("--rooms is for the app: confkit lab --app --rooms FILE")
    return lab(options.profile, options.port, options.extra, options.app, options.rooms)


def lab(
    profile: str | None, port: int, extra: list[str], app: bool = False, rooms: str | None = None
) -> int:
    """The exit status of JupyterLab, or of Voila with the panels as an `app`, once it has ended.

    Says which service the notebooks use. `rooms` is a file with room IDs, for the app.
    """
    program = "voila" if app else "jupyterlab"
    if importlib.util.find_spec(program) is None:
        raise missing_extra("this needs", program, "lab")
    environment = service(profile, os.environ)
    if rooms is not None:
        if not Path(rooms).is_file():
            raise ConfigError(
                f"there is no file {rooms!r} with room IDs", "Give another to --rooms."
            )
        environment["CONFKIT_ROOMS"] = str(Path(rooms).resolve())
    folder = notebooks()
    free = free_port(port)
    if free != port:
        say(f"confkit: port {port} is taken, so {free} is used")
    what = "the panels are a page of Voila" if app else f"the notebooks are in {folder}"
    say(f"confkit: {what}; Ctrl-C ends everything")
    command = (_app if app else _jupyterlab)(folder, free)
    # Apart from the terminal: a Ctrl-C while it still starts would be a traceback of its own.
    line = [sys.executable, "-m", *command, *extra]
    with (
        handled(OTHERS, _end),
        _writable_home(os.environ) as own,
        subprocess.Popen(line, env={**environment, **own}, start_new_session=True) as server,
    ):
        try:
            while True:
                try:
                    status = server.wait()
                    return 130 if status == -signal.SIGTERM else status
                except KeyboardInterrupt:
                    if os.name == "posix":  # elsewhere the server got it too
                        server.terminate()  # it closes its kernels, and ends
        finally:
            server.terminate()


def _jupyterlab(folder: Path, port: int) -> list[str]:
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [
        "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--ServerApp.answer_yes=True",
        f"--LabApp.default_url=/lab/tree/{FIRST}",
        *(["--allow-root"] if root else []),  # as in a container, where there is nobody else
    ]


def _app(folder: Path, port: int) -> list[str]:
    """Voila, for who has the token in the address that it opens: the page acts with your keys.

    It cannot tell when a page is closed, so a kernel without one ends after some minutes."""
    return [
        "voila",
        str(folder / APP),
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        "--Voila.auto_token=True",
        "--MappingKernelManager.cull_idle_timeout=120",
        "--MappingKernelManager.cull_interval=60",
    ]


def _end(*_: object) -> None:
    """Leaves the command, and JupyterLab with it, when somebody ends the command alone."""
    raise SystemExit(143)


def service(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the notebooks' `ck.connect()` finds the service that is meant.

    Nothing named: the sandbox. A real service is announced in capitals.
    """
    chosen = shared.environment_of(profile, environment)
    if not profile and not environment.get("CONFKIT_PROFILE") and not _addresses(environment):
        chosen["CONFKIT_PROFILE"] = profiles.EMBEDDED
    if chosen.get("CONFKIT_PROFILE") == profiles.EMBEDDED and not _addresses(chosen):
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


def _addresses(environment: Mapping[str, str]) -> list[str]:
    return [name for name in OF_A_SERVICE[:2] if environment.get(name)]


def notebooks() -> Path:
    """The folder of the notebooks: the checkout's own, or a copy of the installed ones here."""
    checkout = Path(__file__).resolve().parents[2] / "notebooks"
    if (checkout / FIRST).is_file():
        return checkout
    installed = Path(__file__).resolve().parents[1] / "_notebooks"
    if not installed.is_dir():
        raise ConfigError("the notebooks are not installed", "Install confkit-notebooks again.")
    copy = Path.cwd() / "confkit-notebooks"
    try:
        shutil.copytree(installed, copy, dirs_exist_ok=True, copy_function=_copy_new)
    except OSError:
        raise ConfigError(
            f"the notebooks cannot be copied to {copy}", "Start in a folder of yours."
        ) from None
    return copy


def _copy_new(source: str, target: str) -> str:
    """Copies a notebook that is not there yet: what its reader changed stays."""
    return target if Path(target).exists() else str(shutil.copy2(source, target))


def free_port(wanted: int) -> int:
    """The wanted port of this machine if it is free, else the next free one."""
    for port in range(wanted, min(wanted + 200, 65536)):
        with socket.socket() as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ConfigError(f"no port from {wanted} on is free", "Give another with --port.")
