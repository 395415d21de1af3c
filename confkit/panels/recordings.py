"""A recording that goes on in a thread of its own, beside whatever else the kernel does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..charts.texts import moment
from ..errors import ConfigError
from ..occupancy.recorder import Recorded, Recorder
from ..occupancy.zones import zone
from ..transport import finite

if TYPE_CHECKING:
    from ..client import Client

LONGEST = 86_400.0  # seconds from one sweep to the next
_GLANCE = 0.1  # seconds between two looks at `cancelled`
log = logging.getLogger("confkit.panels")


def pace(every: float) -> float:
    """These seconds. ConfigError: they are no number above 0, up to a day."""
    if not (finite(every) and every <= LONGEST):
        raise ConfigError(f"every is {every!r}", "Give seconds above 0, up to a day.")
    return float(every)


class Recording(threading.Thread):
    """Samples of these rooms into a folder, until `stop`, or until the kernel ends.

    `since` is when it began (UTC), `done` what there is so far, None before the first sweep is on
    the disk; `error` is what ended it, if anything did; `last` is how many rows of the last sweep
    lack a value. `begun` is set when the first sweep is done or it has ended. Each of `hear` is
    called whenever there is something new.
    """

    def __init__(self, client: Client, ids: Sequence[str], folder: Path, every: float) -> None:
        super().__init__(name=f"confkit recording {folder}", daemon=True)
        self.folder, self.every, self.rooms = folder, every, len(ids)
        self.since = datetime.now(UTC)
        self.done: Recorded | None = None
        self.error: BaseException | None = None
        self.last = 0
        self.begun = threading.Event()
        self.hear: list[Callable[[], object]] = []
        self._client, self._ids = client, list(ids)
        self._cancelled, self._over = threading.Event(), threading.Event()

    def run(self) -> None:
        """Records; what ends it is kept, as nobody would see it raised."""
        try:
            self.done = Recorder(self.folder).record(
                self._client, self._ids, self.every, cancelled=self._cancelled, told=self._told
            )
        except BaseException as error:  # noqa: BLE001
            self.error = error
        self._over.set()
        self._tell()

    @property
    def ended(self) -> bool:
        """Whether it is over, or was never begun."""
        return self._over.is_set() or self.ident is None

    def stop(self) -> None:
        """End the recording and wait for that; what it told is on the disk."""
        self._cancelled.set()
        if self.is_alive():
            self.join()

    def _told(self, done: Recorded) -> None:
        self.last = done.failures - (self.done.failures if self.done else 0)
        self.done = done
        self._tell()

    def _tell(self) -> None:
        for hear in list(self.hear):
            try:
                hear()
            except Exception:
                log.exception("a panel could not show its recording")  # which goes on
        self.begun.set()


def going_on(folder: Path) -> Recording | None:
    """The recording into this folder that goes on in this process, whoever began it: a panel whose
    cell has run again is seen by nobody, its recording is still there."""
    for thread in threading.enumerate():
        if isinstance(thread, Recording) and thread.folder == folder and not thread.ended:
            return thread
    return None


def recording(
    client: Client, ids: Sequence[str], folder: Path, every: float, cancelled: threading.Event,
    follow: Callable[[Recording, bool], object],
) -> Recording:  # fmt: skip
    """A recording that has begun: its first sweep is on the disk, or `cancelled` was set before.

    `follow` is given it at once, and whether it is a new one. What went wrong in the first sweep is
    raised; ConfigError where a recording into the folder goes on in this process.
    """
    if (other := going_on(folder)) is not None:
        follow(other, False)
        raise ConfigError(f"a recording into {folder} goes on already", "End it first.")
    new = Recording(client, ids, folder, every)
    new.start()
    try:
        follow(new, True)
        while not new.begun.wait(_GLANCE):
            if cancelled.is_set():
                new.stop()
    except BaseException:  # Ctrl-C
        new.stop()
        raise
    if new.error is not None:
        raise new.error
    return new


def recording_told(recording: Recording, tz: tzinfo | None = None) -> str:
    """Where it records, since when in the zone `tz`, what there is so far, and what ended it, as
    HTML; nothing of one that never began."""
    if recording.error is not None and recording.done is None:
        return ""
    here, zone_name = zone(tz)
    since = f"since {moment(recording.since.astimezone(here))} ({zone_name})"
    what = f"{recording.rooms:,} room{'s' * (recording.rooms != 1)} into {recording.folder}"
    told = f"{what}, every {recording.every:g} s, {since}: {_so_far(recording)}"
    if recording.error is not None:
        text = f"The recording ended. {recording.error} It was of {told}"
        return f'<div class="confkit-status confkit-bad" role="alert">{escape(text)}</div>'
    begin = "Recorded" if recording.ended else "Recording"
    mark = "quiet" if recording.ended else "bad" if recording.last else "good"
    return (
        f'<div class="confkit-recording"><span class="confkit-badge confkit-tone-{mark}">'
        f"<b>{begin}</b></span> {escape(told)}</div>"
    )


def _so_far(recording: Recording) -> str:
    done = recording.done
    if done is None:
        return "no sweep is done yet."
    told = f"{done.sweeps:,} sweep{'s' * (done.sweeps != 1)}, {done.rows:,} samples"
    if done.failures:
        told += f", of which {done.failures:,} without a value"
    if done.skipped:
        told += f"; {done.skipped:,} skipped, as their time had passed"
    if recording.ended:
        return f"{told}. Stopped."
    if recording.last:
        return f"{told}. Lacking a value in the last sweep: {recording.last:,}, {done.why}"
    return f"{told}."
