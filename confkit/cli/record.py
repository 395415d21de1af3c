"""The command `record`: samples of all rooms into a folder, unattended."""

import logging

import click

from ..connect import connect
from ..errors import ConfkitError
from ..sweep import Sweep, changes, with_last_known
from ..text import echo
from .options import infile, log_to_stderr, profile_option


@click.command()
@click.argument("folder")
@click.option(
    "--rooms", type=infile, required=True, metavar="FILE", help="Room IDs, in a .txt or .csv."
)
@click.option("--every", type=float, default=60, help="Seconds between sweeps.")
@click.option("--sweeps", type=int, help="End after so many.")
@click.option("--changes", "with_changes", is_flag=True, help="Print each change as JSON.")
@profile_option
def record(
    folder: str,
    rooms: str,
    every: float,
    sweeps: int | None,
    with_changes: bool,
    profile: str | None,
) -> int:
    """Record into FOLDER who is in which room, until Ctrl-C.

    `ck.load_occupancy` reads FOLDER at any time. A sweep that is logged is on the disk. With
    --changes standard output has what changed since a room was last read, one JSON object a line.
    Exit status 1: no room could be read in any sweep, or nobody reads the changes any more.
    """
    from ..occupancy.recorder import Recorder

    log_to_stderr(logging.WARNING, "%(message)s")  # the recorder's begin with the sweep's time
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    last: Sweep | None = None
    was_read = False

    def note(sweep: Sweep) -> None:
        nonlocal last, was_read
        if with_changes and last is not None and len(rows := changes(last, sweep)):
            try:
                echo(rows.to_json(orient="records", lines=True, date_format="iso"), end="")
            except BrokenPipeError:
                advice = "Start it again, together with the program that reads the changes."
                raise ConfkitError(
                    "nobody reads the changes: recording has ended", advice
                ) from None
        last, was_read = with_last_known(last, sweep), was_read or bool(sweep.users)

    with connect(profile) as client:
        summary = Recorder(folder).record(
            client, rooms, every, sweeps, on_sweep=note, progress=False
        )
    echo(summary, err=with_changes)
    return 0 if was_read or not summary.sweeps else 1
