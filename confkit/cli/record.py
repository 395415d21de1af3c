"""The command `record`: samples of all rooms into a folder, unattended."""

import logging
import signal
import threading
from typing import Any

from ..errors import ConfigError
from ..many.interrupts import handled
from ..text import say
from .options import connected, log_here


def record(folder: str, room_ids: str, profile: str | None, **how: Any) -> None:
    """Read the users of all rooms at fixed times, and keep them in FOLDER.

    `load_occupancy` reads FOLDER at any time; whole days (UTC) are Parquet files that pandas,
    DuckDB and Dask read too. It runs until Ctrl-C or SIGTERM; a sweep that it has logged is on the
    disk. Exit status 0 then.
    """
    from ..occupancy.recorder import Recorder

    log_here(logging.WARNING)
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    ended = threading.Event()
    try:
        with (
            handled([signal.SIGTERM], lambda *_: ended.set(), ignored_too=True),
            connected(profile, outside=True) as client,
        ):
            done = Recorder(folder).record(client, room_ids, cancelled=ended, **how)
    except ValueError as error:  # an option that makes no sense, in the words of Python
        raise ConfigError(str(error).replace("id_column=", "--id-column")) from None
    say(done)
