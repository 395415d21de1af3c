"""Looking has no side effects: whatever only reads leaves rooms, people and devices as they are."""

import pytest

import confkit as ck
from confkit import panels
from confkit.operations import OPERATIONS

CHANGING = {operation.path for operation in OPERATIONS.values() if operation.write}
# These ask for the removal of a user who does not exist, to see whether the token is read.
ASKING = {"doctor": {"B2"}, "probe_dialect": {"B1", "B2"}}


def state(sandbox, client):
    """All that there is: rooms with their fields and users, and devices."""
    rooms = [ck.get_room(client, room_id) for room_id in sandbox.room_ids()]
    return rooms, [ck.get_room_users(client, room) for room in rooms], ck.list_devices(client)


LOOKS = {
    "sweep": lambda c, room: ck.sweep(c, [room]),
    "known_rooms": lambda c, room: ck.known_rooms(c),
    "stray_devices": lambda c, room: ck.stray_devices(c),
    "diagnose_device": lambda c, room: ck.diagnose_device(c, room, "cam"),
    "doctor": lambda c, room: ck.doctor(c, room),
    "probe_dialect": lambda c, room: ck.probe_dialect(c),
    **{
        name: lambda c, room, name=name: panel_of(name, c).close()
        for name in ("RoomExplorer", "OccupancyPanel", "DevicePanel")
    },
}


def panel_of(name, client):
    panel = getattr(panels, name)(client)
    assert panel._repr_mimebundle_()
    return panel


@pytest.mark.parametrize("name", LOOKS)
def test_what_only_looks_changes_nothing(sandbox, client, name):
    room = ck.create_room(client, "Hall", "ops", attendee_max=5)
    sandbox.join(room, "Ada")
    ck.import_device(client, room, "cam", "Camera", sandbox.camera(size=(160, 96), fps=5))
    before = state(sandbox, client)
    sent = {path: sandbox.count(path) for path in CHANGING}
    LOOKS[name](client, room)
    asked = {path for path in CHANGING if sandbox.count(path) > sent[path]}
    assert asked <= {OPERATIONS[key].path for key in ASKING.get(name, ())}
    assert state(sandbox, client) == before
