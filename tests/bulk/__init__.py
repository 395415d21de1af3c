"""Tests of many devices at once; what they share."""

import pandas as pd

LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded


def table_of(room_id, urls):
    """A table of cameras cam0, cam1, ... in a room, with the login of all of them."""
    rows = [
        {"room_id": room_id, "user_id": f"cam{i}", "user_name": f"Door {i}", "user_address": url}
        for i, url in enumerate(urls)
    ]
    return pd.DataFrame(rows).assign(**LOGIN)
