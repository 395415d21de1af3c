"""A front end may save what is synchronised: that says nothing of rooms and people."""

import confkit as ck
from confkit.panels import DevicePanel, OccupancyPanel, RoomExplorer
from tests.panels.pressing import LONG, page, press, state

TOPIC, PERSON, CAMERA = "Payroll review", "Ada Lovelace", "Vault camera"


def test_a_saved_notebook_holds_nothing_of_rooms_and_people(client, sandbox):
    """What the page shows goes to it as messages; no widget's state has it: rooms, people and a
    question, a curve with its samples, devices with the rooms by topic."""
    room_id = ck.create_room(client, TOPIC, owner_id="owner-of-it", attendee_max=2)
    sandbox.join(room_id, PERSON)
    ck.import_device(client, room_id, "vault-1", CAMERA, sandbox.camera())
    explorer, occupancy = RoomExplorer(client, [room_id]), OccupancyPanel(client, [room_id])
    for panel in (explorer, occupancy):
        panel.select(room_id)
    press(explorer, "Delete room")
    devices = DevicePanel(client)
    devices.list_rooms()
    devices.select("vault-1")
    for panel, *told in (
        (explorer, TOPIC, PERSON, CAMERA, "owner-of-it", "vault-1", "in it? Type"),
        (occupancy, TOPIC, "2 of 2"),
        (devices, CAMERA, "vault-1", TOPIC, room_id),
    ):
        assert panel.wait(LONG)
        saved, shown = state(panel), page(panel)
        assert [text for text in told if text not in shown] == []
        assert [text for text in told if text in saved] == []
        panel.close()
