"""The notebooks as stored: run, small, clean, compared. That their outputs repeat, nbval tests."""

import json
import re
from pathlib import Path

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
CONNECTS = re.compile(r"\bck\.connect\((.*?)\)")


def test_a_notebook_is_small_clean_and_holds_its_run():
    """Each code cell has run, in order, and none shows an error that it does not announce. No
    notebook is over 300 kB, holds widget state, or a folder of the machine that ran it. None closes
    its client: who goes back to a cell after the last one still has a service behind it."""
    assert "first-look" in [path.stem for path in NOTEBOOKS]
    for path in NOTEBOOKS:
        cells = code_cells(path)
        assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), path
        for cell in cells:
            expected = "raises-exception" in cell["metadata"].get("tags", [])
            failed = any(output["output_type"] == "error" for output in cell["outputs"])
            assert failed == expected, source(cell)
            assert "client.close()" not in source(cell), path
        text = path.read_text("utf-8")
        assert len(text) < 300_000, path
        assert "widgets" not in json.loads(text)["metadata"], path
        assert str(ROOT) not in text, path
        assert str(Path.home()) not in text, path


def test_each_notebook_connects_to_its_sandbox_or_to_the_service_that_is_named():
    """Runbooks and the app say ck.connect(); notebooks that teach say ck.connect("sandbox")."""
    for path in NOTEBOOKS:
        said = {found for cell in code_cells(path) for found in CONNECTS.findall(source(cell))}
        anywhere = name(path).startswith("runbooks/") or name(path) == "app.ipynb"
        assert '"sandbox"' not in said if anywhere else said <= {'"sandbox"'}, name(path)


def test_what_nbval_does_not_compare_is_counted_and_has_its_reason():
    """So many cells as the table says switch comparison off, and each says why in its metadata."""
    for path in NOTEBOOKS:
        found = [cell for cell in code_cells(path) if is_switched_off(cell)]
        for cell in found:
            assert len(cell["metadata"].get("confkit", {}).get("reason", "")) > 20, source(cell)
        assert len(found) == NOT_COMPARED.get(name(path), 0), path


def test_beside_each_chart_and_panel_stands_its_text():
    """A chart is its own summary in text, or its cell prints one; after a panel, its cell or the
    next prints or shows what it holds: that is what nbval compares, and what is read aloud."""
    for path in NOTEBOOKS:
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
