"""Find rooms, although the interface does not list them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..client import Client
from ..devices import list_devices
from ..tables import room_ids

if TYPE_CHECKING:
    import pandas as pd


def known_rooms(
    client: Client,
    recording: str | os.PathLike[str] | None = None,
    list: str | os.PathLike[str] | None = None,  # noqa: A002  # the public name
) -> pd.DataFrame:
    """Return one row per room that can be known of: `room_id`, and `source`, from where.

    The interface lists no rooms. Known are those that this client has created ("created"), those
    with external devices (B3, "devices"), those in a folder that a Recorder keeps ("recording"),
    and those in a file ("list": text with one ID a line, or CSV); of several, all are named. Any
    error of B3 is raised: a union that lacks a part would look whole.
    """
    import pandas as pd

    recorded: Iterable[str] = []
    if recording is not None:
        from .folder import load_occupancy  # needs pyarrow

        recorded = load_occupancy(Path(recording))["room_id"].sort_values().unique()
    listed = room_ids(list).ids if list is not None else []  # before anything is sent
    sources = {
        "created": client.created,
        "devices": [device.room_id for device in list_devices(client)],
        "recording": recorded,
        "list": listed,
    }
    rows = [(room_id, source) for source, ids in sources.items() for room_id in dict.fromkeys(ids)]
    table = pd.DataFrame(rows, columns=["room_id", "source"], dtype="string")
    return table.groupby("room_id", sort=False)["source"].agg(", ".join).reset_index()
