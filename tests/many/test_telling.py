"""What a sweep says on its way: to a person who watches, and to nobody else."""

import json
import os
import pty
import re
import subprocess
import sys
import termios
import threading
from collections import Counter

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


def test_a_long_sweep_says_first_how_long_it_takes(service):
    """In a terminal: the number of calls, the service and a guess, before the bar begins; nothing
    on stdout, where results go."""
    out, seen = run(service, 501, terminal=True)
    assert out == ""
    told = FIRST.search(seen)
    assert told
    assert told.start() < seen.index("calls:")
    assert "0/1003" in seen


def test_a_short_sweep_shows_its_progress_alone(service):
    """Up to a thousand calls there is nothing to say before."""
    _, seen = run(service, 500, terminal=True)
    assert "calls to" not in seen
    assert "0/1001" in seen


def test_a_sweep_of_a_few_rooms_shows_nothing(service):
    """What is there at once needs no bar, which a notebook would keep; asked for, it is shown."""
    assert run(service, 49, terminal=True) == ("", "")
    assert "0/99" in run(service, 49, "True", terminal=True)[1]


def test_a_terminal_without_a_size_shows_it_too(service):
    """A container's terminal has no columns; the bar is as wide as a usual one then."""
    _, seen = run(service, 500, terminal=True, size=(0, 0))
    assert "0/1001" in seen


def test_output_that_nobody_watches_stays_empty(service):
    """Into a file or a pipe nothing is written, neither the line nor the bar."""
    assert run(service, 501) == ("", "")


def test_progress_can_be_asked_for_and_refused(service):
    """True writes both anywhere, False neither in a terminal."""
    out, err = run(service, 501, "True")
    assert out == ""
    assert FIRST.search(err)
    assert "0/1003" in err
    assert run(service, 501, "False", terminal=True) == ("", "")


def test_a_function_is_told_each_call(service, capfd):
    """It gets the calls done and their number, up to the last one, and nothing is written."""
    steps = []
    ck.sweep(service.client(), ["1", "2", "nowhere"], progress=lambda *step: steps.append(step))
    assert steps == [(done, 7) for done in range(1, 8)]
    assert capfd.readouterr() == ("", "")


def test_the_log_has_the_number_of_calls(service, caplog, capfd):
    """Whoever keeps the log of an unattended process finds it there."""
    caplog.set_level("INFO", "confkit.sweep")
    ck.sweep(service.client(name="prod"), LONG)
    assert FIRST.search(caplog.text)
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
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": {"name": "python3", "display_name": "p", "language": "python"}},
        "cells": [
            {
                "cell_type": "code",
                "id": str(number),
                "metadata": {},
                "execution_count": number,
                "outputs": outputs,
                "source": source,
            }
            for number, (source, outputs) in enumerate(
                [
                    (cell(service), []),
                    (
                        "print(len(frame))",
                        [{"output_type": "stream", "name": "stdout", "text": "501\n"}],
                    ),
                ],
                1,
            )
        ],
    }
    (tmp_path / "sweep.ipynb").write_text(json.dumps(notebook))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "nbval.plugin",
            "--nbval",
            "--nbval-current-env",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            tmp_path,
            "sweep.ipynb",
        ],
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
