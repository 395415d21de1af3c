"""What a page complained of: errors in its console and tracebacks in its outputs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page, Route

# What front ends complain of by themselves: a part of the message, and why it is none of ours.
KNOWN = {
    "reading 'schema'": "Notebook 7 reads the settings of a plug-in that only JupyterLab has",
    "Command 'filebrowser:open-path' not registered": "Notebook 7 has no file browser here",
    '{"shareKey":"@jupyterlab/docregistry"}': "Voila loads an extension of Notebook 7's in vain",
}
# What a kernel says on a machine that is slow just then, and why it is no fault.
SLOW = {
    "a sweep took too long": "a recording did not keep its pace, and says so",
    "No such comm": "the front end asked for all widgets before the kernel knew of its question",
}
FONT_AWESOME = "https://cdn.jsdelivr.net/npm/@fortawesome/"  # Voila's template links to it
_TRACEBACKS = (
    '[data-mime-type="application/vnd.jupyter.error"], '
    '[data-mime-type="application/vnd.jupyter.stderr"]'
)


def heard(page: "Page") -> list[str]:
    """A list to which each error in the page's console is added. Nothing but this machine is
    reached: a page that wants more finds no answer, and that is an error in its console."""
    errors: list[str] = []

    def note(text: str) -> None:
        if not any(known in text for known in KNOWN):
            errors.append(text)

    def read(message: "ConsoleMessage") -> None:
        if message.type == "error":
            note(f"{message.text} ({message.location.get('url', '')})")

    def answer(route: "Route") -> None:
        if route.request.url.startswith(FONT_AWESOME):
            route.fulfill(body="", content_type="text/css")
        else:
            route.abort()

    page.on("console", read)
    page.on("pageerror", lambda error: note(f"{error.message}\n{error.stack}"))
    page.route(lambda url: url.startswith("http") and "//127.0.0.1:" not in url, answer)
    return errors


def tracebacks(page: "Page") -> list[str]:
    """The tracebacks and warnings that stand in outputs."""
    return [text for text in page.locator(_TRACEBACKS).all_inner_texts() if not is_slow(text)]


def is_slow(text: str) -> bool:
    """Whether a kernel says no more than that its machine is slow."""
    return any(known in text for known in SLOW)
