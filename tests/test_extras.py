"""A plain install does what README begins with; what it lacks is named with the line that installs
it. The packages of the extras are blocked, as if they were not installed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {**PROJECT["optional-dependencies"], "test": ()}
NEEDED = [re.match(r"[\w-]+", line)[0] for lines in EXTRAS.values() for line in lines]
MISSING = {*NEEDED} - {PROJECT["name"]}
PYTHON, SHOWN = re.findall(
    r"(?s)```(?:python|text)\n(.*?)```", (ROOT / "README.md").read_text("utf-8")
)[:2]
*LINES, CHART = filter(None, PYTHON.splitlines())
FIRST = "\n".join([*LINES, f"print({CHART}.summary())"])
PLAIN = f"""
import sys
sys.modules |= dict.fromkeys({sorted(MISSING)})
sys.argv[0] = "confkit"
import confkit as ck
from confkit.cli import main
"""
LACKS = [  # a statement, the package that it needs, and the extra that brings it
    ("ck.connect('sandbox').sandbox.camera()", "av", "cameras"),
    ("ck.load_occupancy('kept')", "pyarrow", "recording"),
    ("sys.exit(main(['lab']))", "jupyterlab", "lab"),
]


def plain(statements):
    """How statements end in a plain install: the status, and what they write."""
    command = [sys.executable, "-c", PLAIN + statements]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_plain_install_runs_the_first_five_lines_of_readme():
    """They end in a chart, whose summary is what README shows."""
    assert len(LINES) == 4
    assert plain(FIRST) == (0, SHOWN, "")


def test_a_plain_install_does_everything_of_a_preflight_but_the_picture(sandbox):
    """There the preflight passes, and says what the picture needs."""
    url = sandbox.camera(size=(128, 96), fps=10)
    status, told, _ = plain(f"sys.exit(main(['preflight', {url!r}]))")
    assert status == 0
    for part in ("keyframe", "av (PyAV) is not installed", "pip install 'confkit-notebooks[cam"):
        assert part in " ".join(told.split())


@pytest.mark.parametrize(("code", "package", "extra"), LACKS)
def test_what_a_plain_install_lacks_is_named_with_the_line_that_installs_it(code, package, extra):
    status, _, said = plain(code)
    last = said.strip().splitlines()[-1]
    assert status
    assert package in last
    assert last.endswith(f"Run: pip install 'confkit-notebooks[{extra}]'")
