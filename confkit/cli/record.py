"""The command `record`: samples of all rooms into a folder, unattended."""

import argparse
import logging
import signal
import threading

from ..connect import connect_outside
from ..errors import ConfigError, ConfkitError
from ..terminal import handled, log_here, say
from .options import MAX_RATE, PROFILE, Commands, add_command


def add_record_command(commands: Commands) -> None:
    """Add it to the commands of `confkit`."""
    record = add_command(
        commands,
        "record",
        _record,
        "record who is in which room, into a folder",
        PROFILE,
        MAX_RATE,
        description="Reads the users of all rooms at fixed times and keeps them in FOLDER, which "
        "load_occupancy and any tool that knows Parquet read. Runs until SIGTERM or Ctrl-C; what "
        "it has told is on the disk. Exit status 0 then.",
    )
    record.add_argument("folder", metavar="FOLDER", help="made when it is not there")
    record.add_argument(
        "--rooms",
        required=True,
        metavar="FILE",
        help="the rooms' IDs: a .txt file with one a line, or a .csv file",
    )
    record.add_argument(
        "--id-column", metavar="NAME", help="the column of a .csv file that holds the IDs"
    )
    record.add_argument("--every", type=float, default=60.0, metavar="S", help="seconds (60)")
    record.add_argument("--sweeps", type=int, metavar="N", help="end after so many")
    record.add_argument("--until", metavar="TIME", help="end then, such as 2026-03-29T18:00")
    record.add_argument(
        "--rooms-every",
        type=float,
        default=3600.0,
        metavar="S",
        help="seconds between readings of attendee_max (3600)",
    )
    record.add_argument(
        "--concurrency", type=int, default=32, metavar="N", help="at most N at once (32)"
    )


def _record(options: argparse.Namespace) -> int:
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
        told = str(error).replace("id_column=", "--id-column")
        if isinstance(error, ConfkitError) and told == str(error):
            raise
        raise ConfigError(told) from None
    say(done)
    return 0
