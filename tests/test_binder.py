"""What Binder does with `binder/`, without Docker: postBuild, then start with its server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import quiet_port
from tests.servers import page, server

ROOT = Path(__file__).resolve().parent.parent
BINDER = ROOT / "binder"


def test_binder_installs_what_the_notebooks_need():
    """This checkout with `lab`."""
    assert (BINDER / "requirements.txt").read_text().split("\n") == ["-e .[lab]", ""]
    for name in ("postBuild", "start"):
        assert os.access(BINDER / name, os.X_OK), f"{name} cannot be executed"


@pytest.mark.nightly
def test_binder_serves_jupyterlab_and_the_app(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path}
    subprocess.run([BINDER / "postBuild"], env=environment, cwd=ROOT, check=True)
    port = quiet_port()
    words = f"jupyter lab --no-browser --allow-root --port={port} --ServerApp.port_retries=0"
    command = [BINDER / "start", *words.split(), "--IdentityProvider.token="]
    with server(command, cwd=ROOT, env=environment) as process:
        lab = page(f"http://127.0.0.1:{port}/lab/tree/notebooks/first-look.ipynb", process)
        assert "apputils-extension:announcements" in lab
        app = page(f"http://127.0.0.1:{port}/voila/render/notebooks/app.ipynb", process)
        assert "SANDBOX: Rooms, Occupancy, Cameras" in app
