"""No saved notebook holds what was typed as a secret, though it holds the widgets' state."""

import random

from tests.secrets.marks import Marks


def test_no_saved_notebook_holds_what_was_typed(lab):
    """It does have what is typed into ipywidgets' own Password."""
    control, marks = Marks(random.Random(1)), Marks(random.Random(2))
    panel, secret = lab.fresh("blocks"), marks["typed password"]
    panel.get_by_label("Control").fill(control["typed password"])
    panel.get_by_label("Secret").press_sequentially(secret[:11])
    lab.until(lambda: control.found(lab.saved()))
    assert not marks.found(lab.saved()), "abandoned half-way"
    panel.get_by_label("Secret").fill(secret)
    lab.until(lambda: lab.kernel.run(f"print(secret.text == {secret!r})") == "True")
    assert not marks.found(lab.saved()), "typed"


def test_no_saved_notebook_holds_what_was_typed_into_a_panel(lab):
    rooms, marks = lab.fresh("all_panels"), Marks(random.Random(3))
    fields = {"Topic": "Stand-up", "Owner": "ops", "Host password": marks["host_password"]}
    rooms.get_by_role("button", name="New room").click()
    for label, typed in fields.items():
        rooms.get_by_label(label, exact=True).fill(typed)
    rooms.get_by_role("button", name="Create room").click()
    rooms.get_by_text("Created room").wait_for()
    assert marks.found(lab.saved()) == []
