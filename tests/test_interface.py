"""The interface through the client, against the sandbox, in every dialect."""

import pytest

import confkit as ck
from confkit.sandbox import Sandbox

LOGIN = {"login_name": "admin", "login_password": "p@ss:w/rd#?%&"}
POSTED = {"create_method": "POST", "list_method": "POST"}
DIALECTS = [  # and what the sandbox does differently untold
    ({}, {"result_field": "result", "item_keys": "snake_case"}),
    ({"hash": "sha256", "create_method": "POST", "token_parameter": "access_tocken"}, {}),
    ({"hash": "sha512", "signature": "raw", "mcu_token_parameter": "token"}, {}),
    ({"hash": "md5", "remove_token_parameter": "accessToken", **POSTED, "placement": "form"}, {}),
    ({**POSTED, "placement": "json"}, {}),
]


@pytest.mark.parametrize(("settings", "own"), DIALECTS)
def test_all_operations_work_in_every_dialect(settings, own):
    """A room keeps every field, and a camera is watched until it is removed."""
    fields = {"attendee_max": 25, "max_audio": 6, "max_video": 4, "room_mode": 3}
    texts = {"topic": "Größe & 東京 100 % = ?", "owner_id": "ops", "host_password": "a&b=c"}
    dialect = ck.Dialect(**settings)
    with Sandbox(seed=1, dialect=dialect, **own) as sandbox, sandbox.connect() as client:
        room_id = ck.create_room(client, **texts, **fields, room_extend_id="4b1c")
        own = {"room_id": room_id, "room_extend_id": "4b1c"}
        assert ck.get_room(client, room_id) == ck.Room(
            id=1, room_status=0, **own, **texts, **fields
        )
        ada = sandbox.join(room_id, "Ada")
        assert ck.get_mcu(client, room_id)
        camera = sandbox.camera(size=(160, 120), **LOGIN)
        device = ck.import_device(client, room_id, "cam", "Door", camera, user_data="ü", **LOGIN)
        assert ck.list_devices(client) == ck.list_devices(client, room_id) == [device]
        assert ck.list_devices(client, "another") == []
        assert ck.RoomUser("Door", "cam") in ck.get_room_users(client, room_id)
        assert sandbox.snapshot(room_id, "cam").width == 160
        ck.remove_device(client, device)
        ck.force_offline(client, room_id, ada)
        assert ck.get_room_users(client, room_id) == []
        ck.delete_room(client, room_id)
        with pytest.raises(ck.RoomNotFound):
            ck.get_room(client, room_id)
