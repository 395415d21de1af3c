"""Tests of many devices at once; the tables that they share."""

import pandas as pd

IMPORT = "/avd/api/outgoing/createOutgoingUser"
REMOVE = "/avd/api/outgoing/destroyOutgoingUser"
LIST = "/avd/api/outgoing/getOutgoingUsers"
USERS = "/rtc/room/get_room_info"
EMPTY = {"ret": 0, "data": {"total": 0, "items": []}}
LOGIN = {"login_name": "admin", "login_password": "p@:/#%w"}
SMALL = {"size": (160, 96), "fps": 5}  # quickly encoded

IMPORTED = {  # the columns of an import, with their types
    "row": "Int64",
    **dict.fromkeys(("outcome", "verdict", "room_id", "user_id", "cause", "advice"), "string"),
    **dict.fromkeys(("user_name", "user_address"), "string"),
    "seconds": "float64",
}
IMPORTED["outcome"] = "category"


def table_of(room_id, urls):
    """A table of cameras cam0, cam1, ... in a room, with the login of all of them."""
    rows = [
        {"room_id": room_id, "user_id": f"cam{i}", "user_name": f"Door {i}", "user_address": url}
        for i, url in enumerate(urls)
    ]
    return pd.DataFrame(rows).assign(**LOGIN)


def types(frame):
    """The type of each column, in their order."""
    return {name: str(kind) for name, kind in frame.dtypes.items()}
