"""No secret stands in what `confkit lab` writes, keeps on disk or is started with; and Jupyter
itself, which is started here alone, opens for who has its address, and ends at Ctrl-C."""

import random

import pytest

from tests.secrets.given import imported
from tests.secrets.jupyter import opened
from tests.secrets.worlds import world

PANELS = ": Rooms, Occupancy, Cameras, Calls"


@pytest.mark.parametrize("app", [False, True], ids=["lab", "app"])
def test_no_log_file_or_argument_of_jupyter_shows_a_secret(tmp_path, app):
    """With --debug, a kernel that meets errors, or the panels opened as a page: of all marked
    secrets, a proxy's password among them, none is in a log, a file or an argument."""
    with world("sandbox", tmp_path, random.Random(7)) as made:
        imported(made)
        found = opened(made, app)
        assert (PANELS if app else "RoomNotFound") in found.shown
        assert "confkit" in found.kept
        assert "ipykernel_launcher" in found.kept
        marks = made.all_marks()
        assert marks.found(found.shown) == []
        assert marks.found(found.kept) == []
        assert "/login" in found.stranger
        assert found.status == 0
