"""`Sandbox`: the embedded service as its owner steers it."""

from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..secret import Secret
from . import explain, people
from .cameras import Cameras
from .faults import fault
from .machinery import DEVICE_SERVICE_STATES, DeviceServiceState

if TYPE_CHECKING:
    from datetime import datetime

    import pandas as pd

    from ..client import Client


class Sandbox(Cameras):
    """The conferencing service, embedded: both interfaces on two ports of this machine.

    `path` is its SQLite file, None for memory only. With a `seed` ids repeat exactly and the clock
    stands still but for `advance`. `token_lifetime` and `dial_timeout` are in seconds. A camera may
    take 4 s to open, less than clients wait for B1, and later on may send nothing for 10 s;
    `dial_timeout` sets both. Each answer waits `latency` seconds, as from a service that is far
    away or slow. A caller has `request_timeout` seconds for a head, for a body, and for going on
    reading an answer. The keys are the published demo keys on loopback and random ones beyond it,
    unless given. `explain` logs what was wrong with each refused call and odd about others;
    `refusals` and `remarks` keep the last of these texts anyway. `with` or `start()` starts it,
    once; `close()` ends it.
    """

    def connect(self, **options: Any) -> "Client":
        """A client of this sandbox, in its dialect; `options` are those of `Client`."""
        from ..client import Client

        self._running()
        return Client(
            base_url=self.base_url,
            outgoing_url=self.outgoing_url,
            access_key=self.access_key,
            secret_key=self.secret_key,
            dialect=self.dialect,
            name="SANDBOX",
            sandbox=self,
            **options,
        )

    def is_credential(self, text: str) -> bool:
        """Whether a text is the digest of A1 here, or a token that A1 gave the means for."""
        key = (self.access_key,)
        if explain.is_signature(text, self.secret_key, key, self.dialect):
            return True
        return self._do(lambda service: service.tokens.find(text) is not None)

    # People

    def join(
        self,
        room_id: str,
        user_name: str,
        password: str | None = None,
        user_id: str | None = None,
    ) -> str:
        """The user id of a person who has joined; `password` is the room's host_password and makes
        a host. RoomJoinRefused: room unknown, closed, locked (for hosts too) or full, id taken,
        password wrong, licence expired or used up, no media server."""
        password = None if password is None else Secret(password)
        return self._do(people.join, room_id, user_name, password, user_id)

    def leave(self, room_id: str, user_id: str) -> None:
        """Takes a person out of a room; UserNotFound where there is none."""
        self._do(people.leave, room_id, user_id)

    def people(self, room_id: str) -> list[dict[str, Any]]:
        """The people in a room, each with user_id, user_name and host; devices are not people."""
        return self._do(people.listed, room_id)

    def lock(self, room_id: str) -> None:
        """Locks a room: who is in it stays, nobody new can join."""
        self._do(people.lock, room_id, True)

    def unlock(self, room_id: str) -> None:
        """Unlocks a room."""
        self._do(people.lock, room_id, False)

    def close_room(self, room_id: str) -> None:
        """Closes a room for good and puts everybody and every device off."""
        self._run(people.close(self._running(), room_id))

    # A simulated building

    def simulate(
        self,
        rooms: int = 200,
        days: float = 30,
        *,
        every: float = 300,
        until: "datetime | str | float | None" = None,
        live: bool = False,
        speed: float = 1.0,
        seed: int | str | None = None,
        tz: str = "UTC",
        failures: float = 0.0,
        cameras: bool = False,
    ) -> "pd.DataFrame":
        """The samples of the past `days` days of a building of so many new rooms.

        One row a room and sample, by time: `time` (UTC), `room_id`, `users`, `people`, `devices`,
        `attendee_max` (missing: no cap), `ret`, typed as by `load_occupancy`. Samples lie `every`
        seconds apart, the last at `until`: a datetime, a text or epoch seconds, a wall-clock time
        of `tz` where it names no zone; now, by the sandbox's clock, unless given. As often as every
        five minutes a month of 200 rooms is 1.7 million rows. With `days=0` there is none, and
        `room_ids()` gives their numbers. Those who are in a meeting at `until` are in their rooms.
        With `live` they come and go from then on, at `speed` simulated minutes a second, until
        `stop_simulation` or `close`; the sandbox's clock is left alone.

        Meetings come in series and singly, in working hours of `tz`, on the hour and the half, most
        of them small. A few rooms are always full, a few are never used, one of these but by a
        camera: a real one with `cameras`, else taken out at the last midnight. `failures` is the
        share of calls that failed, whose values are missing. `building.toml` beside this holds what
        is assumed; holidays are not known. All repeats with the sandbox's seed, the meetings alone
        with `seed`.

        ConfigError: an argument makes no sense. ConfkitError: the licence or the media server lets
        nobody in."""
        if not isinstance(speed, int | float) or isinstance(speed, bool) or not speed > 0:
            raise ConfigError(f"speed is {speed!r}", "It is simulated minutes a second, above 0.")
        service = self._running()
        from .simulation import come_and_go, furnish, plan, samples  # loads pandas

        ids = self._do(lambda service: service.ids.further())
        seed = ids.nonce() if seed is None else seed
        planned = plan(rooms, days, every, until, seed, tz, failures, cameras, self.now)
        room_ids, users = self._do(furnish, planned, ids)
        if cameras and planned.house.camera_room is not None:
            self._left_behind(room_ids[planned.house.camera_room], ids.user_id())
        frame = samples(planned, room_ids)
        if live:
            visits = partial(come_and_go, service, planned, room_ids, users, speed, ids)
            self._run(service.simulate(visits))
        return frame

    def stop_simulation(self) -> None:
        """Nobody comes or goes by itself any more; who is in a room stays there."""
        self._run(self._running().stop_simulations())

    def room_ids(self) -> list[str]:
        """The numbers of all rooms, in the order in which they were made."""
        return self._do(lambda service: service.store.room_ids())

    # Machinery

    def stop_mcu(self) -> None:
        """Stops the media server: A5 answers 410, and A7 417 for the rooms that it served."""
        self._run(self._running().mcu.stop())

    def start_mcu(self) -> None:
        """Starts the media server again."""
        self._run(self._running().mcu.start())

    def unassign_mcu(self, room_id: str) -> None:
        """Takes the media server from a room: A7 answers 428 until A5 or a join."""
        self._do(people.unassign_mcu, room_id)

    def licence(
        self,
        seats: float | None = None,
        expired: bool | None = None,
        peer_to_peer: bool | None = None,
    ) -> None:
        """Sets what is given. `seats` counts people and devices of all rooms, `math.inf` is any
        number: when all are used A5 answers 411. Expired: 405 from A2 and A5. Without
        peer-to-peer: 701 from A2 with room_mode 3 or 4."""
        given = {"seats": seats, "expired": expired, "peer_to_peer": peer_to_peer}
        self._do(lambda service: service.licence.change(given))

    def device_service(self, state: DeviceServiceState) -> None:
        """Sets the service behind interface B to "running", "stopped" (302, 303, 304) or "hanging"
        (310)."""
        if state not in DEVICE_SERVICE_STATES:
            raise ValueError(
                f"The device service is {', '.join(DEVICE_SERVICE_STATES)}, not {state!r}."
            )
        self._do(lambda service: setattr(service, "device_service", state))

    # Faults, time, counters

    def fault(
        self,
        path: str,
        *,
        ret: int | None = None,
        http: int | None = None,
        body: str | bytes | None = None,
        delay: float | None = None,
        drop: bool = False,
        times: int | None = None,
        after: bool = False,
    ) -> None:
        """Makes the next `times` calls of an operation's path fail, or all until `clear_faults`.

        `ret` is a result code, `http` an HTTP status, `body` is sent as it is, `delay` is in
        seconds, `drop` closes the connection without an answer; `delay` alone answers as usual,
        later. `after` carries the operation out first, so that its answer is lost. Several faults
        of one path follow one another. An unknown path is a ValueError that lists the paths."""
        made = fault(ret, http, body, delay, drop, after)
        self._do(lambda _: self._faults.add(path, made, times))

    def clear_faults(self) -> None:
        """Forgets all faults."""
        self._do(lambda _: self._faults.clear())

    def advance(self, seconds: float) -> None:
        """Moves the sandbox's clock, by which tokens expire, on by so many seconds."""
        self._do(lambda service: service.clock.advance(seconds))

    def now(self) -> float:
        """The sandbox's time in epoch seconds."""
        return self._running().clock()

    def count(self, path: str | None = None) -> int:
        """The number of requests that have come, refused ones too, of one path or of all."""
        self._running()
        return self._counts[path] if path is not None else sum(self._counts.copy().values())
