"""A front end may save what is synchronised: that says nothing of rooms and people."""

import pytest

import confkit as ck
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer, WirePanel
from tests.panels.pressing import LONG, named, page, state

TOPIC, PERSON, CAMERA = "Payroll review", "Ada Lovelace", "Vault camera"


@pytest.fixture
def room_id(client, sandbox):
    """A room with a person and a camera in it."""
    room = ck.create_room(client, TOPIC, owner_id="owner-of-it", attendee_max=2)
    sandbox.join(room, PERSON)
    ck.import_device(
        client,
        room_id=room,
        user_id="vault-1",
        user_name=CAMERA,
        user_address=sandbox.camera(),
        preflight=False,
        verify=False,
    )
    return room


def explored(client, room_id):
    """Rooms, one picked, its people listed and its deletion asked for."""
    panel = RoomExplorer(client, [room_id])
    panel.select(room_id)
    named(panel, "Delete room").click()
    return panel, [TOPIC, PERSON, CAMERA, "owner-of-it", "vault-1", "in it? Type"]


def charted(client, room_id):
    """Live bars, and the curve of one room with its samples as text."""
    panel = OccupancyPanel(client, [room_id])
    panel.select(room_id)
    return panel, [TOPIC, "2 of 2"]


def devices(client, room_id):
    """The devices of all rooms, one picked, and the rooms by topic."""
    panel = DevicePanel(client)
    panel.list_rooms()
    panel.select("vault-1")
    return panel, [CAMERA, "vault-1", TOPIC, room_id]


def wired(client, room_id):
    """Calls, one of them shown in full."""
    ck.get_room(client, room_id)
    panel = WirePanel(client)
    panel.choose(-1)
    return panel, [TOPIC, room_id]


@pytest.mark.parametrize("made", [explored, charted, devices, wired])
def test_a_saved_notebook_holds_nothing_of_rooms_and_people(client, room_id, made):
    """What the page shows goes to it as messages; no widget's state has it."""
    panel, told = made(client, room_id)
    assert panel.wait(LONG)
    saved, shown = state(panel), page(panel)
    assert {text: (text in shown, text in saved) for text in told} == dict.fromkeys(
        told, (True, False)
    )
    panel.close()
