"""Find rooms, although the interface does not list them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ..client import Client
from ..devices import list_devices

if TYPE_CHECKING:
    import pandas as pd


def known_rooms(client: Client, recording: str | os.PathLike[str] | None = None) -> pd.DataFrame:
    """Return one row per known room: `room_id`, and its `source`.

    The interface cannot list rooms. Known are the rooms created with this client ("created"), with
    external devices (B3, "devices"), and in a folder of a Recorder ("recording", of this service);
    several sources are joined. Errors of B3 are raised: an incomplete result would look complete.
    ConfigError: the recording is of other services only.
    """
    import pandas as pd

    sources: dict[str, Iterable[str]] = {
        "created": client.created,
        "devices": [device.room_id for device in list_devices(client)],
    }
    if recording is not None:
        from .folder import load_service  # needs pyarrow

        samples = load_service(client.name, Path(recording))
        sources["recording"] = sorted(samples["room_id"].unique())
    rows = [(room_id, source) for source, ids in sources.items() for room_id in dict.fromkeys(ids)]
    table = pd.DataFrame(rows, columns=["room_id", "source"], dtype="string")
    return table.groupby("room_id", sort=False)["source"].agg(", ".join).reset_index()
