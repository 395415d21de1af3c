"""JupyterLab's themes, changed in the open page."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLUGIN = "@jupyterlab/apputils-extension:themes"
THEMES = ("JupyterLab Light", "JupyterLab Dark")


def show_in(page: "Page", theme: str) -> None:
    """Has the page show this theme."""
    shown = page.locator(f'body[data-jp-theme-name="{theme}"]')
    if shown.count():
        return
    change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
    page.evaluate(change, theme)
    shown.wait_for(state="attached")
    page.wait_for_timeout(300)  # colours fade from one theme to the other
