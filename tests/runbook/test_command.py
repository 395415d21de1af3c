"""`confkit runbook`: what there is, and what it refuses before any kernel starts."""

import os
import signal
from pathlib import Path

import pytest

import confkit as ck
from confkit.checks import Checklist
from confkit.cli import runbook as runbook_command
from confkit.connect import save_profile
from confkit.interrupts import as_interrupts
from confkit.runbook import library, report, running
from confkit.runbook.report import check_place

NAME = "media-server-gone"
SERVICE = {
    "base_url": "http://conference.example:8080",
    "outgoing_url": "http://conference.example:8050",
    "access_key": "key",
    "secret_key": "keepsake-of-ours",
}


@pytest.fixture
def prod():
    """A real service, as a profile."""
    save_profile("prod", SERVICE)


def test_the_list_names_each_runbook_its_purpose_and_its_inputs(said):
    """One can go on from it: names, a sentence, inputs with their defaults. An unknown name lists
    them too, with exit status 2, because 1 would say that a check failed."""
    status, out, _ = said("--list")
    assert status == 0
    for one in library.stored():
        assert f"  {one.name}: {one.purpose}" in out
    assert "-p rooms=, seconds=2.0, apply=false, scene=stopped" in out
    status, out, err = said("no-such")
    assert (status, out, "no runbook 'no-such'" in err, NAME in err) == (2, "", True, True)
    assert said()[0] == 2


@pytest.mark.parametrize(
    ("arguments", "environment", "told"),
    [
        ([], {}, "--sandbox"),
        (["--profile", "sandbox"], {}, "--sandbox"),
        (["--sandbox", "--profile", "prod"], {}, "two services"),
        ([], {"PROFILE": "sandbox", "BASE_URL": SERVICE["base_url"]}, "two services"),
    ],
)
def test_the_sandbox_is_refused_unless_it_is_asked_for(
    said, prod, monkeypatch, arguments, environment, told
):
    """Nobody shall read a PASS of the wrong service: --sandbox has to be typed, and two services
    are refused: --sandbox beside a profile, a profile beside addresses."""
    for name, value in environment.items():
        monkeypatch.setenv(f"CONFKIT_{name}", value)
    status, out, err = said(NAME, *arguments)
    assert (status, out) == (2, "")
    assert told in err


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("colour=red", "has no input 'colour'. It has rooms, seconds, apply, scene"),
        ("secret_key=hunter2", "is never one"),
        ("rooms=keepsake-of-ours", "is never one"),
        ("seconds=soon", "Give a number"),
        ("rooms", "has no value"),
    ],
)
def test_inputs_that_are_unknown_wrong_or_secret_are_refused(said, prod, monkeypatch, part, told):
    """Before anything is asked, and without quoting what is secret."""
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "hunter2camera")
    status, out, err = said(NAME, "--profile", "prod", "-p", part)
    assert (status, out) == (2, "")
    assert told in err
    assert "hunter2" not in err
    assert "keepsake" not in err


def test_a_report_that_cannot_be_written_is_refused_before_the_run(said, prod, tmp_path):
    """A folder that is not there or takes no files, a folder or a pipe in the file's place; where
    it can be, nothing is left of the trial, and a file of yesterday is as it was."""
    pipe, file = tmp_path / "pipe", tmp_path / "out.html"
    os.mkfifo(pipe)
    file.write_text("of yesterday")
    for place in (tmp_path / "nowhere" / "out.html", tmp_path, pipe, Path("/proc/out.html")):
        status, out, err = said(NAME, "--profile", "prod", "--report", str(place))
        assert (status, out, "cannot be written" in err) == (2, "", True), place
    check_place(file)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.html", "pipe"]
    assert (pipe.is_fifo(), file.read_text()) == (True, "of yesterday")


def test_an_end_before_the_first_cell_is_unknown_and_said(said, prod, monkeypatch):
    """While the service is looked up, say: exit status 2 and a line, never a bare 130."""
    monkeypatch.setattr(runbook_command, "need", lambda *_: signal.raise_signal(signal.SIGTERM))
    status, out, err = said(NAME, "--profile", "prod")
    assert (status, out) == (2, "")
    assert "it was interrupted, and no report was written" in err


def test_what_a_run_found_is_written_whole_whoever_ends_the_command(said, monkeypatch, tmp_path):
    """Ctrl-C, SIGTERM and SIGHUP after the last cell: verdict, report and exit status stay."""
    done = running.Run(Checklist([ck.Check("one", "FAIL", "ill", "Fix it.")]), None)

    def render(*_):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(number)
        return "the page"

    monkeypatch.setattr(running, "run", lambda *_: done)
    monkeypatch.setattr(report, "render", render)
    file = tmp_path / "out.html"
    status, out, _ = said(NAME, "--sandbox", "--report", str(file))
    assert status == 1
    assert out.splitlines()[-2:] == ["FAIL    overall", f"report: {file}"]
    assert file.read_text() == "the page"


def test_an_end_while_the_notebook_is_read_is_a_check_and_has_its_report(
    said, monkeypatch, tmp_path
):
    """Imports take seconds: UNKNOWN, with a line that says so and a report that holds it."""
    monkeypatch.setattr("nbformat.read", lambda *_, **__: signal.raise_signal(signal.SIGTERM))
    file = tmp_path / "out.html"
    status, out, _ = said(NAME, "--sandbox", "--report", str(file))
    assert status == 2
    assert "UNKNOWN the runbook's end: it was interrupted before its first cell" in out
    assert "interrupted before its first cell" in file.read_text()


def test_what_nohup_ignores_stays_ignored():
    """SIGHUP ends nothing where it was ignored when the command began."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with as_interrupts():
            signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_an_installed_confkit_reads_its_own_runbooks_where_they_are(monkeypatch, tmp_path):
    """From a wheel too, without a copy in the current folder."""
    package = tmp_path / "site" / "confkit"
    folder = package / "_notebooks" / "runbooks"
    monkeypatch.setattr(library, "__file__", str(package / "runbook" / "library.py"))
    with pytest.raises(ck.ConfigError, match="not installed"):
        library.stored()
    folder.mkdir(parents=True)
    path = Path(__file__).parents[2] / "notebooks" / "runbooks" / f"{NAME}.ipynb"
    (folder / path.name).write_bytes(path.read_bytes())
    assert [one.name for one in library.stored()] == [NAME]
