"""Find rooms, although the interface does not list them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..client import Client
from ..devices import list_devices
from ..errors import ConfigError
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
    external devices (B3, "devices"), in a folder of a Recorder ("recording", of this service), and
    in a file ("list": text with one ID a line, or CSV); several sources are joined. Errors of B3
    are raised: an incomplete result would look complete. ConfigError: the recording is of other
    services only.
    """
    import pandas as pd

    recorded: Iterable[str] = []
    if recording is not None:
        from .folder import load_occupancy  # needs pyarrow

        samples = load_occupancy(Path(recording))
        ours = samples[samples["service"].isna() | (samples["service"] == client.name)]
        if len(samples) and ours.empty:
            raise ConfigError(
                f"the recording is of {samples.attrs['service']}, not of {client.name}",
                "Connect to the service of the recording, by the name under which it was recorded.",
            )
        recorded = ours["room_id"].sort_values().unique()
    listed = room_ids(list) if list is not None else []  # before anything is sent
    sources = {
        "created": client.created,
        "devices": [device.room_id for device in list_devices(client)],
        "recording": recorded,
        "list": listed,
    }
    rows = [(room_id, source) for source, ids in sources.items() for room_id in dict.fromkeys(ids)]
    table = pd.DataFrame(rows, columns=["room_id", "source"], dtype="string")
    return table.groupby("room_id", sort=False)["source"].agg(", ".join).reset_index()
