"""A notebook that has run in a page."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import frontends
from .complaints import tracebacks
from .kernels import Kernel

SECONDS = 20  # for anything that is waited for in a page, on a busy machine


@dataclass
class Opened:
    """A notebook that has run in a page: the page, its front end, its kernel, its file."""

    page: Any
    front: str
    kernel: Kernel
    file: Path
    errors: list[str]

    @property
    def panel(self) -> Any:
        """The panel that the page shows."""
        return self.page.locator(".confkit-panel")

    def portrait(self) -> bytes:
        """The first panel in JupyterLab as a picture (PNG), at the width of a usual screen."""
        self.page.evaluate("window.jupyterapp.shell.collapseLeft()")
        height = self.panel.first.evaluate("panel => panel.offsetHeight")
        self.page.set_viewport_size({"width": 1280, "height": int(height) + 400})
        picture: bytes = self.panel.first.screenshot()
        return picture

    def saved(self) -> str:
        """The text of the notebook as the front end saves it."""
        frontends.save(self.page)
        return self.file.read_text()

    def until(self, met: Callable[[], Any], seconds: float = SECONDS) -> Any:
        """What the condition gives as soon as it holds."""
        deadline = time.monotonic() + seconds
        while not (found := met()):
            assert time.monotonic() < deadline, "what was waited for has not come"
            self.page.wait_for_timeout(50)
        return found

    def tab_to(self, target: Any, presses: int = 60) -> None:
        """Presses Tab until the target has the focus."""
        target.wait_for()
        for _ in range(presses):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not come to {target}")

    def complaints(self) -> list[str]:
        """What the page's console, the outputs and the kernel complained of until now."""
        self.kernel.run("pass")  # what was said before is heard before
        return [*tracebacks(self.page), *self.kernel.errors, *self.errors]

    def close(self) -> list[str]:
        """Leaves the page and ends its kernel; the complaints."""
        try:
            return self.complaints()
        finally:
            self.kernel.close()
            frontends.leave(self.page, self.front)
