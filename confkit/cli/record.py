"""The command `record`: samples of all rooms into a folder, unattended."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import click

from ..errors import ConfigError
from ..sweep import Sweep, changes
from ..text import echo
from .options import connected, log_to_stderr, max_rate_option, profile_option


@click.command()
@click.argument("folder")
@click.option("--rooms", required=True, metavar="FILE", help="A .txt or .csv file of room IDs.")
@click.option("--id-column", metavar="NAME", help="The column of a .csv file with the IDs.")
@click.option(
    "--every", type=click.FloatRange(0, min_open=True), default=60, help="Seconds between sweeps."
)
@click.option("--sweeps", type=click.IntRange(1), help="End after so many.")
@click.option("--until", metavar="TIME", help="End then, such as 2026-03-29T18:00.")
@max_rate_option
@click.option("--changes", "with_changes", is_flag=True, help="Print each change as JSON.")
@profile_option
def record(
    folder: str, rooms: str, with_changes: bool, profile: str | None, **options: Any
) -> None:
    """Record into FOLDER who is in which room, until Ctrl-C.

    `ck.load_occupancy` reads FOLDER at any time. A sweep that is logged is on the disk. With
    --changes standard output has what changed between two sweeps, one JSON object a line.
    """
    from ..occupancy.recorder import Recorder

    if not Path(rooms).is_file():
        raise ConfigError(f"there is no file {rooms}", "Give --rooms a file of room IDs.")
    log_to_stderr(logging.WARNING, "%(message)s")  # the recorder's begin with the sweep's time
    logging.getLogger("confkit.record").setLevel(logging.INFO)
    last: Sweep | None = None

    def on_sweep(sweep: Sweep) -> None:
        nonlocal last
        if with_changes and last is not None and len(rows := changes(last, sweep)):
            echo(rows.to_json(orient="records", lines=True, date_format="iso"), end="")
        last = sweep

    with connected(profile, outside=True) as client:
        try:
            summary = Recorder(folder).record(
                client, rooms, on_sweep=on_sweep, progress=False, **options
            )
        except ValueError as error:  # in the words of the command line
            text = str(error).replace("id_column", "--id-column").replace("max_rate", "--max-rate")
            raise ConfigError(text) from None
    echo(summary, err=with_changes)
