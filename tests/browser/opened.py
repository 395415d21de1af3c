"""A notebook in a front end: opened in a page, run, looked at, and left."""

import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from jupyter_client.blocking.client import BlockingKernelClient

LAB, NOTEBOOK = "lab/tree", "notebooks"
SECONDS = 60  # for anything that is waited for in a page, on a busy machine
SIZE = {"width": 1280, "height": 900}
DARK, LIGHT = "JupyterLab Dark", "JupyterLab Light"
_APP = "window.jupyterapp"
_THERE = f"{_APP}?.shell?.currentWidget?.sessionContext !== undefined"
_CONNECTED = """async () => {
    const app = window.jupyterapp; await app.restored;
    const w = app.shell.currentWidget;
    await w.context.ready; await w.sessionContext.ready;
    const kernel = w.sessionContext.session.kernel; await kernel.info;
    return kernel.id; }"""
_IN_SIGHT = """scope => {
    const panel = document.querySelector(scope);
    panel.scrollIntoView({block: "center"});
    const outer = panel.closest(".jp-WindowedPanel-outer") || document.documentElement;
    const [inner, around] = [panel, outer].map((one) => one.getBoundingClientRect());
    return inner.top >= around.top - 1 && inner.bottom <= around.bottom + 1; }"""
_STILL = "body { height: 100vh !important; } * { transition: none !important; }"
_STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


class Kernel:
    """A page's kernel, and every error that it reports: no front end shows those of callbacks."""

    def __init__(self, connection_file):
        self.errors = []
        self.client = BlockingKernelClient()
        self.client.load_connection_file(str(connection_file))
        self.client.start_channels(hb=False, stdin=False)
        self.client.wait_for_ready(timeout=SECONDS)

    def run(self, code):
        """What the code printed."""
        request = self.client.execute(code, store_history=False, allow_stdin=False)
        printed = ""
        while True:
            message = self.client.get_iopub_msg(timeout=SECONDS)
            kind, content = message["msg_type"], message["content"]
            if kind == "error":
                self.errors.append("\n".join(content["traceback"]))
            elif kind == "stream" and content["name"] == "stderr":
                self.errors.append(content["text"])
            elif message["parent_header"].get("msg_id") != request:
                continue
            elif kind == "stream":
                printed += content["text"]
            elif content.get("execution_state") == "idle":
                return printed.strip()


@contextmanager
def opened(browser, server, front, notebook):
    """A copy of this notebook that has run in this front end."""
    file = Path(shutil.copy(notebook, server.root))
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(SECONDS * 1000)
    page.goto(f"{server.address}/{front}/{file.name}")
    page.wait_for_function(_THERE)
    kernel = Kernel(next(server.runtime.rglob(f"kernel-{page.evaluate(_CONNECTED)}.json")))
    one = Opened(page, kernel, file)
    page.on("pageerror", lambda error: one.hear(f"{error.message}\n{error.stack}"))
    page.on("console", lambda it: it.type == "error" and one.hear(f"{it.text} {it.location}"))
    one.command("notebook:run-all-cells")
    yield one
    kernel.client.stop_channels()
    page.evaluate(f"{_APP}.shell.currentWidget.sessionContext.shutdown()")
    page.close()


@dataclass
class Opened:
    page: Any
    kernel: Kernel
    file: Path
    scope: str = ".confkit-panel"  # what is looked at

    def command(self, name, **options):
        self.page.evaluate(f"([name, how]) => {_APP}.commands.execute(name, how)", [name, options])

    def hear(self, error):
        """Notes an error of our half of the page; others are the front end's."""
        if "blob:" in error or "anywidget" in error:
            self.kernel.errors.append(error)

    def fresh(self, scene, place=0, **options):
        """A panel of this scene of `stage.py`, set anew; its names are the kernel's."""
        self.page.set_viewport_size(SIZE)
        mark = f"{scene}-{time.monotonic_ns()}"
        self.kernel.run(f"get_ipython().push(stage.show({scene!r}, {mark!r}, **{options!r}))")
        self.scope = f".{mark}-{place}"
        panel = self.page.locator(self.scope)
        panel.scroll_into_view_if_needed()
        return panel

    def accessible(self):
        """Asserts that what is shown breaks no rule of accessibility, in either theme."""
        # JupyterLab's body has no height, and for axe-core all in it is out of sight then: it would
        # not look at a single colour. Colours do not fade from one theme to the other.
        self.page.add_style_tag(content=_STILL)
        height = self.page.locator(self.scope).evaluate("panel => panel.offsetHeight")
        self.page.set_viewport_size({**SIZE, "height": int(height) + 1000})
        options = {"runOnly": {"type": "tag", "values": _STANDARDS}}
        for theme in (DARK, LIGHT):
            self.command("apputils:change-theme", theme=theme)
            self.page.locator(f'body[data-jp-theme-name="{theme}"]').wait_for(state="attached")
            self.page.locator("#jupyterlab-splash").wait_for(state="detached")  # it covers the page
            self.page.wait_for_function(_IN_SIGHT, arg=self.scope)
            result = Axe().run(self.page, context={"include": [[self.scope]]}, options=options)
            rules = {rule["id"] for rule in result.response["passes"]}
            assert "color-contrast" in rules, "axe-core found no text to look at"
            assert result.violations_count == 0, f"{theme}: {result.generate_report()}"
        self.page.set_viewport_size(SIZE)

    def saved(self):
        self.command("docmanager:save")
        return self.file.read_text()

    def until(self, met):
        deadline = time.monotonic() + SECONDS
        while not met():
            assert time.monotonic() < deadline, "what was waited for has not come"
            self.page.wait_for_timeout(50)

    def tab_to(self, target):
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

    def press(self, target):
        """Presses this, by keyboard alone."""
        self.tab_to(target)
        self.page.keyboard.press("Enter")

    def has_focus(self, target):
        return target.evaluate("element => element === document.activeElement")

    def complaints(self):
        """What page and kernel complained of since this was asked last."""
        self.kernel.run("pass")  # what was said before is heard before
        complaints, self.kernel.errors = self.kernel.errors, []
        return complaints
