"""The rooms that can be known of, and from where."""

import pytest

import confkit as ck

from .made import sweep


def test_each_room_has_its_sources(client, sandbox, tmp_path):
    """Each room is there once, with all of its sources. A failed list of devices is raised: a
    result that lacks a part would look complete."""
    one, two = (ck.create_room(client, topic, "ops") for topic in ("one", "two"))
    ck.delete_room(client, ck.create_room(client, "Gone", "ops"))
    ck.import_device(client, one, "cam", "Door", sandbox.camera(size=(160, 96), fps=5))
    ck.Recorder(tmp_path / "recording").record(client, [two, one, "lost"], sweeps=1)
    frame = ck.known_rooms(client, recording=tmp_path / "recording")
    assert dict(zip(frame.room_id, frame.source, strict=True)) == {
        one: "created, devices, recording",
        two: "created, recording",
        "lost": "recording",
    }
    ck.save_occupancy(sweep("2026-06-01T00:00Z").assign(service="other"), tmp_path / "other")
    with pytest.raises(ck.ConfigError, match="of other, not of SANDBOX"):
        ck.known_rooms(client, recording=tmp_path / "other")
    sandbox.device_service("stopped")
    with pytest.raises(ck.ServiceUnavailable):
        ck.known_rooms(client)
