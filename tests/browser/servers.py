"""The front ends' servers: Jupyter's, which serves JupyterLab and Notebook 7, and Voila's."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import servers
from tests.ports import quiet_port

ROOT = Path(__file__).resolve().parents[2]
JUPYTER = [
    "-m",
    "jupyterlab",
    "--allow-root",
    "--no-browser",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--KernelManager.transport=ipc",
    "--LabApp.expose_app_in_browser=True",
    "--JupyterNotebookApp.expose_app_in_browser=True",
]
VOILA = [
    "-m",
    "voila",
    ".",
    "--no-browser",
    "--Voila.ip=127.0.0.1",
    "--KernelManager.transport=ipc",
    "--VoilaConfiguration.show_tracebacks=True",
    # It ends a kernel when its page is left, if the page may say so: without a cookie it may not.
    "--Voila.tornado_settings={'disable_check_xsrf': True}",
]
SETTINGS: dict[str, dict[str, Any]] = {
    # Every cell is in the page, also those out of sight.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "defer"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    # The widgets' state is saved with a notebook, as people may have set.
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}


@dataclass(frozen=True)
class Server:
    """A server that is up."""

    address: str
    root: Path
    home: Path
    runtime: Path  # where its kernels listen

    def connection_file(self, kernel: str) -> Path:
        """Where a kernel of this server listens."""
        return next(self.runtime.rglob(f"kernel-{kernel}.json"))

    def settle(self, plugin: str, settings: dict[str, Any]) -> None:
        """Sets a plug-in's settings for the pages that are opened from now on."""
        package, _, name = plugin.partition(":")
        file = self.home / "settings" / package / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[Server]:
    """A server in folders of its own, with nothing of its user's settings; ends its kernels too."""
    port = quiet_port()
    runtime = Path(tempfile.mkdtemp(prefix="confkit-"))  # short, as the name of a socket has to be
    server = Server(f"http://127.0.0.1:{port}", folder / "notebooks", folder, runtime)
    log_file = folder / "log"
    server.root.mkdir()
    config = folder / "config" / "labconfig" / "page_config.json"
    config.parent.mkdir(parents=True)
    news = "@jupyterlab/apputils-extension:announcements"
    config.write_text(json.dumps({"disabledExtensions": {news: True}}))
    # A page that has a kernel asks it at once for all widgets, and one that has not yet imported
    # ipywidgets knows of no such question, which it says on stderr.
    startup = folder / "ipython" / "profile_default" / "startup" / "widgets.py"
    startup.parent.mkdir(parents=True)
    startup.write_text("import ipywidgets")
    for plugin, settings in SETTINGS.items():
        server.settle(plugin, settings)
    place = [f"--Voila.connection_dir_root={runtime}"] if command is VOILA else []
    with (
        log_file.open("wb") as log,
        servers.server(
            [sys.executable, *command, f"--port={port}", *place],
            cwd=server.root,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment(folder, runtime),
        ) as process,
    ):
        try:
            servers.page(server.address, process)
        except OSError as error:
            log_end = log_file.read_text()[-2000:]
            raise AssertionError(f"{server.address} did not come up:\n{log_end}") from error
        yield server
    shutil.rmtree(runtime, ignore_errors=True)


def environment(folder: Path, runtime: Path) -> dict[str, str]:
    """An environment with the sandbox for its service, and Jupyter's folders in this one."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CONFKIT_", "JUPYTER", "COV_", "PYTEST_"))
    }
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "XDG_CONFIG_HOME": "xdg",
    }
    folders = {name: str(folder / place) for name, place in own.items()}
    # Kernels find `stage.py`, from wherever the tests are run.
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    more = {"CONFKIT_PROFILE": "sandbox", "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": path}
    return {**kept, **folders, **more, "JUPYTER_RUNTIME_DIR": str(runtime)}
