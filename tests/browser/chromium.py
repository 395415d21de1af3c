"""Chromium, as it is installed here; `python -m tests.browser.chromium` prints where."""

import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

SHELL = "chromium-headless-shell"  # draws no window: a second of work less a page
NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome")
HOW = f"apt-get install {SHELL}, or python -m playwright install --with-deps chromium"


def found():
    """Where Chromium is: the machine's own, or Playwright's; None when there is none."""
    from playwright.sync_api import sync_playwright

    ours = next(filter(None, map(shutil.which, NAMES)), None)
    if ours:
        return ours
    with sync_playwright() as playwright:
        downloaded = playwright.chromium.executable_path
    return downloaded if Path(downloaded).exists() else None


@contextmanager
def chromium():
    """A Chromium without a window; skips the test where there is none."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import need

    path = found()
    need("Chromium", path, HOW)
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path) as one:
        yield one


if __name__ == "__main__":
    print(path := found())
    sys.exit(not path)
