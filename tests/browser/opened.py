"""A notebook in a front end: written, opened in a page, run through the application, left."""

import shutil
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from axe_playwright_python.sync_playwright import Axe

from .kernels import Kernel
from .servers import Server

LAB, NOTEBOOK, VOILA = "JupyterLab", "Notebook 7", "Voila"
SECONDS = 60  # for anything that is waited for in a page, on a busy machine
SIZE = {"width": 1280, "height": 900}
LIGHT, DARK = ("JupyterLab Light", "JupyterLab Dark")
_THERE = "window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined"
_CONNECTED = """async () => {
    const app = window.jupyterapp; await app.restored;
    const w = app.shell.currentWidget;
    await w.context.ready; await w.sessionContext.ready;
    const kernel = w.sessionContext.session.kernel; await kernel.info;
    return kernel.id; }"""
_RUN = "async () => { await window.jupyterapp.commands.execute('notebook:run-all-cells') }"
_SAVE = "async () => { await window.jupyterapp.commands.execute('docmanager:save') }"
_VOILA_KERNEL = "JSON.parse(document.getElementById('jupyter-config-data').textContent).kernelId"
# Its own kernel alone: other pages of this server are still open.
_SHUT_DOWN = "async () => { await window.jupyterapp.shell.currentWidget.sessionContext.shutdown() }"
_CHANGE_THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
_IN_SIGHT = """scope => {
    const panel = document.querySelector(scope);
    panel.scrollIntoView({block: "center"});
    const outer = panel.closest(".jp-WindowedPanel-outer") || document.documentElement;
    const [inner, around] = [panel, outer].map((one) => one.getBoundingClientRect());
    return inner.top >= around.top - 1 && inner.bottom <= around.bottom + 1; }"""
_STILL = "body { height: 100vh !important; } * { transition: none !important; }"
_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_FOCUSED = "element => element === document.activeElement"
_TRACEBACKS = ", ".join(
    f'[data-mime-type="application/vnd.jupyter.{kind}"]' for kind in ("error", "stderr")
)
_OURS = "blob:", "anywidget"  # our half in the browser is modules of these addresses


def written(server: Server, cells: Sequence[str | Path]) -> Path:
    """A new notebook of these cells, or a copy of the one at this path, in a folder of its own: two
    pages of one path would share a kernel."""
    folder = server.root / uuid.uuid4().hex
    folder.mkdir()
    if isinstance(cells[0], Path):
        return Path(shutil.copy(cells[0], folder))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, folder / "panel.ipynb")
    return folder / "panel.ipynb"


def shown(page: Any, front: str, server: Server, file: Path) -> str:
    """The ID of the kernel of the notebook, which the page now shows. In Voila it has run."""
    name = file.relative_to(server.root).as_posix()
    if front == VOILA:
        page.goto(f"{server.address}/voila/render/{name}")
        page.locator("#rendered_cells").wait_for(state="visible")
        return str(page.evaluate(_VOILA_KERNEL))
    # A workspace of its own: JupyterLab would open what the page before had open.
    where = f"lab/workspaces/{file.parent.name}/tree" if front == LAB else "notebooks"
    page.goto(f"{server.address}/{where}/{name}")
    page.wait_for_function(_THERE)
    return str(page.evaluate(_CONNECTED))


def errors_of(page: Any) -> list[str]:
    """What goes wrong in our half of the page from now on: whatever else its console says is the
    front end's. Nothing but this machine is reached."""
    errors: list[str] = []

    def hear(text: str) -> None:
        if any(part in text for part in _OURS):
            errors.append(text)

    page.on(
        "console",
        lambda line: line.type == "error" and hear(f"{line.text} ({line.location.get('url', '')})"),
    )
    page.on("pageerror", lambda error: hear(f"{error.message}\n{error.stack}"))
    page.route(
        lambda url: url.startswith("http") and "//127.0.0.1:" not in url,
        lambda route: route.abort(),
    )
    return errors


@contextmanager
def opened(browser: Any, server: Server, front: str, *cells: str | Path) -> "Iterator[Opened]":
    """A notebook of these cells, or the one at this path, that has run in this front end."""
    # A context of its own: a second page of one context may be taken for one in the background.
    page = browser.new_context(viewport=SIZE).new_page()
    page.set_default_timeout(SECONDS * 1000)
    # A page before may have left another theme.
    server.settle("@jupyterlab/apputils-extension:themes", {"theme": LIGHT})
    file = written(server, cells)
    errors = errors_of(page)
    kernel = Kernel(server.connection_file(shown(page, front, server, file)))
    try:
        if front != VOILA:
            page.evaluate(_RUN)
        yield Opened(page, front, kernel, file, errors)
    finally:
        kernel.close()
        if front == VOILA:
            page.goto("about:blank")  # Voila ends a kernel when its page is left
        else:
            page.evaluate(_SHUT_DOWN)
        page.context.close()


@dataclass
class Opened:
    """A notebook that has run in a page: the page, its front end, its kernel, its file."""

    page: Any
    front: str
    kernel: Kernel
    file: Path
    errors: list[str]
    scope: str = ".confkit-panel"  # what is looked at
    _fresh: int = 0
    _outputs_read: int = 0

    def fresh(self, scene: str, **options: Any) -> Any:
        """This scene of `stage.py`, set anew; its names are the kernel's."""
        self.page.set_viewport_size(SIZE)
        self.show_in(LIGHT)
        self._fresh += 1
        mark = f"{scene}-{self._fresh}"
        self.kernel.run(f"get_ipython().push(stage.fill({scene!r}, {mark!r}, **{options!r}))")
        self.scope = f".{mark}"
        panel = self.page.locator(self.scope)
        panel.scroll_into_view_if_needed()
        return panel

    def show_in(self, theme: str) -> None:
        """Shows the page in this theme; Voila has but one."""
        shown = self.page.locator(f'body[data-jp-theme-name="{theme}"]')
        if self.front == VOILA or shown.count():
            return
        self.page.evaluate(_CHANGE_THEME, theme)
        shown.wait_for(state="attached")
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")  # it covers the page

    def accessible(self) -> None:
        """Asserts that what is shown breaks no rule of accessibility, in either theme."""
        if self.front != LAB:
            return
        # JupyterLab's body has no height, and for axe-core all in it is out of sight then: it would
        # not look at a single colour. Colours do not fade from one theme to the other.
        self.page.add_style_tag(content=_STILL)
        height = self.page.locator(self.scope).evaluate("panel => panel.offsetHeight")
        self.page.set_viewport_size({**SIZE, "height": int(height) + 1000})
        options = {"runOnly": {"type": "tag", "values": _STANDARDS}}
        for theme in (DARK, LIGHT):
            self.show_in(theme)
            self.page.wait_for_function(_IN_SIGHT, arg=self.scope)
            result = Axe().run(self.page, context={"include": [[self.scope]]}, options=options)
            rules = {rule["id"] for rule in result.response["passes"]}
            assert "color-contrast" in rules, "axe-core found no text to look at"
            assert result.violations_count == 0, f"{theme}: {result.generate_report()}"
        self.page.set_viewport_size(SIZE)

    def saved(self) -> str:
        """The text of the notebook as JupyterLab or Notebook 7 saves it."""
        self.page.evaluate(_SAVE)
        return self.file.read_text()

    def until(self, met: Callable[[], Any]) -> Any:
        """What the condition gives as soon as it holds."""
        deadline = time.monotonic() + SECONDS
        while not (result := met()):
            assert time.monotonic() < deadline, "what was waited for has not come"
            self.page.wait_for_timeout(50)
        return result

    def tab_to(self, target: Any) -> None:
        """Presses Tab until the target has the focus, beginning again at the panel's end."""
        target.wait_for()
        panel = self.page.locator(self.scope)
        for _ in range(60):
            if not panel.evaluate("panel => panel.contains(document.activeElement)"):
                panel.locator("button:enabled, input").locator("visible=true").first.focus()
            if self.has_focus(target):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not come to {target}")

    def press(self, target: Any) -> None:
        """Presses this, by keyboard alone."""
        self.tab_to(target)
        self.page.keyboard.press("Enter")

    def has_focus(self, target: Any) -> bool:
        """Whether the target has the focus."""
        return bool(target.evaluate(_FOCUSED))

    def complaints(self) -> list[str]:
        """What page, outputs and kernel complained of since this was asked last."""
        self.kernel.run("pass")  # what was said before is heard before
        outputs = self.page.locator(_TRACEBACKS).all_inner_texts()
        complaints = [*outputs[self._outputs_read :], *self.kernel.errors, *self.errors]
        self._outputs_read = len(outputs)
        self.kernel.errors.clear()
        self.errors.clear()
        return complaints
