"""An external device: a thread that dials its camera, holds the stream, and redials."""

import logging
import random
import threading
import time
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..errors import ConfkitError
from ..rtsp.address import parse_address
from ..rtsp.client import RtspClient
from ..rtsp.errors import RtspError
from ..secret import SecretAddress, redact

if TYPE_CHECKING:
    from .state import Room, Service

OPENING = 4.0  # seconds; less than the 5 that clients wait, so that they see the 427
SILENCE = 10.0  # seconds that a live stream may last without a packet, or without a keyframe
FIRST_WAIT = 0.25  # seconds before a lost stream is redialled; doubled up to LONGEST_WAIT
LONGEST_WAIT = 30.0
LOGIN_WAIT = 600.0  # cameras lock out an address after a few wrong logins: three in half an hour
STEADY = 5.0  # seconds that a stream must last for the wait to be reset

State = Literal["live", "dialling", "waiting"]

log = logging.getLogger("confkit.sandbox")


class Refused(Exception):
    """A call is refused; the arguments are the result code and the specific reason."""


class DeviceStream(NamedTuple):
    """The state of a device's stream: "live", "dialling" or "waiting" to redial; the number of
    `reconnects`, and `verdict` and `reason` of the last failure, empty if there was none."""

    room_id: str
    user_id: str
    state: State
    reconnects: int
    verdict: str
    reason: str


@dataclass(eq=False, repr=False)
class Device:
    """A device of a room, from before its camera is dialled until `removed` is set.

    `opened` is done after the first dial, with B1's members or Refused."""

    service: "Service"
    room: "Room"
    user_id: str
    user_name: str
    address: str
    user_data: str
    options: dict[str, Any]
    opened: "Future[dict[str, Any]]" = field(default_factory=Future)
    removed: threading.Event = field(default_factory=threading.Event)
    state: State = "dialling"
    _client: RtspClient | None = None  # while live
    _failure: RtspError | None = None
    _lives: int = 0

    def start(self) -> None:
        """Dial the camera, in a thread that runs until the device is removed."""
        self.opened.set_running_or_notify_cancel()  # a caller who leaves does not cancel it
        self.thread = threading.Thread(target=self._run, name="sandbox device", daemon=True)
        self.thread.start()

    def status(self) -> DeviceStream:
        """Return the state of the stream."""
        failure, place = self._failure, (self.room.room_id, self.user_id)
        problem = (failure.verdict, redact(failure.reason)) if failure else ("", "")
        return DeviceStream(*place, self.state, max(0, self._lives - 1), *problem)

    def keyframe(self) -> tuple[str, bytes, bool]:
        """Return the arguments of `Snapshot.of` for the newest keyframe of the live stream; wait
        for the first one. ConfkitError if none arrives in time or the stream is down: an old
        picture must not pass for a live one."""
        silence = self.service.dial_timeout or SILENCE
        until = time.monotonic() + silence
        while (client := self._client) and time.monotonic() < until:
            video = client.video
            if video and video.keyframe and time.monotonic() - video.keyframe_time < silence:
                return video.codec, video.keyframe, video.refreshing
            time.sleep(0.05)
        failure = RtspError("no_keyframe", f"No keyframe arrived within {silence:g} s.")
        if client is None:
            failure = self._failure or RtspError("dropped")
        why = f"its stream is {'live' if client else 'down'} ({failure})"
        text = f"There is no picture of device {self.user_id!r}: {why}. {failure.advice}"
        raise ConfkitError(redact(text))

    def _run(self) -> None:
        wait = FIRST_WAIT
        while True:
            before = self._failure
            failure, seconds, login_refused = self._play()
            if not self.opened.done():
                return self._give_up(failure)
            if self.removed.is_set():
                return None
            if seconds:
                self._log(f"lost after {seconds:.1f} s: {failure}")
            elif before is None or failure.verdict != before.verdict:  # not at every dial
                self._log(f"not opened: {failure}")
            wait = FIRST_WAIT if seconds > STEADY else min(2 * wait, LONGEST_WAIT)
            if login_refused or failure.verdict == "auth_locked":
                wait = LOGIN_WAIT
            # Many cameras that died together must not all be redialled at the same moment.
            if self.removed.wait(wait * random.uniform(1, 1.5)):  # noqa: S311
                return None
            self.state = "dialling"

    def _play(self) -> tuple[RtspError, float, bool]:
        """Play the camera until that fails; return the failure, the seconds it was live, and
        whether it refused the login, or gave no answer to it."""
        client, began, limit = None, time.monotonic(), self.service.dial_timeout
        try:
            address = parse_address(self.address)
            name = self.options.get("login_name") or address.login_name  # options come first
            password = self.options.get("login_password") or address.login_password
            options: dict[str, Any] = {"timeout": limit or OPENING, "cancelled": self.removed}
            # As most services do: cameras make their certificates themselves.
            client = RtspClient(address.url, name, password, verify=False, **options)
            self._go_live(client, client.play().codec)
            began = time.monotonic()
            while True:
                client.receive(limit or SILENCE)
        except RtspError as error:
            failure = error
        except CancelledError:
            failure = RtspError("dropped", "The device was removed.")
        except Exception as error:  # noqa: BLE001  # B1 waits for a response; the text may quote
            failure = RtspError("dropped", f"The sandbox failed: {type(error).__name__}.")
        with self.service.lock:
            seconds = time.monotonic() - began if self._client else 0.0
            self.state, self._client, self._failure = "waiting", None, failure
        if client:
            client.close()
        return failure, seconds, client is not None and client.credentials.refused

    def _go_live(self, client: RtspClient, codec: str) -> None:
        with self.service.lock:
            if self.removed.is_set():
                raise CancelledError
            self.state, self._client = "live", client
            self._lives += 1
            self.room.has_mcu = True
        self._log(f"live: {codec} over {client.transport}")
        if not self.opened.done():
            ids = {"roomId": self.room.room_id, "userId": self.user_id}
            self.opened.set_result({"data": ids})

    def _give_up(self, failure: RtspError) -> None:
        """Leave the room, and pass the reason to the caller of B1."""
        with self.service.lock:
            if self.room.devices.get(self.user_id) is not self:
                why = "the room was closed or deleted while the camera was dialled"
            elif self.removed.is_set():
                return  # the sandbox is closing, and drops the caller
            else:
                why = redact(f"the camera was not opened: {failure}")
                del self.room.devices[self.user_id]
        self._log(f"not opened: {failure}")
        self.opened.set_exception(Refused(427 if failure.timed_out else 426, why))

    def _log(self, event: str) -> None:
        place = (self.user_id, self.room.room_id, SecretAddress(self.address))
        log.info("device %r in room %r, %s: %s", *place, redact(event))
