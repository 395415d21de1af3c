"""The notebooks as they are stored: run, small, clean. That their outputs repeat, nbval tests."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_holds_its_run(path):
    """Each code cell has run, in order, and none shows an error that it does not announce."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"]
             if cell["cell_type"] == "code"]  # fmt: skip
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


def test_there_are_notebooks():
    """The tests above have something to test."""
    assert "01-first-look" in [path.stem for path in NOTEBOOKS]
