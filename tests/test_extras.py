"""A plain install does what README begins with; what it lacks is named with the line that installs
it. The packages of the extras are blocked in a child, as if they were not installed."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from confkit.sandbox import Sandbox

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
EXTRAS = {
    extra: [re.match(r"[\w-]+", line)[0] for line in lines]
    for extra, lines in OPTIONAL.items()
    if extra != "test"
}
MISSING = {name for names in EXTRAS.values() for name in names} - {"confkit-notebooks"}
PYTHON, SHOWN = re.findall(
    r"(?s)```(?:python|text)\n(.*?)```", (ROOT / "README.md").read_text("utf-8")
)[:2]
*LINES, CHART = filter(None, PYTHON.splitlines())
FIRST = "\n".join([*LINES, f"print({CHART}.summary())"])
SANDBOX = "client = ck.connect('sandbox'); "
PREFLIGHT = "main(['preflight', URL])"
# By a statement that needs it: the package that is missing, and the extra that brings it.
LACKS = {
    FIRST: None,
    PREFLIGHT: None,
    SANDBOX + "client.sandbox.camera()": ("av", "cameras"),
    "ck.load_occupancy('kept')": ("pyarrow", "recording"),
    "main(['record', 'kept', '--rooms', sys.executable])": ("pyarrow", "recording"),
    "main(['lab'])": ("jupyterlab", "lab"),
    "main(['lab', '--app'])": ("voila", "lab"),
}
# What is loaded once serves all: each statement runs in a fork, and says how it ended.
CHILD = """
import json, os, sys, tempfile, traceback
missing, statements, URL = json.load(sys.stdin)
sys.modules |= dict.fromkeys(missing)
sys.argv[0] = "confkit"
import matplotlib.pyplot, pandas, confkit as ck, confkit.sandbox
from confkit.cli import main
told = []
for statement in statements:
    files = [tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")]
    if not (child := os.fork()):
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        try:
            status = (eval if statement.startswith("main") else exec)(statement)
        except BaseException:
            status = traceback.print_exc() or 1
        sys.stdout.flush()
        os._exit(status or 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told.append([status, *(file.seek(0) or file.read() for file in files)])
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def ended():
    """How each statement ends in a plain install: its status, and what it writes."""
    with Sandbox() as sandbox:
        asked = json.dumps([sorted(MISSING), [*LACKS], sandbox.camera(size=(128, 96), fps=10)])
        done = subprocess.run(
            [sys.executable, "-c", CHILD], input=asked, capture_output=True, text=True, check=True
        )
    return dict(zip(LACKS, json.loads(done.stdout), strict=True))


def test_lab_holds_the_other_extras():
    """One extra installs whatever a notebook needs."""
    assert "confkit-notebooks[cameras,recording,fast]" in OPTIONAL["lab"]


def test_a_plain_install_runs_the_first_five_lines_of_readme(ended):
    """They end in a chart, whose summary is what README shows."""
    assert len(LINES) == 4
    assert ended[FIRST] == [0, SHOWN, ""]


def test_a_plain_install_does_everything_of_a_preflight_but_the_picture(ended):
    """There the preflight passes, and says what the picture needs."""
    status, told, _ = ended[PREFLIGHT]
    assert status == 0
    for part in ("keyframe", "av (PyAV) is not installed", "pip install 'confkit-notebooks[cam"):
        assert part in " ".join(told.split())


def test_what_a_plain_install_lacks_is_named_with_the_line_that_installs_it(ended):
    """Whatever needs an extra ends with an error of one line, which names package and extra."""
    for statement, lacks in LACKS.items():
        if lacks is not None:
            status, _, said = ended[statement]
            last = said.strip().splitlines()[-1]
            assert status, statement
            assert lacks[0] in last
            assert last.endswith(f"Run: pip install 'confkit-notebooks[{lacks[1]}]'")
