"""All steps in any order: those with rooms and devices, the machinery behind them, restarts."""

import time
from collections import Counter

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

import confkit as ck
from confkit.endpoints import ENDPOINTS
from confkit.masking import Secret
from confkit.wire import Request

from .beginning import PLACES, SECONDS, Cameras
from .device_steps import DeviceSteps
from .room_steps import RoomSteps


class Steps(RoomSteps, DeviceSteps):
    """What turns behind the rooms, and what holds after every step."""

    @rule(seats=st.sampled_from([None, 0, 1, 2, 3, *[float("inf")] * 4]),
          expired=st.sampled_from([False, False, False, True]),
          peer_to_peer=st.sampled_from([None, True, False]))  # fmt: skip
    def licence(self, seats: float | None, expired: bool | None, peer_to_peer: bool | None) -> None:
        """The licence changes."""
        self.sandbox.licence(seats, expired, peer_to_peer)
        for name, value in (("seats", seats), ("expired", expired), ("peer_to_peer", peer_to_peer)):
            if value is not None:
                setattr(self.model, name, value)

    @rule(up=st.sampled_from([True, True, False]))
    def media_server(self, up: bool) -> None:
        """The media server stops or starts."""
        (self.sandbox.start_mcu if up else self.sandbox.stop_mcu)()
        self.model.mcu = up

    @rule(state=st.sampled_from(["running"] * 4 + ["stopped", "hanging"]))
    def device_service(self, state: str) -> None:
        """The service behind B stops, hangs or runs."""
        self.sandbox.device_service(state)
        self.model.service = state

    @rule(key=st.sampled_from(list(ENDPOINTS)[1:]), wrong=st.booleans())
    def token(self, key: str, wrong: bool) -> None:
        """A token that has expired, or is none, is 602 in every operation; the client goes on."""
        assert self.client is not None
        held: Secret = Secret("wrong") if wrong else self.client.token()
        if not wrong:
            self.sandbox.advance(3601)
        fields = dict.fromkeys(ENDPOINTS[key].required, "1")
        asked = self.client.ask_once(Request(ENDPOINTS[key], fields), held)
        assert getattr(asked.error, "ret", None) == 602, f"{key} with such a token: {asked.error}"
        self.look(0)

    @rule(key=st.sampled_from(list(ENDPOINTS)[1:]), number=PLACES, empty=st.booleans())
    def missing(self, key: str, number: int, empty: bool) -> None:
        """A required parameter that is missing or empty is 407 in A and 401 in B."""
        endpoint = ENDPOINTS[key]
        if not endpoint.required:
            return
        name = endpoint.required[number % len(endpoint.required)]
        fields = dict.fromkeys(endpoint.required, "1")
        fields |= {"userAddress": "rtsp://192.0.2.7/x"} if "userAddress" in fields else {}
        del fields[name]
        if empty:
            fields[name] = ""
        code, _ = self.came(0, lambda client: client.send(Request(endpoint, fields)))
        self.due(code, {407 if key[0] == "A" else 401}, f"{key} without {name}")

    @rule()
    def restart(self) -> None:
        """The service starts anew on its file: rooms, people and devices are those of before."""
        assert self.client is not None
        held = self.client.token()
        self.stop()
        self.start()
        self.model.seats, self.model.expired, self.model.peer_to_peer = float("inf"), False, True
        self.model.mcu, self.model.service = True, "running"
        if self.seed > 1:  # an equal seed may make an equal token again
            asked = self.client.ask_once(Request(ENDPOINTS["A3"], {"room_id": "1"}), held)
            assert getattr(asked.error, "ret", None) == 602
        until = time.monotonic() + SECONDS
        while any(stream.state != "live" for stream in self.sandbox.streams()):
            assert time.monotonic() < until, f"not back: {self.sandbox.streams()}"
            time.sleep(0.02)
        for place in range(len(self.model.rooms)):
            self.look(place)

    @invariant()
    def the_lists_are_right(self) -> None:
        """B3 lists every device as it was brought, and the rooms are these and no others."""
        if not hasattr(self, "model"):
            return
        assert self.sandbox.room_ids() == list(self.model.rooms)
        code, devices = self.came(401, ck.list_devices)
        if self.due(code, self.model.device_service(304), "B3"):
            found = [(one.room_id, one.user_id, one.user_name, one.user_address, one.user_data,
                      dict(one.options)) for one in devices]  # fmt: skip
            assert found == [tuple(one.values()) for one in self.model.devices.values()]


def machine(cameras: Cameras, done: Counter[str]) -> type[Steps]:
    """Steps whose devices are these cameras, and whose examples are counted here."""
    return type("Service", (Steps,), {"cameras": cameras, "done": done})
