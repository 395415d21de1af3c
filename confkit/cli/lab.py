"""The command `lab`: JupyterLab on a copy of the notebooks, with a service behind every
`ck.connect()` in them; or the panels as a page without code."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from ..connect import EMBEDDED, connect
from ..errors import ConfigError
from ..text import echo
from .options import environment_of, names_no_service, need

FIRST = "first-look.ipynb"
COPY = "confkit-notebooks"
# What Voila gets: whoever has the token in the address that it opens acts with your keys. It cannot
# tell when a page is closed, so a kernel without one ends after some minutes.
_VOILA = (
    "--Voila.ip=127.0.0.1",
    "--Voila.auto_token=True",
    "--MappingKernelManager.cull_idle_timeout=120",
    "--MappingKernelManager.cull_interval=60",
)
# Where Jupyter keeps what it has to write.
_JUPYTER = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR")


def lab(
    profile: str | None,
    port: int,
    here: bool,
    app: bool,
    rooms: str | None,
    extra: list[str],
) -> int:
    """Open JupyterLab on a copy of the notebooks, or the panels as a page without code.

    The copy is the folder confkit-notebooks in your home folder, made when it is not there. What
    is in it is yours: it is opened again as it is, and nothing of it is replaced or deleted. To
    get a new copy, of a newer confkit for instance, rename it.

    Without a service of yours (--profile, CONFKIT_*) they use the embedded one. Ctrl-C ends
    everything.
    """
    if rooms and not app:
        raise ConfigError("--rooms is for the app: confkit lab --app --rooms FILE")
    program = "voila" if app else "jupyterlab"
    need("this needs", program)
    environment = service(profile, os.environ)
    if rooms:
        if not Path(rooms).is_file():
            raise ConfigError("there is no such file with room IDs", "Give another to --rooms.")
        environment["CONFKIT_ROOMS"] = str(Path(rooms).resolve())
    if app:
        echo("confkit: the panels are a page of Voila; Ctrl-C ends everything")
        command = [str(originals() / "app.ipynb"), *_VOILA]
    else:
        opened = originals(here=True) if here else copy(originals())
        echo(f"confkit: the notebooks are in {opened}; Ctrl-C ends everything")
        command = [f"--ServerApp.root_dir={opened}", "--ServerApp.answer_yes=True"]
        if (opened / FIRST).is_file():  # a user may have deleted it
            command.append(f"--LabApp.default_url=/lab/tree/{FIRST}")
        if os.name == "posix" and os.geteuid() == 0:
            command.append("--allow-root")  # as in a container, where there is nobody else
    line = [sys.executable, "-m", program, f"--port={port}", *command, *extra]
    with ExitStack() as until_the_end:
        home = Path.home()
        if not os.access(home, os.W_OK) and _JUPYTER[0] not in environment:  # as in some containers
            folder = tempfile.TemporaryDirectory(prefix="confkit-", ignore_cleanup_errors=True)
            environment |= dict.fromkeys(_JUPYTER, until_the_end.enter_context(folder))
            echo(
                f"confkit: {home} cannot be written, so Jupyter keeps its settings in {folder.name}"
            )
        # Apart from the terminal: a Ctrl-C while it still starts would be a traceback of its own.
        server = subprocess.Popen(line, env=environment, start_new_session=True)
        try:
            return server.wait()
        except KeyboardInterrupt:
            server.terminate()  # it closes its kernels, and ends
            return 130 if server.wait() == -signal.SIGTERM else 0


def service(profile: str | None, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which the notebooks' `ck.connect()` finds the service that is meant.

    Nothing named: the sandbox. A real service is announced in capitals.
    """
    chosen = environment_of(profile, environment)
    if names_no_service(chosen):
        echo("confkit: every notebook has a sandbox of its own; no real service is used")
        return {**chosen, "CONFKIT_PROFILE": EMBEDDED}
    with connect(profile) as client:
        echo(
            f"confkit: CONNECT() IN A NOTEBOOK USES THE REAL SERVICE {client.name} AT "
            f'{client.base_url}; notebooks that connect to "sandbox" stay on theirs'
        )
    return chosen


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


def copy(notebooks: Path) -> Path:
    """The user's copy of these notebooks, as it is, or a new one where there is none. It is in the
    home folder, or here where that cannot be written."""
    home = Path.home() if os.access(Path.home(), os.W_OK) else Path.cwd()
    made = home / COPY
    if made.is_dir():
        return made
    if made.exists() or made.is_symlink():
        raise ConfigError(f"{made} is not a folder", "Rename it: the notebooks are copied there.")
    try:
        with tempfile.TemporaryDirectory(prefix=f".{COPY}-", dir=home) as draft:
            leave_out = shutil.ignore_patterns(".*", "__pycache__")
            whole = Path(shutil.copytree(notebooks, Path(draft, COPY), ignore=leave_out))
            return whole.rename(made)
    except OSError as error:
        raise ConfigError(
            f"the notebooks cannot be copied to {made}",
            "Free some space, or set HOME to a folder of yours.",
        ) from error
