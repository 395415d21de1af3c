"""Cameras for one room."""

import pytest

import confkit as ck

from . import LOGIN, SMALL, table_of


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


@pytest.fixture
def table(sandbox, room_id):
    """Three cameras that want a login, for one room."""
    return table_of(room_id, [sandbox.camera(**LOGIN, **SMALL) for _ in range(3)])
