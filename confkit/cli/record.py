"""The command `record`: samples of all rooms into a folder, unattended."""

import argparse
import logging
import signal
import threading

from ..errors import ConfigError, ConfkitError
from ..many.interrupts import handled
from ..text import say
from .options import connected, log_here


def record(options: argparse.Namespace) -> int:
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
            connected(options, outside=True) as client,
        ):
            done = Recorder(options.folder).record(
                client,
                options.rooms,
                options.every,
                options.sweeps,
                options.until,
                options.rooms_every,
                id_column=options.id_column,
                concurrency=options.concurrency,
                max_rate=options.max_rate,
                cancelled=ended,
            )
    except ValueError as error:  # an option that makes no sense
        said = str(error).replace("id_column=", "--id-column")
        if isinstance(error, ConfkitError) and said == str(error):
            raise
        raise ConfigError(said) from None
    say(done)
    return 0
