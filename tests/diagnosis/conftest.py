"""A room, and a camera that wants a login."""

from functools import partial

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
def gone(unplugged, imported):
    """A device that the service lists and that has left the room: its camera is unplugged."""
    unplugged(imported.user_address)
    return imported


@pytest.fixture
def ask(client, room_id):
    """Diagnoses a device of the room."""
    return partial(ck.diagnose_device, client, room_id)


@pytest.fixture
def unplugged(sandbox, client, room_id):
    """Unplugs a camera: unplugged(its address), and waits until nothing of it is in the room."""

    def unplug(url):
        sandbox.unplug(url)
        until(lambda: ck.get_room_users(client, room_id) == [])

    return unplug


@pytest.fixture
def bring(client, room_id):
    """Imports a device into the room."""
    return partial(ck.import_device, client, room_id)
