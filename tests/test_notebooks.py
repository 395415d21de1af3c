"""The notebooks as stored: run, small, clean, compared. That their outputs repeat, nbval tests."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from confkit.course import exercises

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
# How many cells of a notebook are not compared, or may fail; none in those that are not listed.
NOT_COMPARED: dict[str, int] = {}
_SWITCHES = "NBVAL_SKIP|NBVAL_IGNORE_OUTPUT|NBVAL_RAISES_EXCEPTION|PYTEST_VALIDATE_IGNORE_OUTPUT"
SWITCHES = re.compile(rf"^\s*#+\s*({_SWITCHES})\s*$", re.MULTILINE)
TAGS = {"raises-exception", *_SWITCHES.lower().replace("_", "-").split("|")}
NO_WORDS = re.compile(r"<.*>|[\w.]+\(.*\)|", re.DOTALL)  # what Python shows of an object
TEXTS = {"text/plain", "text/html"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_holds_its_run(path):
    """Each code cell has run, in order, and none shows an error that it does not announce."""
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        expected = "raises-exception" in cell["metadata"].get("tags", [])
        failed = any(output["output_type"] == "error" for output in cell["outputs"])
        assert failed == expected


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_holds_nothing_of_its_session(path):
    """No notebook is over 300 kB, holds widget state, or a folder of the machine that ran it."""
    text = path.read_text("utf-8")
    assert len(text) < 300_000
    assert "widgets" not in json.loads(text)["metadata"]
    assert str(ROOT) not in text
    assert str(Path.home()) not in text


def test_above_a_panel_stands_its_picture():
    """Who opens a notebook that has not run sees what it will show; a panel itself is not saved.

    Not in the app, which is shown as a page, and not in Markdown, on which Voila stumbles within
    Jupyter's server (it takes what that gives to be awaited for the file)."""
    shown = 0
    for path in NOTEBOOKS:
        assert "![" not in "".join(map(source, json.loads(path.read_text("utf-8"))["cells"])), path
        if path.stem == "app":
            continue
        cells = json.loads(path.read_text("utf-8"))["cells"]
        for number, cell in enumerate(cells):
            if re.search(r"<\w+(Panel|Explorer) of ", json.dumps(cell.get("outputs"))):
                above = "".join(source(one) for one in cells[:number])
                pictures = re.findall(r'<img src="([\w-]+\.png)" alt="[^"]{20,}">', above)
                assert pictures, path
                assert all((path.parent / one).exists() for one in pictures), path
                shown += 1
    assert shown == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_leaves_its_client_open(path):
    """Who goes back to a cell or a panel after the last cell still has a service behind it: the
    sandbox ends with the kernel."""
    assert not [cell for cell in code_cells(path) if "client.close()" in source(cell)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_nbval_does_not_compare_is_counted_and_has_its_reason(path):
    """So many cells as the table says switch comparison off, and each says why in its metadata."""
    found = [cell for cell in code_cells(path) if is_switched_off(cell)]
    for cell in found:
        assert len(cell["metadata"].get("confkit", {}).get("reason", "")) > 20, source(cell)
    assert len(found) == NOT_COMPARED.get(name(path), 0)


def test_the_table_of_what_is_not_compared_names_notebooks_that_are_there():
    """A notebook that is gone, or compares everything, does not stay in the table."""
    assert set(NOT_COMPARED) <= {name(path) for path in NOTEBOOKS}
    assert all(NOT_COMPARED.values())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_beside_each_chart_and_panel_stands_its_text(path):
    """A chart is its own summary in text, or its cell prints one; after a panel, its cell or the
    next prints or shows what it holds: that is what nbval compares, and what is read aloud."""
    cells = code_cells(path)
    for cell, following in zip(cells, [*cells[1:], None], strict=True):
        for output in cell["outputs"]:
            if is_view(output):
                assert told(cell) or (following and told(following)), source(cell)
            elif is_picture(output):
                summary = "".join(output["data"]["text/plain"]).strip()
                assert not NO_WORDS.fullmatch(summary) or told(cell), source(cell)


def code_cells(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


def name(path):
    return path.relative_to(FOLDER).as_posix()


def is_switched_off(cell):
    return TAGS & set(cell["metadata"].get("tags", ())) or SWITCHES.search(source(cell))


def is_view(output):
    return "application/vnd.jupyter.widget-view+json" in output.get("data", ())


def is_picture(output):
    data = output.get("data", {})
    return any(kind.startswith("image/") for kind in data) or "<img" in "".join(
        data.get("text/html", ())
    )


def told(cell):
    """Whether the cell prints something, or shows a table or a value that is neither picture nor
    panel."""
    return any(
        output["output_type"] == "stream"
        or (TEXTS & set(output.get("data", ())) and not is_view(output) and not is_picture(output))
        for output in cell["outputs"]
    )


def test_there_are_notebooks():
    """The tests above have something to test."""
    assert "first-look" in [path.stem for path in NOTEBOOKS]


def test_nbval_typed_as_it_is_compares_notebooks_whatever_is_set_here(tmp_path):
    """`pytest --nbval` keeps the cells in their order while it shuffles tests, and whoever is
    through the course, or has a service of their own, sees the outputs that are stored."""
    through = tmp_path / "course.jsonl"
    names = exercises()["exercise"]
    through.write_text(
        "".join(json.dumps({"exercise": name, "outcome": "right"}) + "\n" for name in names)
    )
    tests, notebook = ROOT / "tests" / "test_excerpts.py", FOLDER / "course" / "02-the-token.ipynb"
    words = "-m pytest -v -p no:cacheprovider --randomly-seed=4 --nbval"
    done = subprocess.run(
        [sys.executable, *shlex.split(words), notebook, tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CONFKIT_COURSE": str(through), "CONFKIT_PROFILE": "nowhere"},
    )
    assert done.returncode == 0, done.stdout
    ran = re.findall(r"::(Cell \d+|test_\w+)\S* PASSED", done.stdout)
    count = len(code_cells(notebook))
    assert [one for one in ran if one.startswith("Cell")] == [f"Cell {n}" for n in range(count)]
    written = re.findall(r"def (test_\w+)", tests.read_text("utf-8"))
    shuffled = list(dict.fromkeys(one for one in ran if one.startswith("test")))
    assert sorted(shuffled) == sorted(written)
    assert shuffled != written
