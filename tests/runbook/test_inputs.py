"""The inputs of runbooks: where they come from, their types, and that none is a secret."""

import html
import re
from datetime import UTC, datetime

import nbformat
import pytest

import confkit as ck
from confkit import runbook
from confkit.checklist import Checklist
from confkit.runbook import library
from confkit.runbook.inputs import refuse_secret
from confkit.runbook.report import render
from confkit.runbook.running import Run

TOKEN = "NDhiMDA0NGU0ZWIyYjRmYTViY2VmN2U1YTkwYjEyYjI4ZWE2MmI3OA=="  # of the published vectors


@pytest.mark.parametrize(
    ("text", "default", "value"),
    [
        ("5", 1, 5),
        ("2.5", 1.0, 2.5),
        ("yes", False, True),
        ("0", True, False),
        ("00123", "", "00123"),
        ("", "all", ""),
    ],
)
def test_an_input_is_read_as_its_default_s_type(monkeypatch, text, default, value):
    """A number, yes or no, or the text as it is: leading zeros stay."""
    monkeypatch.setenv("CONFKIT_RUNBOOK_THING", text)
    found = runbook.given("thing", default)
    assert (found, type(found)) == (value, type(default))


def test_an_input_that_is_not_given_is_its_default():
    """CONFKIT_ROOM, say, is not looked at."""
    assert runbook.given("room", "lobby") == "lobby"


def test_an_input_of_the_wrong_type_names_its_variable(monkeypatch):
    """The error says where the value came from and what is due."""
    monkeypatch.setenv("CONFKIT_RUNBOOK_DAYS", "many")
    with pytest.raises(ck.ConfigError, match=r"from CONFKIT_RUNBOOK_DAYS.*a whole number"):
        runbook.given("days", 30)
    with pytest.raises(ck.ConfigError, match="true or false"):
        runbook.given("days", False)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "-1", "-0.5"])
def test_a_number_is_finite_and_not_below_0(monkeypatch, text):
    """A runbook waits so long, or counts so many."""
    monkeypatch.setenv("CONFKIT_RUNBOOK_WAIT", text)
    for default in (30, 1.0):
        with pytest.raises(ck.ConfigError, match="number, 0 or more"):
            runbook.given("wait", default)


@pytest.mark.parametrize(
    "name", ["password", "secret_key", "access_token", "digest", "login_password"]
)
def test_an_input_whose_name_is_a_secret_is_refused(name):
    """Its value would stand in the report."""
    with pytest.raises(ck.ConfigError, match="is never one"):
        runbook.given(name, "")


@pytest.mark.parametrize(
    "value",
    [
        "rtsp://admin:hunter2@192.0.2.7/1",
        "//admin:hunter2@192.0.2.7",
        "password=hunter2",
        f"token {TOKEN}",
        "keepsake",
        " keepsake ",
    ],
)
def test_an_input_that_holds_a_secret_is_refused_and_not_quoted(monkeypatch, value):
    """A login in an address, a token, or what stands in a variable of secrets."""
    monkeypatch.setenv("CONFKIT_SECRET_KEY", "keepsake")
    monkeypatch.setenv("CONFKIT_RUNBOOK_CAMERA", value)
    with pytest.raises(ck.ConfigError, match="is never one") as refused:
        runbook.given("camera", "")
    for secret in ("hunter2", "keepsake", TOKEN):
        assert secret not in str(refused.value)


def test_a_long_secret_inside_a_text_is_refused_a_short_one_is_not():
    """Encoded too; three letters may stand in any word."""
    for value in ("xxkeepsake/1xx", "a%20keepsake%2F1"):
        with pytest.raises(ck.ConfigError, match="is never one") as refused:
            refuse_secret("device", value, "keepsake/1")
        assert "keepsake" not in str(refused.value)
    refuse_secret("device", "a-cam-of-ours", "cam")
    with pytest.raises(ck.ConfigError, match="is never one"):
        refuse_secret("device", "cam", "cam")


def test_an_address_without_a_password_is_an_input():
    """With a login name as well, and so is a text with a colon."""
    for value in ("rtsp://admin@192.0.2.7:554/h264/ch1", "rtsp://192.0.2.7/a:b", "Weekly: sync"):
        refuse_secret("camera", value)


def test_a_camera_s_password_comes_from_the_environment(monkeypatch):
    """None without a login name; where nobody can be asked, the variable is named."""
    assert runbook.camera_password("") is None
    with pytest.raises(ck.ConfigError, match="CONFKIT_CAMERA_PASSWORD"):
        runbook.camera_password("admin")
    monkeypatch.setenv("CONFKIT_CAMERA_PASSWORD", "hunter2")
    assert runbook.camera_password("admin") == "hunter2"
    assert "hunter2" not in repr(runbook.camera_password("admin"))


def cells(name):
    """The code cells of a runbook: tags and source."""
    stored = nbformat.read(library.find(name).path, as_version=4).cells
    code = [cell for cell in stored if cell.cell_type == "code"]
    return [(cell.metadata.get("tags", []), cell.source) for cell in code]


@pytest.mark.parametrize("one", library.stored(), ids=lambda one: one.name)
def test_every_runbook_is_made_as_its_package_says(one, monkeypatch):
    """One cell of inputs, each under its own name; a purpose of one line; a verdict at the end;
    what changes something is one cell, guarded by an input that no variable sets; no cell has more
    than five lines of code, but for the inputs."""
    made = cells(one.name)
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


@pytest.mark.parametrize("one", library.stored(), ids=lambda one: one.name)
def test_a_report_shows_a_runbook_s_code_without_a_password(one):
    """No cell holds one, so all code shows as it is."""
    notebook = nbformat.read(one.path, as_version=4)
    run = Run(Checklist([]), notebook)
    when = datetime(2026, 1, 2, tzinfo=UTC)
    page = html.unescape(re.sub("<[^>]*>", "", render(run, one.name, "here", when, ())))
    assert not re.search("desk-[0-9]{4}", page)
    for names, source in cells(one.name):
        if names != ["parameters"]:
            assert source.strip() in page
