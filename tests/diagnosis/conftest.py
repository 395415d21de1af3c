"""A room, and a camera that wants a login."""

import pytest

import confkit as ck

from . import until

PASSWORD = "geheim@77:/#%"
LOGIN = {"login_name": "admin", "login_password": PASSWORD}
SMALL = {"size": (128, 96), "fps": 10}


@pytest.fixture
def room_id(client):
    client._sleep = lambda _: None  # what is retried is retried at once
    return ck.create_room(client, "t", "ops", attendee_max=4)


@pytest.fixture
def camera(sandbox):
    """The address of a camera that wants a login."""
    return sandbox.camera("door", **LOGIN, **SMALL)


@pytest.fixture
def imported(client, room_id, camera):
    """A camera that is in the room."""
    return ck.import_device(client, room_id, "cam", "Door", camera, **LOGIN)


@pytest.fixture
def gone(sandbox, client, imported):
    """A device that the service lists and that has left the room: its camera is unplugged."""
    sandbox.unplug(imported.user_address)
    until(lambda: ck.get_room_users(client, imported.room_id) == [])
    return imported
