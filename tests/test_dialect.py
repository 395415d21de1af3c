"""Dialect: its settings, its signature, and the interface through the client against the sandbox,
in every dialect."""

import base64
import hmac

import pytest

import confkit as ck
from confkit.dialect import CHOICES, Dialect
from confkit.sandbox import Sandbox
from tests.scripted import VECTOR_TOKEN

WRONG = [
    *((f"{name}=SHA1", f"{name} is 'SHA1'.*{', '.join(CHOICES[name])}") for name in CHOICES),
    ("token_parameter=to-ken", "token_parameter is 'to-ken'.*access_tocken"),
    ("hsah=sha1", "no setting hsah.*hash, signature, .*placement"),
    ("hash", "hash=sha256,signature=raw"),
]


@pytest.mark.parametrize(("settings", "match"), WRONG)
def test_what_is_not_a_dialect_is_refused(settings, match):
    """The error names the setting, and what is possible instead."""
    with pytest.raises(ck.ConfigError, match=match):
        Dialect.of(settings)


@pytest.mark.parametrize("name", CHOICES["hash"])
@pytest.mark.parametrize("form", CHOICES["signature"])
def test_texts_are_signed_as_utf_8_joined_by_a_colon(name, form):
    """The HMAC in this hash, as its lowercase hex text or raw; the published vectors hold."""
    dialect, key, random, value = Dialect(hash=name, signature=form), "ключ", "a:b ü", "会"
    for signature, message in (
        (dialect.access_token(random, value, key), f"{random}:{value}"),
        (dialect.digest(random, key), random),
    ):
        mac = hmac.digest(key.encode(), message.encode(), name)
        expected = mac.hex().encode() if form == "hex" else mac
        assert base64.b64decode(signature.reveal()) == expected
    assert Dialect().access_token("abc", "def", "demo_secret") == VECTOR_TOKEN
    digest = Dialect().digest("demo_access", "demo_secret")
    assert digest == "MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="


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
    dialect = Dialect(**settings)
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
