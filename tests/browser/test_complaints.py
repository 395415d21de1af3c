"""What goes wrong in a page or its kernel without a word is heard, in every test here."""

import pytest

pytestmark = pytest.mark.nightly


def test_an_error_in_the_page_or_in_a_callback_is_heard(visit):
    """No script's error passes for one that the front end is known for, not even in its words; nor
    is an error lost that only the kernel's log would show."""
    panel = visit.fresh("frame")
    visit.page.evaluate("setTimeout(() => { undefined.schema })")
    visit.until(lambda: visit.heard.errors)
    visit.kernel.run("panel.children[-1].children[0].on_click(lambda _: int('no number'))")
    panel.get_by_role("button", name="Count").click()
    visit.until(lambda: visit.kernel.run("") or visit.kernel.errors)
    found = "\n".join(visit.complaints())
    assert "invalid literal" in found
    assert "schema" in found
