"""The command `lab`: JupyterLab on a copy of the notebooks, with a service behind every
`ck.connect()` in them; or the panels as a page without code."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

from ..connect import EMBEDDED, OWN, VARIABLES, connect
from ..errors import ConfigError, missing_extra
from ..text import echo
from .options import infile

FIRST = "first-look.ipynb"
COPY = "confkit-notebooks"
_PANEL = "application/vnd.jupyter.widget-view+json"  # of a stored output
# Voila cannot tell when a page is closed, so a kernel without one ends after some minutes. Whoever
# has the token in the address that it opens acts with the user's keys.
_VOILA = (
    "--Voila.ip=127.0.0.1",
    "--Voila.auto_token=True",
    "--MappingKernelManager.cull_idle_timeout=120",
    "--MappingKernelManager.cull_interval=60",
)
_LAB = (
    f"--LabApp.default_url=/lab/tree/{FIRST}",
    "--log-level=WARN",
    "--LabApp.log_level=WARN",
    "--KernelManager.transport_encryption=auto",  # else each kernel warns that it has none
    "--allow-root",  # as in a container, where there is nobody else
)
# Jupyter's own deprecation warnings are not the user's. Voila, which JupyterLab loads, sets a
# filter that shows them.
_START = (
    "import runpy, warnings, voila; warnings.simplefilter('ignore'); "
    "runpy.run_module({!r}, run_name='__main__', alter_sys=True)"
)


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Further arguments are JupyterLab's or Voila's, such as --no-browser or --port=8889.",
)
@click.option("--profile", metavar="NAME", help="The service to use; without one, a sandbox.")
@click.option("--app", is_flag=True, help="Open the panels as a page without code (Voila).")
@click.option("--rooms", type=infile, metavar="FILE", help="Room IDs for the app.")
@click.argument("extra", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def lab(profile: str | None, app: bool, rooms: str | None, extra: tuple[str, ...]) -> int:
    """Open the notebooks in JupyterLab, or the panels as a page.

    The notebooks are copied once, to confkit-notebooks in your home folder. The copy is yours:
    nothing in it is ever replaced or deleted. For a new one, rename it.

    Without a service of yours (--profile, CONFKIT_*) they use the embedded one. Ctrl-C ends it all.
    """
    program = "voila" if app else "jupyterlab"
    for module in (program, "voila"):
        if find_spec(module) is None:
            raise missing_extra("this needs", module, "lab")
    environment = service(profile)
    if rooms:
        environment["CONFKIT_ROOMS"] = rooms
    if app:
        echo("confkit: the panels are a page of Voila; Ctrl-C ends everything")
        options = [str(originals() / "app.ipynb"), *_VOILA]
    else:
        folder = copy(originals())
        echo(f"confkit: the notebooks are in {folder}; Ctrl-C ends everything")
        options = [f"--ServerApp.root_dir={folder}", *_LAB]
    # Without JupyterLab's question about news over the first notebook.
    paths = [str(Path(__file__).with_name("jupyter")), environment.get("JUPYTER_CONFIG_PATH")]
    environment["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    # Apart from the terminal: a Ctrl-C while it still starts would be a traceback of its own.
    line = [sys.executable, "-c", _START.format(program), *options, *extra]
    server = subprocess.Popen(line, env=environment, start_new_session=True)
    try:
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()  # it closes its kernels, and ends
        return max(server.wait(), 0)


def service(profile: str | None) -> dict[str, str]:
    """Return the environment in which the notebooks' `ck.connect()` finds the service.

    Nothing named: the sandbox. A real service is announced in capitals.
    """
    environment = dict(os.environ)
    named = ("CONFKIT_PROFILE", VARIABLES["base_url"], VARIABLES["outgoing_url"])
    if not any(map(environment.get, named)):
        profile = profile or EMBEDDED
    if profile:  # without another service's addresses, keys and dialect
        for name in OWN:
            environment.pop(VARIABLES[name], None)
        environment["CONFKIT_PROFILE"] = profile
    with connect(profile) as client:
        real = f"THE REAL SERVICE {client.name} AT {client.base_url}"
        echo(f"confkit: ck.connect() is {'a sandbox in each notebook' if client.sandbox else real}")
    return environment


def originals() -> Path:
    """Return the folder of the notebooks as they come: the checkout's, or the installed one."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "notebooks"
    return checkout if (checkout / FIRST).is_file() else package / "_notebooks"


def copy(notebooks: Path) -> Path:
    """Return the user's copy of these notebooks, as it is, or a new one where there is none."""
    target = Path.home() / COPY
    if target.is_dir():
        return target
    try:
        with tempfile.TemporaryDirectory(prefix=f".{COPY}-", dir=target.parent) as folder:
            leave_out = shutil.ignore_patterns(".*", "__pycache__")
            draft = Path(shutil.copytree(notebooks, Path(folder, COPY), ignore=leave_out))
            for file in draft.rglob("*.ipynb"):
                _prepare(file)
            return draft.rename(target)
    except OSError as error:
        advice = "Rename what is there, free some space, or set HOME to a folder of yours."
        raise ConfigError(f"the notebooks cannot be copied to {target}", advice) from error


def _prepare(file: Path) -> None:
    """Trust a copy, so that its stored pictures show. Clear the outputs of a runbook, so that no
    verdict is shown that nobody has run, and panels, which are an error without their kernel."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:
        panels = [_PANEL in output.get("data", ()) for output in cell.get("outputs", ())]
        if any(panels) or (panels and file.parent.name == "runbooks"):
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, file)
    NotebookNotary().sign(notebook)
