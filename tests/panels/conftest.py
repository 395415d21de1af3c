"""Rooms in each state, and panels that are closed with their test."""

import pytest

import confkit as ck
from tests.panels import pressing as ui

# By topic: the cap, and the people.
ROOMS = {
    "empty": (9, ""),
    "used": (9, "Cy"),
    "near": (5, "Eva Fay Gil Hal"),
    "full": (2, "Ada Bo"),
    "open": (None, "Di"),
}


@pytest.fixture
def ids(client, sandbox):
    made = {}
    for topic, (cap, people) in ROOMS.items():
        made[topic] = ck.create_room(client, topic, "ops", attendee_max=cap)
        for name in people.split():
            sandbox.join(made[topic], name, user_id=name.lower())
    return made


@pytest.fixture
def open_panel(client):
    """Makes panels and blocks that read nothing by themselves."""
    panels = []

    def make(kind, *arguments, client=client, **options):
        panels.append(kind(client, *arguments, **{"every": 0, **options}))
        return panels[-1]

    yield make
    for panel in panels:
        panel.close()
    ui.settled()
