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
    """Return one row per known room: `room_id`, and its `source`.

    The interface cannot list rooms. Known are the rooms created with this client ("created"), with
    external devices (B3, "devices"), in a folder of a Recorder ("recording"), and in a file
    ("list": text with one ID a line, or CSV); several sources are joined. Errors of B3 are raised:
    an incomplete result would look complete.
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
