"""The notebooks on a service that is not theirs: in another process, with another dialect, other
IDs, and slow. Nothing is compared, every cell has to run.

Runbooks and the app take the service of `ck.connect()`. Notebooks that teach stay on their own
sandbox whatever the environment says; the first one stands for them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.commands import known
from tests.test_notebooks import FOLDER, NOTEBOOKS, code_cells, name, source

ROOT = FOLDER.parent
DIALECT = "hash=sha256,signature=raw,token_parameter=access_tocken,result_field=result,"
DIALECT += "item_keys=snake_case,create_method=POST,placement=json,"
DIALECT += "remove_token_parameter=accessToken"
LATENCY = 0.05  # seconds before each answer
CONNECTS = re.compile(r"\bck\.connect\((.*?)\)")


def services(path: Path) -> set[str]:
    """What a notebook's code connects to, as it is written in the call."""
    return {found for cell in code_cells(path) for found in CONNECTS.findall(source(cell))}


OWN = '"sandbox"'
ANYWHERE = [path for path in NOTEBOOKS if services(path) and OWN not in services(path)]
TEACHING = FOLDER / "first-look.ipynb"


# What takes long to load is loaded once: each notebook runs in a fork, in IPython.
PROGRAM = """
import json, os, sys
import matplotlib.pyplot, pandas, confkit.panels, confkit.runbook
from IPython.core.interactiveshell import InteractiveShell

def ran(path):
    os.chdir(os.path.dirname(path))
    shell, number = InteractiveShell.instance(), 0
    for cell in json.load(open(path))["cells"]:
        if cell["cell_type"] == "code":
            done = shell.run_cell("".join(cell["source"]))
            if done.success == ("raises-exception" in cell["metadata"].get("tags", ())):
                return False
            number += 1
    print(f"{path}: {number} cells ran", flush=True)
    return True

for path in sys.argv[1:]:
    if not os.fork():
        os._exit(not ran(path))
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@pytest.fixture(scope="module")
def elsewhere():
    """A deployment with a room, a person and a camera in it, and the variables that name it."""
    dialect = ck.Dialect.parse(DIALECT)
    with Sandbox(seed=11, dialect=dialect, latency=LATENCY) as sandbox:
        with sandbox.connect() as client:
            room_id = ck.create_room(client, "Front desk", "ops", attendee_max=20)
            sandbox.join(room_id, "Ada")
            camera = sandbox.camera(size=(160, 120))
            ck.import_device(client, room_id, "cam-desk", "Front desk camera", camera)
        more = {"CONFKIT_DIALECT": DIALECT, "CONFKIT_RUNBOOK_ROOM": room_id}
        yield sandbox, known(sandbox) | more


def run(paths: Sequence[Path], variables: dict[str, str]) -> None:
    """Fails unless all cells of the notebooks ran, each notebook in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, paths)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    for path in paths:
        assert f"{path}: {len(code_cells(path))} cells ran" in done.stdout, done.stdout


def test_each_notebook_connects_to_its_sandbox_or_to_the_service_that_is_named():
    """Runbooks and the app say ck.connect(); notebooks that teach say ck.connect("sandbox")."""
    for path in NOTEBOOKS:
        anywhere = name(path).startswith("runbooks/") or name(path) == "app.ipynb"
        assert OWN not in services(path) if anywhere else services(path) <= {OWN}, name(path)


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_notebooks_that_connect_run_on_any_service(elsewhere):
    """Every cell of a notebook with ck.connect() runs on a service of another dialect, seed and
    speed, which takes their calls."""
    sandbox, variables = elsewhere
    before = sandbox.count()
    run(ANYWHERE, variables)
    assert sandbox.count() - before >= 3 * len(ANYWHERE)


@pytest.mark.nightly
def test_a_notebook_that_teaches_stays_on_its_own_sandbox(elsewhere):
    """With a service in the environment it runs as always, and that service hears nothing."""
    sandbox, variables = elsewhere
    before = sandbox.count()
    run([TEACHING], variables)
    assert sandbox.count() == before
