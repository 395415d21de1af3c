"""The notebooks as stored: run, small, clean, compared. That their outputs repeat, nbval tests."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
_SWITCHES = "NBVAL_SKIP|NBVAL_IGNORE_OUTPUT|NBVAL_RAISES_EXCEPTION|PYTEST_VALIDATE_IGNORE_OUTPUT"
SWITCHES = re.compile(rf"^\s*#+\s*({_SWITCHES})\s*$", re.MULTILINE)
TAGS = {"raises-exception", *_SWITCHES.lower().replace("_", "-").split("|")}


def test_a_notebook_is_small_clean_and_holds_its_run():
    """Each code cell has run, in order, and none shows an error that it does not announce. No
    notebook is over 300 kB, holds widget state, or a folder of the machine that ran it."""
    assert "first-look" in [path.stem for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        cells = code_cells(path)
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), path
        for cell in cells:
            expected = "raises-exception" in cell["metadata"].get("tags", [])
            failed = any(output["output_type"] == "error" for output in cell["outputs"])
            assert failed == expected, source(cell)
        text = path.read_text("utf-8")
        assert len(text) < 300_000, path
        assert "widgets" not in json.loads(text)["metadata"], path
        assert str(ROOT) not in text, path
        assert str(Path.home()) not in text, path


def test_nbval_compares_every_cell():
    for path in NOTEBOOKS:
        for cell in code_cells(path):
            assert not TAGS & set(cell["metadata"].get("tags", ())), path
            assert not SWITCHES.search(source(cell)), path


def code_cells(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])
