"""Cameras for one room, and tables of them."""

import pandas as pd
import pytest

import confkit as ck

LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded


def table_of(room_id, urls):
    """A table of cameras cam0, cam1, ... in a room, with the login of all of them."""
    rows = [
        {"room_id": room_id, "user_id": f"cam{i}", "user_name": f"Door {i}", "user_address": url}
        for i, url in enumerate(urls)
    ]
    return pd.DataFrame(rows).assign(**LOGIN)


@pytest.fixture
def room_id(client):
    return ck.create_room(client, "Weekly sync", "ops")


@pytest.fixture
def table(sandbox, room_id):
    """Three cameras that want a login, for one room."""
    return table_of(room_id, [sandbox.camera(**LOGIN, **SMALL) for _ in range(3)])
