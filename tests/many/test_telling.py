"""What a sweep says on its way: to a person who watches, and to nobody else."""

import os
import pty
import re
import subprocess
import sys
import termios
import threading
from collections import Counter

import nbformat
import pytest

import confkit as ck
from tests.many.building import building

LONG = [str(number) for number in range(501)]  # with two calls each over a thousand
SCRIPT = """
import sys
import confkit as ck
client = ck.Client(sys.argv[1], sys.argv[1], "demo_access", "demo_secret", name="prod")
sweep = ck.sweep(client, map(str, range(int(sys.argv[2]))), rooms=True, progress=PROGRESS)
assert not sweep.failures, sweep.failures[0]
"""
FIRST = re.compile(r"1,002 calls to prod, about [\w ]+")


@pytest.fixture
def service(script):
    return script(building(dict.fromkeys(LONG, ())))


def run(service, rooms, progress="None", terminal=False, size=(30, 100)):
    """What a script that sweeps so many rooms writes on stdout and stderr."""
    command = [sys.executable, "-c", SCRIPT.replace("PROGRESS", progress), service.base_url]
    command.append(str(rooms))
    if not terminal:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout, done.stderr
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, size)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as child:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:
            pass  # the child has closed its end
        out = child.stdout.read()
    os.close(ours)
    assert child.returncode == 0, seen
    return out, seen.decode()


SHOWN = {  # rooms, progress, terminal, its size; whether the line, and which bar
    "a long sweep": (501, "None", True, (30, 100), True, "0/1003"),
    "a short one": (500, "None", True, (30, 100), False, "0/1001"),
    "a terminal without a size": (500, "None", True, (0, 0), False, "0/1001"),
    "a few rooms": (49, "None", True, (30, 100), False, ""),
    "a few rooms, asked for": (49, "True", True, (30, 100), False, "0/99"),
    "nobody watches": (501, "None", False, None, False, ""),
    "asked for": (501, "True", False, None, True, "0/1003"),
    "refused": (501, "False", True, (30, 100), False, ""),
}


@pytest.mark.parametrize("row", SHOWN.values(), ids=SHOWN)
def test_what_is_shown_on_the_way(service, row):
    """A line first, where there are more than a thousand calls, then a bar, which a few calls do
    not need; on stderr, where somebody watches; nothing on stdout, where results go."""
    *how, line, bar = row
    out, seen = run(service, *how)
    told = FIRST.search(seen)
    assert (out, bool(told), bool(seen)) == ("", line, bool(bar))
    assert bar in seen
    assert not told or told.start() < seen.index("calls:")


def test_a_function_is_told_each_call(service, capfd):
    """It gets the calls done and their number, up to the last one, and nothing is written."""
    steps = []
    ck.sweep(service.client(), ["1", "2", "nowhere"], progress=lambda *step: steps.append(step))
    assert steps == [(done, 7) for done in range(1, 8)]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("rate", "told"), [(600, "about 2 s"), (0.5, "about 33 minutes"), (0.1, "about 3 h")]
)
def test_the_guess_keeps_to_the_rate(service, caplog, rate, told):
    """At so many requests a second it takes that long at least, whoever set the rate."""
    ended = threading.Event()
    ended.set()
    caplog.set_level("INFO", "confkit.sweep")
    ck.sweep(service.client(), LONG, max_rate=rate, cancelled=ended)
    assert told in caplog.text
    caplog.clear()
    ck.sweep(service.client(max_rate=rate), LONG, max_rate=1000, cancelled=ended)
    assert told in caplog.text


def test_a_sandbox_needs_no_warning(client, capfd, caplog):
    """It is this process's own."""
    caplog.set_level("INFO", "confkit.sweep")
    ck.sweep(client, LONG, progress=True)
    assert "calls to" not in caplog.text + capfd.readouterr().err


# Notebooks


def cell(service):
    return (
        "import confkit as ck\n"
        f"client = ck.Client({service.base_url!r}, {service.base_url!r}, 'demo_access', "
        "'demo_secret', name='prod')\n"
        "sweep = ck.sweep(client, map(str, range(501)))\n"
        "frame = sweep.frame()"
    )


def test_nbval_sees_nothing(service, tmp_path):
    """A notebook that is compared with its stored outputs has none of the sweep's."""
    cells = [
        nbformat.v4.new_code_cell(cell(service), execution_count=1),
        nbformat.v4.new_code_cell(
            "print(len(frame))",
            execution_count=2,
            outputs=[nbformat.v4.new_output("stream", text="501\n")],
        ),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "p", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "sweep.ipynb")
    command = "-m pytest -p nbval.plugin --nbval --nbval-current-env -p no:cacheprovider --rootdir"
    done = subprocess.run(
        [sys.executable, *command.split(), tmp_path, "sweep.ipynb"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # the other plug-ins take long
    )
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_a_notebook_shows_a_line_and_a_bar(service):
    """The line says how many calls, the bar is closed in the end; nothing goes to stderr."""
    from jupyter_client.manager import start_new_kernel

    manager, kernel = start_new_kernel()
    seen = []
    try:
        reply = kernel.execute_interactive(cell(service), timeout=60, output_hook=seen.append)
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok", reply["content"]
    kinds = Counter(message["msg_type"] for message in seen)
    streams = [message["content"] for message in seen if message["msg_type"] == "stream"]
    assert [one["name"] for one in streams] == ["stdout"]
    assert FIRST.fullmatch(streams[0]["text"].strip())
    [bar] = [
        message["content"]["data"] for message in seen if message["msg_type"] == "display_data"
    ]
    assert bar["text/plain"] == "calls:   0%|          | 0/1003 [00:00<?, ?it/s]"
    states = [one["content"].get("data", {}).get("state", {}) for one in seen]
    assert 1003 in [state.get("value") for state in states]
    assert kinds["comm_close"] > 0
