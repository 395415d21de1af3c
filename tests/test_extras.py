"""A plain install does what README begins with; what it lacks is named with the line that installs
it. The packages of the extras are blocked in a child, as if they were not installed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]
EXTRAS = {
    extra: [re.match(r"[\w-]+", line)[0] for line in lines]
    for extra, lines in OPTIONAL.items()
    if extra != "test"
}
README = (ROOT / "README.md").read_text("utf-8")
MISSING = sorted({name for names in EXTRAS.values() for name in names} - {"confkit-notebooks"})
BARE = f"import sys; sys.modules |= dict.fromkeys({MISSING}); sys.argv[0] = 'confkit'\n"
SANDBOX = "import confkit as ck; client = ck.connect('sandbox'); "
COMMAND = "from confkit.cli import main; sys.exit(main({!r}))"


def bare(statement):
    """How a child ends that runs this in a plain install."""
    return subprocess.run(
        [sys.executable, "-c", BARE + statement], capture_output=True, text=True, check=False
    )


def test_lab_holds_the_other_extras():
    """One extra installs whatever a notebook needs."""
    assert "confkit-notebooks[cameras,recording,fast]" in OPTIONAL["lab"]


def test_a_plain_install_runs_the_first_five_lines_of_readme():
    """They end in a chart, whose summary is what README shows."""
    python, shown = re.findall(r"(?s)```(?:python|text)\n(.*?)```", README)[:2]
    *lines, chart = filter(None, python.splitlines())
    assert len(lines) == 4
    done = bare("\n".join([*lines, f"print({chart}.summary())"]))
    assert done.stdout == shown, done.stderr


@pytest.mark.parametrize(
    ("statement", "package", "extra"),
    [
        (SANDBOX + "client.sandbox.camera()", "av", "cameras"),
        ("import confkit as ck; ck.load_occupancy('kept')", "pyarrow", "recording"),
        (SANDBOX + "ck.Recorder('kept').record(client, ['1'], sweeps=1)", "pyarrow", "recording"),
        ("import confkit as ck; ck.capacity_report('kept')", "pyarrow", "recording"),
        ("from confkit.panels import OccupancyPanel", "pyarrow", "recording"),
        (COMMAND.format(["record", "kept", "--rooms", "rooms.txt"]), "pyarrow", "recording"),
        (COMMAND.format(["lab"]), "jupyterlab", "lab"),
        (COMMAND.format(["lab", "--app"]), "voila", "lab"),
        (COMMAND.format(["runbook", "nobody-can-join", "--sandbox"]), "nbconvert", "lab"),
    ],
)
def test_what_a_plain_install_lacks_is_named_with_the_line_that_installs_it(
    statement, package, extra
):
    """Whatever needs an extra ends with an error of one line, which names package and extra."""
    done = bare(statement)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode
    assert package in last
    assert last.endswith(f"Run: pip install 'confkit-notebooks[{extra}]'")
