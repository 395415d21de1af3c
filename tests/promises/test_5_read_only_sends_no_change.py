"""With read_only=True every change is refused before anything is sent."""

import confkit as ck
from tests.promises.test_3_only_reads_are_repeated import CAMERA, CHANGES, call_of, raised_by
from tests.scripted import B3, listed


def test_read_only_refuses_every_change_before_anything_is_sent(script):
    service = script({B3: listed(CAMERA)})
    client = service.client(read_only=True)
    for call in (*CHANGES, call_of("remove_device", "1", "cam")):
        raised_by(ck.ReadOnlyError, call, client, "Connect with read_only=False")
    assert not service.requests
    assert ck.list_devices(client)[0].user_id == "cam"
