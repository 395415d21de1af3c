"""The inputs of runbooks: where they come from, their types, and that none is a secret."""

import html
import re
from datetime import datetime

import nbformat
import pytest

import confkit as ck
from confkit import runbook
from confkit.checks import Checklist
from confkit.runbook import library
from confkit.runbook.report import render
from confkit.runbook.running import Run

TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="  # of the published vectors


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("5", 1, 5),
        ("yes", False, True),
        ("0", True, False),
        ("00123", "", "00123"),
        ("-1", 30, "a whole number, 0 or more"),
        ("nan", 1.0, "a number, 0 or more"),
        ("perhaps", False, "true or false"),
        ("keepsake", "", "is never one"),
        ("xxkeepsake%2F1xx", "", "is never one"),
        ("cam", "", "is never one"),
        ("a-cam-of-ours", "", "a-cam-of-ours"),
        ("rtsp://admin:keepsake@192.0.2.7/1", "", "is never one"),
        ("//admin:keepsake@192.0.2.7", "", "is never one"),
        ("password=keepsake", "", "is never one"),
        (f"token {TOKEN}", "", "is never one"),
        ("rtsp://admin@192.0.2.7:554/h264/ch1", "", "rtsp://admin@192.0.2.7:554/h264/ch1"),
    ],
)
def test_an_input_is_read_as_its_default_s_type(monkeypatch, text, default, value):
    """A number, yes or no, or the text as it is, and leading zeros stay; a secret is refused and
    not quoted, a long one also inside a text: three letters may stand in any word."""
    monkeypatch.setenv("CONFKIT_SECRET_KEY", "keepsake/1" if "%" in text else "keepsake")
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "cam")
    monkeypatch.setenv("CONFKIT_RUNBOOK_THING", text)
    if not isinstance(value, str) or value in ("", text):
        found = runbook.given("thing", default)
        assert (found, type(found)) == (value, type(default))
    else:
        with pytest.raises(ck.ConfigError, match=value) as refused:
            runbook.given("thing", default)
        assert not any(secret in str(refused.value) for secret in ("keepsake", TOKEN))


def test_an_input_that_is_not_given_is_its_default(monkeypatch):
    """CONFKIT_ROOM, say, is not looked at; one whose name is a secret's is refused all the same."""
    monkeypatch.setenv("CONFKIT_ROOM", "hall")
    assert runbook.given("room", "lobby") == "lobby"
    for name in ("password", "secret_key", "access_token", "digest", "login_password"):
        with pytest.raises(ck.ConfigError, match="is never one"):
            runbook.given(name, "")


def test_a_camera_s_password_comes_from_the_environment(monkeypatch):
    """None without a login name; where nobody can be asked, the variable is named."""
    assert runbook.camera_password("") is None
    with pytest.raises(ck.ConfigError, match="CONFKIT_CAMERA_PASSWORD"):
        runbook.camera_password("admin")
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "hunter2")
    assert runbook.camera_password("admin") == "hunter2"
    assert "hunter2" not in repr(runbook.camera_password("admin"))


@pytest.mark.parametrize("one", library.stored(), ids=lambda one: one.name)
def test_every_runbook_is_made_as_its_package_says(one, monkeypatch):
    """One cell of inputs, each under its own name; a purpose of one line; a verdict at the end;
    what changes something is one cell, guarded by an input that no variable sets; no cell has more
    than five lines of code, but for the inputs. No cell holds a password, so a report shows all of
    it as it is."""
    notebook = nbformat.read(one.path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    made = [(cell.metadata.get("tags", []), cell.source) for cell in code]
    tags = [names for names, _ in made]
    assert sum("parameters" in names for names in tags) == 1
    assert 20 < len(one.purpose) < 200
    assert made[-1] == (["always"], "book.verdict()")
    source = next(source for names, source in made if "parameters" in names)
    names: dict[str, object] = {}
    for name in one.inputs:
        monkeypatch.setenv(f"CONFKIT_RUNBOOK_{name.upper()}", "1")
    exec(source, names)
    for name in set(one.inputs) - {"apply"}:
        assert names[name] == type(one.inputs[name])("1"), name
    assert all(source.count("\n") < 5 for names, source in made if "parameters" not in names)
    changing = [source for names, source in made if "changes" in names]
    assert len(changing) <= 1
    for source in changing:
        assert "apply=apply" in source
        assert names["apply"] is False
    page = render(Run(Checklist([]), notebook), one.name, "here", datetime(2026, 1, 2), ())
    shown = html.unescape(re.sub("<[^>]*>", "", page))
    assert not re.search("desk-[0-9]{4}", shown)
    assert all(source.strip() in shown for names, source in made if names != ["parameters"])
