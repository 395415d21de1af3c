"""Runbooks in real kernels, headless: slow, so there are few tests, each with several subjects."""

import html
import os
import pty
import re
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import confkit as ck
from confkit.connect import save_profile
from confkit.dialect import Dialect
from confkit.runbook import running
from confkit.runbook.report import render
from confkit.sandbox import Sandbox
from tests.runbook.harness import SETTINGS
from tests.sandbox.conftest import until

NAME = "media-server-gone"
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Kernels import this checkout."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)


def test_a_runbook_on_the_sandbox_prints_its_checks_and_fails_with_1(said, tmp_path):
    """--sandbox plays its scene; the report holds the verdict, and loads nothing from anywhere."""
    report = tmp_path / "out.html"
    report.write_text("of yesterday")
    status, out, err = said(NAME, "--sandbox", "-p", "apply=true", "--report", str(report))
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == f"{NAME} on the SANDBOX"
    assert "MCU not online (417)" in out
    assert lines[-2:] == ["FAIL    overall", f"report: {report}"]
    page = report.read_text()
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["out.html"]
    shown = html.unescape(re.sub("<[^>]*>", " ", page.partition("<body>")[2])).split("code", 1)[0]
    assert shown.split()[0] == "FAIL:"  # the answer is what one reads first
    assert "MCU not online (417)" in shown[: shown.index("The other checks")]
    assert page.count("<details><summary>code</summary>") > 5
    assert "apply = True" in page
    assert f"Runbook {NAME} on the SANDBOX" in page
    assert not re.search(r"(?:src|href)\s*=\s*['\"]?\s*(?:https?:)?//", page)
    assert "<script" not in page


def test_a_service_elsewhere_with_another_dialect_passes(said, tmp_path, monkeypatch):
    """Found by a profile, with keys of its own: PASS, 0, and no secret in the report."""
    dialect = Dialect(hash="sha256", signature="raw", list_method="POST", placement="json")
    with Sandbox(seed=3, dialect=dialect, secret_key="keepsake-of-ours") as sandbox:
        with sandbox.connect() as client:
            rooms = ck.create_room(client, "Lobby", owner_id="ops")
        settings = {name: getattr(sandbox, name) for name in SETTINGS}
        save_profile("night", {**settings, "dialect": dialect.changes()})
        monkeypatch.setenv("CONFKIT_PROFILE", "night")
        report = tmp_path / "out.html"
        status, out, err = said(NAME, "--report", str(report), "-p", f"rooms={rooms}")
        assert (status, err) == (0, ""), out
        assert f"{NAME} on night ({sandbox.base_url})" in out
        assert "SKIP    a scene to look at: night is used as it is" in out
        assert "PASS    overall" in out
        assert "keepsake-of-ours" not in report.read_text() + out


@pytest.mark.nightly  # ends a kernel or a process
def test_what_was_done_is_undone_and_reported_when_it_is_ended(tmp_path):
    """In the middle of an acceptance test, by a terminal that goes away as a dropped ssh does
    (SIGHUP): the room is deleted, status 2, no kernel is left."""
    with Sandbox(seed=1) as sandbox:
        sandbox.fault("/sdk/get_mcu", delay=60)
        named = {f"CONFKIT_{name.upper()}": getattr(sandbox, name) for name in SETTINGS}
        report = tmp_path / "out.html"
        line = ["runbook", "deployment-acceptance", "-p", "apply=true", "--report"]
        terminal, end = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", _ON_A_TERMINAL, *line, str(report)],
            stdin=end,
            stdout=end,
            stderr=end,
            start_new_session=True,
            env={**os.environ, **named, "CONFKIT_TIMEOUT": "5,60", "TMPDIR": str(tmp_path)},
        )
        os.close(end)
        try:
            until(lambda: sandbox.count("/sdk/get_mcu") or process.poll() is not None, 60)
            assert len(sandbox.room_ids()) == 1
            os.close(terminal)
            process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == 2
        assert sandbox.room_ids() == []
        page = report.read_text()
        assert "UNKNOWN" in page
        assert "it was interrupted in cell" in page
        assert [file.name for file in tmp_path.iterdir()] == ["out.html"]  # the kernel's are gone


# Takes the terminal for its own, as a shell of ssh has it, so that SIGHUP comes when that goes.
_ON_A_TERMINAL = """
import fcntl, sys, termios
from confkit.cli import main
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.exit(main())
"""


@pytest.fixture
def notebook(tmp_path):
    """Writes a runbook of these cells, the last of which is tagged `always`."""

    def write(*sources):
        cells = [new_code_cell(source) for source in sources]
        cells[0].metadata["tags"] = ["parameters"]
        cells[-1].metadata["tags"] = ["always"]
        path = tmp_path / "made.ipynb"
        nbformat.write(new_notebook(cells=[new_markdown_cell("# Made"), *cells]), path)
        return path

    return write


def test_a_notebook_that_breaks_is_unknown_and_shows_no_secret(notebook):
    """Its reason is the last check, the first cause first; cells tagged `always` run; what it
    printed is masked. Code that takes a secret from elsewhere stays as it is, and what was given is
    masked."""
    path = notebook(
        "from confkit import runbook\nimport confkit as ck",
        "client = ck.connect()\nbook = runbook.begin('made', client)\n"
        "book.add(ck.Check('one', 'PASS', 'well'))",
        "print(client.secret_key.reveal(), client.token().reveal())\n"
        "login = {'login_password': runbook.camera_password('')}\n"
        "raise ValueError('rtsp://admin:hunter2@192.0.2.7/1')",
        "book.add(ck.Check('never', 'PASS', 'reached'))",
        "print('un' + 'done')\nnot_there",
    )
    environment = {**os.environ, "CONFKIT_PROFILE": "sandbox"}
    told = []
    done = running.run(path, {"made": "password=x"}, environment, 60, told.append)
    assert [check.name for check in done.checks] == ["one", running.ENDED]
    assert tuple(told) == done.checks
    assert done.checks.exit_status == 2
    assert done.checks[-1].detail == (
        "cell 5 broke: ValueError: rtsp://admin:***@192.0.2.7/1; "
        "then cell 7 broke: NameError: name 'not_there' is not defined"
    )
    page = render(done, "made", "here", datetime(2026, 1, 2, 3, 4, tzinfo=UTC), ["demo_secret"])
    assert "undone" in page
    assert "hunter2" not in page
    assert "demo_secret" not in page
    shown = html.unescape(re.sub("<[^>]*>", "", page))
    assert "login = {'login_password': runbook.camera_password('')}" in shown
    assert "made = 'password=***" in shown
    assert not re.search(r"[A-Za-z0-9+/]{54,}==", page)


def test_a_report_begins_with_the_answer():
    """How many checks passed where the verdict is PASS, else each that failed, with its next step;
    what could not be known counts where nothing failed."""
    well, left = (
        ck.Check("one", "PASS", "it is well"),
        ck.Check("two", "SKIP", "nothing was changed"),
    )
    unknown = ck.Check("three", "UNKNOWN", "no answer", "Ask again.")
    full = ck.Check("four", "FAIL", "the room is full (2 of 2)", "Remove somebody.")
    for checks, answer in (
        ([well, left], "PASS: 1 of 2 checks passed."),
        ([well, unknown], "UNKNOWN: No answer. Ask again."),
        ([unknown, full], "FAIL: The room is full (2 of 2). Remove somebody."),
    ):
        run = running.Run(ck.Checklist(checks), None)
        assert f"<h1>{answer}</h1>" in render(run, "made", "here", datetime(2026, 1, 2), ())


def test_what_the_file_shows_of_another_run_is_in_no_report(notebook):
    """Where no cell was run, the notebook has no output: a stored PASS is none of this service."""
    path = notebook("import confkit", "print('PASS')")
    stored = nbformat.read(path, as_version=4)
    stored.cells[2].outputs = [new_output("stream", text="PASS")]
    nbformat.write(stored, path)
    nowhere = {**os.environ, "PYTHONHOME": str(path)}  # a kernel that cannot start
    done = running.run(path, {}, nowhere, 60, lambda check: None)
    assert done.checks.verdict == "UNKNOWN"
    assert [cell.get("outputs", []) for cell in done.notebook.cells] == [[], [], []]


@pytest.mark.nightly  # ends a kernel or a process
def test_a_cell_that_takes_too_long_and_a_kernel_that_dies_are_unknown(notebook):
    """The first is interrupted and undone; after the second nothing can run any more."""
    path = notebook(
        "import time, os",
        "try:\n    time.sleep(600)\nfinally:\n    print('undone')",
        "print('not reached')",
        "os._exit(3)",
    )
    done = running.run(path, {}, dict(os.environ), 1, lambda check: None)
    assert done.checks.verdict == "UNKNOWN"
    assert "took longer than 1 s" in done.checks[-1].detail
    outputs = [output for cell in done.notebook.cells for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if "text" in output] == ["undone\n"]


@pytest.mark.nightly  # ends a kernel or a process
def test_a_second_ctrl_c_ends_what_is_being_undone_too(notebook):
    """The first ends the cell, the second the one tagged `always`; both times at once."""
    path = notebook(
        "import time\nimport confkit as ck\nfrom confkit import runbook",
        "book = runbook.begin('made', ck.connect())\n"
        "book.add(ck.Check('one', 'PASS', 'well'))\ntime.sleep(600)",
        "book.add(ck.Check('two', 'PASS', 'undoing'))\ntime.sleep(600)",
    )
    environment = {**os.environ, "CONFKIT_PROFILE": "sandbox"}

    def interrupt(check):
        if check.name in ("one", "two"):
            os.kill(os.getpid(), signal.SIGINT)

    done = running.run(path, {}, environment, 300, interrupt)
    assert [check.name for check in done.checks] == ["one", "two", running.ENDED]
    assert done.checks[-1].detail == (
        "it was interrupted in cell 3; "
        "then it was interrupted, and what it has to undo may not be undone"
    )
