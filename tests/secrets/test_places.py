"""No panel, runbook, exercise or sandbox shows a secret."""

import random

import pytest

from tests.secrets import names, panelled, steered
from tests.secrets.driving import driven
from tests.secrets.worlds import world

LISTS = {
    "course": (names.course, steered.COURSE, {}, steered.DUE),
    "runbook": (names.runbook, steered.RUNBOOK, steered.RUNBOOK_MISTAKES, steered.DUE),
    "sandbox": (names.sandbox, steered.SANDBOX, steered.SANDBOX_MISTAKES, steered.DUE),
    "panels": (names.panels, panelled.PANELS, {}, panelled.DUE),
}


@pytest.mark.parametrize("place", LISTS)
def test_every_public_name_is_on_the_list(place):
    """A new public name of course, runbook, sandbox or panels is driven too, and no entry names
    nothing."""
    module, drives, *_ = LISTS[place]
    assert set(drives) == names.public(module)


@pytest.mark.parametrize("place", LISTS)
def test_no_place_shows_a_secret(tmp_path, place):
    """What a panel holds and a saved notebook would, what runbooks, exercises and the sandbox tell,
    shows no marked secret, also where they are used wrongly."""
    _, drives, mistakes, due = LISTS[place]
    drives = {name: one for name, one in drives.items() if name not in panelled.LIKE_OTHERS}
    with world("sandbox", tmp_path, random.Random(7)) as made:
        assert driven(made, {**drives, **mistakes}, due) == {}


@pytest.mark.parametrize("answers", ["head"])
def test_no_panel_shows_what_a_service_says_back(tmp_path, answers):
    """A panel of a service that quotes what it was asked shows no marked secret."""
    with world(answers, tmp_path, random.Random(7)) as made:
        some = (
            "DevicePanel.import_device",
            "RoomExplorer.create",
            "RoomsPanel.refresh",
            "WirePanel.choose",
            "RoomExplorer",
        )
        assert driven(made, {name: panelled.PANELS[name] for name in some}) == {}
