"""What axe-core finds wrong in a panel."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe

_IN_SIGHT = """scope => {
    const panel = document.querySelector(scope);
    panel.scrollIntoView({block: "center"});
    const outer = panel.closest(".jp-WindowedPanel-outer") || document.documentElement;
    const [inner, around] = [panel, outer].map((one) => one.getBoundingClientRect());
    return inner.top >= around.top - 1 && inner.bottom <= around.bottom + 1; }"""
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page: Any, scope: str) -> list[str]:
    """A line for each element within the scope that breaks a rule."""
    # JupyterLab's body has no height, and for axe-core all in it is out of sight then: it would not
    # look at a single colour.
    page.add_style_tag(content="body { height: 100vh !important; }")
    height = page.locator(scope).evaluate("panel => panel.offsetHeight")
    page.set_viewport_size({"width": 1280, "height": int(height) + 1000})
    page.wait_for_function(_IN_SIGHT, arg=scope)
    options = {"runOnly": {"type": "tag", "values": STANDARDS}, "resultTypes": ["violations"]}
    found = Axe().run(page, context={"include": [[scope]]}, options=options).response
    looked_at = {rule["id"] for rule in found["passes"] + found["violations"]}
    assert "color-contrast" in looked_at, "axe-core found no text to look at"
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:200]} {node.get('failureSummary', '')}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
