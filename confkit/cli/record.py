"""The command `record`: samples of all rooms into a folder, unattended."""

import argparse
import logging
import signal
import threading

from ..errors import ConfigError, ConfkitError
from ..many.interrupts import handled
from ..text import say
from .options import (
    MAX_RATE,
    PROFILE,
    Commands,
    add_command,
    connect_outside,
    log_here,
    option,
    seconds,
)


def add_record_command(commands: Commands) -> None:
    """Add it to the commands of `confkit`."""
    add_command(
        commands,
        "record",
        _record,
        "record who is in which room, into a folder",
        PROFILE,
        MAX_RATE,
        option("folder", metavar="FOLDER", help="made when it is not there"),
        option("--rooms", required=True, metavar="FILE", help=".txt with one ID per line, or .csv"),
        option("--id-column", metavar="NAME", help="the column of a .csv file with the IDs"),
        seconds("--every", 60, "between sweeps"),
        option("--sweeps", type=int, metavar="N", help="end after so many"),
        option("--until", metavar="TIME", help="end then, such as 2026-03-29T18:00"),
        seconds("--rooms-every", 3600, "between readings of attendee_max"),
        option("--concurrency", type=int, default=32, metavar="N", help="at most N at once (32)"),
    )


def _record(options: argparse.Namespace) -> int:
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
            connect_outside(options.profile) as client,
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
