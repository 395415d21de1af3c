"""The command `record`: samples of all rooms into a folder, unattended."""

import logging
import signal
import threading
from typing import Any

from ..errors import ConfigError
from ..interrupts import handled
from ..sweep import Sweep, changes
from ..text import echo
from .options import connected, log_here


def record(
    folder: str, room_ids: str, profile: str | None, changed: bool = False, **how: Any
) -> None:
    """Read the users of all rooms at fixed times, and keep them in FOLDER.

    `load_occupancy` reads FOLDER at any time; whole days (UTC) are Parquet files that pandas,
    DuckDB and Dask read too. It runs until Ctrl-C or SIGTERM; a sweep that it has logged is on the
    disk. With --changes standard output has who came and left, and which rooms became full or
    unreadable. Exit status 0 then.
    """
    from ..occupancy.recorder import Recorder

    log_here(logging.WARNING)
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    ended = threading.Event()
    sweeps: list[Sweep] = []  # the last one

    def on_sweep(sweep: Sweep) -> None:
        rows = changes(sweeps[0], sweep) if changed and sweeps else None
        if rows is not None and len(rows):
            echo(rows.to_json(orient="records", lines=True, date_format="iso"), end="")
        sweeps[:] = [sweep]

    try:
        with (
            handled([signal.SIGTERM], lambda *_: ended.set(), ignored_too=True),
            connected(profile, outside=True) as client,
        ):
            done = Recorder(folder).record(
                client, room_ids, cancelled=ended, on_sweep=on_sweep, **how
            )
    except ValueError as error:  # an option that makes no sense, in the words of Python
        raise ConfigError(str(error).replace("id_column=", "--id-column")) from None
    echo(done, err=changed)
