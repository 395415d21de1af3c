"""A room, and a camera that wants a login."""

from functools import partial

import pytest

import confkit as ck

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
def bring(client, room_id):
    """Imports a device into the room."""
    return partial(ck.import_device, client, room_id)
