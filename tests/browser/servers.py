"""The front ends' servers: Jupyter's, which serves JupyterLab and Notebook 7, and Voila's."""

import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests import servers
from tests.ports import quiet_port

ROOT = Path(__file__).resolve().parents[2]
JUPYTER = (
    "-m jupyterlab --allow-root --no-browser --ServerApp.port_retries=0 --IdentityProvider.token="
    " --KernelManager.transport=ipc --LabApp.expose_app_in_browser=True"
    " --JupyterNotebookApp.expose_app_in_browser=True"
)
VOILA = (
    "-m voila . --no-browser --Voila.ip=127.0.0.1 --KernelManager.transport=ipc"
    " --VoilaConfiguration.show_tracebacks=True"
)
# Settings of Jupyter that name a folder, and the folders' names.
FOLDERS = (
    "JUPYTER_CONFIG_DIR JUPYTER_DATA_DIR JUPYTERLAB_SETTINGS_DIR JUPYTERLAB_WORKSPACES_DIR"
    " IPYTHONDIR XDG_CONFIG_HOME"
)
SETTINGS = {
    # Every cell is in the page, also those out of sight.
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "defer"},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    # The widgets' state is saved with a notebook, as people may have set.
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
}


class Server(NamedTuple):
    address: str
    root: Path
    runtime: Path  # where its kernels listen


@contextmanager
def running(command, folder):
    """A server in folders of its own, with nothing of its user's settings; ends its kernels too."""
    port = quiet_port()
    runtime = Path(tempfile.mkdtemp(prefix="confkit-"))  # short, as the name of a socket has to be
    server = Server(f"http://127.0.0.1:{port}", folder / "notebooks", runtime)
    server.root.mkdir()
    news = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    files = {
        "JUPYTER_CONFIG_DIR/labconfig/page_config.json": json.dumps(news),
        # A page that has a kernel asks it at once for all widgets, and one that has not yet
        # imported ipywidgets knows of no such question, which it says on stderr.
        "IPYTHONDIR/profile_default/startup/widgets.py": "import ipywidgets",
    }
    for plugin, settings in SETTINGS.items():
        files[f"JUPYTERLAB_SETTINGS_DIR/{plugin}.jupyterlab-settings"] = json.dumps(settings)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    line = [sys.executable, *command.split(), f"--port={port}"]
    with (
        (folder / "log").open("wb") as log,
        servers.server(
            line, cwd=server.root, stdout=log, stderr=log, env=_environment(folder, runtime)
        ) as process,
    ):
        servers.page(server.address, process)
        yield server
    shutil.rmtree(runtime, ignore_errors=True)


def _environment(folder, runtime):
    """An environment with the sandbox for its service, and Jupyter's folders in this one."""
    strange = ("CONFKIT_", "JUPYTER", "COV_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(strange)}
    folders = {name: str(folder / name) for name in FOLDERS.split()}
    # Kernels find `stage.py`, from wherever the tests are run.
    path = os.pathsep.join([str(ROOT), kept.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    more = {"CONFKIT_PROFILE": "sandbox", "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": path}
    return {**kept, **folders, **more, "JUPYTER_RUNTIME_DIR": str(runtime)}
