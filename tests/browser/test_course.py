"""The course's pictures in JupyterLab, before any cell has run."""

import subprocess
import sys
from pathlib import Path

from .opened import LAB, shown, written
from .servers import environment

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "course" / "01-the-service.ipynb"
SHUT_DOWN = "window.jupyterapp.shell.currentWidget.sessionContext.shutdown()"


def test_a_lesson_s_pictures_show_before_a_cell_is_run(chrome, jupyter):
    """Each of both shows once: as an image while the notebook is not trusted, then as a drawing."""
    trust = [sys.executable, "-m", "jupyter", "trust"]
    for kind, other in (("img", "svg"), ("svg", "img")):
        lesson = written(jupyter, [LESSON])
        if kind == "svg":
            settings = environment(jupyter.home, jupyter.runtime)
            subprocess.run([*trust, str(lesson)], env=settings, check=True)
        page = chrome.new_context().new_page()
        shown(page, LAB, jupyter, lesson)
        outputs = page.locator(".jp-Notebook .jp-OutputArea-output")
        outputs.locator(f"{kind}:visible").nth(1).wait_for()
        assert outputs.locator(f"{kind}:visible").count() == 2
        assert outputs.locator(f"{other}:visible").count() == 0
        page.evaluate(SHUT_DOWN)
        page.context.close()
