"""Steps with external devices: B1 and B2, with cameras that play and addresses that are none."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

import confkit as ck

from .beginning import LOGIN, NAMES, PLACES, USERS, Beginning

ADDRESSES = st.sampled_from(
    ["open 0", "open 1"] * 4 + ["guarded"] * 3
    + ["wrong login", "dead", "sip", "http", "no host", "port", "space"]
)  # fmt: skip
MORE = st.sampled_from([{}, {"assist_address": "rtsp://u:p@192.0.2.7/x"}, {"n": [1, {"ü": None}]}])


class DeviceSteps(Beginning):
    """Every step is a call of the client, and its answer is compared."""

    @rule(place=PLACES, user=USERS, name=NAMES, which=ADDRESSES, data=st.text(max_size=12),
          more=MORE)  # fmt: skip
    def bring(
        self, place: int, user: str, name: str, which: str, data: str, more: dict[str, Any]
    ) -> None:
        """B1 with all its parameters."""
        room_id = self.room(place)
        address, kind, options = self.address(which)
        options = {**more, **options}
        given = {"roomId": room_id, "userId": user, "userName": name, "userAddress": address,
                 "userData": data, "options": options}  # fmt: skip
        codes = self.model.bring(given, kind)
        if not name.strip():
            codes.add(401)
        code, device = self.came(401, ck.import_device, room_id, user, name, address,
                                 user_data=data, options=options)  # fmt: skip
        if self.due(code, codes, f"B1 of {which}"):
            self.model.devices[user] = given
            self.model.rooms[room_id].assigned = True
            assert device.user_address == address

    def address(self, which: str) -> tuple[str, str, dict[str, str]]:
        """An address, what it is to the model, and the options that go with it."""
        cameras = self.cameras
        return {
            "open 0": (cameras.open[0], "plays", {}),
            "open 1": (cameras.open[1], "plays", {}),
            "guarded": (cameras.guarded, "plays", LOGIN),
            "wrong login": (cameras.guarded, "refuses", {**LOGIN, "login_password": "other"}),
            "dead": (cameras.dead, "refuses", {}),
            "sip": ("sip://192.0.2.7:5060/x", "unknown", {}),
            "http": ("http://192.0.2.7/x", "wrong", {}),
            "no host": ("rtsp://:554/x", "wrong", {}),
            "port": ("rtsp://192.0.2.7:99999/x", "wrong", {}),
            "space": (f" {cameras.open[0]}", "wrong", {}),
        }[which]

    @precondition(lambda self: self.model.devices)
    @rule(place=PLACES, elsewhere=PLACES, other=st.booleans())
    def remove(self, place: int, elsewhere: int, other: bool) -> None:
        """B2, of a device where it is or where it is not, by its address or by another one."""
        device = [*self.model.devices.values()][place % len(self.model.devices)]
        room_id = self.room(elsewhere) if elsewhere < 3 else device["roomId"]
        address = "rtsp://192.0.2.7/other" if other else device["userAddress"]
        codes = self.model.remove(room_id, device["userId"], address)
        code, _ = self.came(401, ck.remove_device, room_id, device["userId"], address)
        if self.due(code, codes, "B2"):
            del self.model.devices[device["userId"]]

    @precondition(lambda self: self.model.devices and self.model.service == "running")
    @rule(place=PLACES)
    def reimport(self, place: int) -> None:
        """B3, B2, B1: a device is taken out and brought again, if the room still takes it."""
        given = [*self.model.devices.values()][place % len(self.model.devices)]
        listed = ck.list_devices(self.client, given["roomId"])
        device = next(one for one in listed if one.user_id == given["userId"])
        del self.model.devices[given["userId"]]
        why = [*self.model.obstacles(given["roomId"], device=True)]
        try:
            ck.reimport_device(self.client, device)
        except ck.ReimportFailed as error:
            assert why, f"not brought again without a reason: {error}"
            assert error.device == device
            return
        assert not why, f"brought again in spite of {why}"
        self.model.devices[given["userId"]] = given
        self.model.rooms[given["roomId"]].assigned = True
