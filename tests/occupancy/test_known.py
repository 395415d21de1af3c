"""The rooms that can be known of, and from where."""

import pytest

import confkit as ck
from confkit.sandbox import Sandbox


@pytest.fixture
def created(client):
    return [ck.create_room(client, f"Room {number}", "ops") for number in range(3)]


def known(client, **sources):
    frame = ck.known_rooms(client, **sources)
    assert frame.dtypes.astype(str).to_dict() == {"room_id": "string", "source": "string"}
    return dict(zip(frame.room_id, frame.source, strict=True))


def test_each_room_has_its_sources(client, sandbox, created, tmp_path):
    """Created by this client, with external devices, in a recording, in a list; several are all
    named, and each room comes once. What is deleted again is not there."""
    ck.delete_room(client, ck.create_room(client, "Gone", "ops"))
    other = sandbox.connect()
    theirs = ck.create_room(other, "Theirs", "ops")
    url = sandbox.camera(size=(160, 96), fps=5)
    ck.import_device(client, created[0], "cam", "Door", url)
    ck.import_device(client, theirs, "cam 2", "Door", sandbox.camera(size=(160, 96), fps=5))
    ck.Recorder(tmp_path / "recording").record(client, [created[1], created[0], "lost"], sweeps=1)
    listed = tmp_path / "rooms.txt"
    listed.write_text(f"# ours\n{created[2]}\n{created[0]}\n00123\n{theirs}\n")
    assert known(client) == {
        created[0]: "created, devices",
        created[1]: "created",
        created[2]: "created",
        theirs: "devices",
    }
    found = known(client, recording=tmp_path / "recording", list=str(listed))
    assert found == {
        created[0]: "created, devices, recording, list",
        created[1]: "created, recording",
        created[2]: "created, list",
        theirs: "devices, list",
        "lost": "recording",
        "00123": "list",
    }
    assert list(known(other)) == [theirs, created[0]]
    with Sandbox(seed=2) as new, new.connect() as stranger:
        assert known(stranger) == {}


def test_a_failed_list_of_devices_is_raised(client, sandbox, created):
    """A union that lacks a part would look whole."""
    sandbox.device_service("stopped")
    with pytest.raises(ck.ServiceUnavailable):
        ck.known_rooms(client)


def test_a_list_or_a_recording_that_is_not_there_is_raised(client, tmp_path):
    """So is a file or folder that does not exist."""
    with pytest.raises(ck.ParameterError, match=r"no file .*none\.txt"):
        ck.known_rooms(client, list=tmp_path / "none.txt")
    with pytest.raises(ck.ConfigError, match="none"):
        ck.known_rooms(client, recording=tmp_path / "none")
