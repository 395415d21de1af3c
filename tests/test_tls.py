"""TLS: verification is on, a bundle or verify=False is used, and the deadline holds there too."""

import json
import ssl

import pytest

import confkit as ck
from tests.scripted import GET_ROOM, Reply, scripted

ROOM = {"ret": 0, "room_id": "1", "topic": "Weekly sync"}
USERS = "/rtc/room/get_room_info"


@pytest.fixture
def secure(certificate):
    """A scripted service behind TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with scripted({GET_ROOM: ROOM}, context) as service:
        yield service


def test_connections_and_deadlines_work_over_tls(secure, certificate):
    """Several calls share a connection, and a late answer is a time-out, as without TLS."""
    client = secure.client(verify=str(certificate[0]), timeout=(2, 0.4))
    for _ in range(5):
        ck.get_room(client, "1")
    secure.script[GET_ROOM] = Reply(ROOM, delay=4.0)
    with pytest.raises(ck.TransportTimeout):
        ck.get_room(client, "1")


def test_an_answer_behind_an_answer_is_nobodys_over_tls_too(secure, certificate):
    """What TLS has unpacked already, and no socket shows, is not the answer for the next room."""

    def users(*names):
        body = json.dumps({"ret": 0, "user_list": [{"user_id": name} for name in names]}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def twice(peer):
        peer.sendall(users(*(f"user-{number}" for number in range(600))) + users())
        peer.recv(65536)  # the connection stays open meanwhile

    secure.script[USERS] = Reply(raw=twice)
    client = secure.client(verify=str(certificate[0]))
    assert [len(ck.get_room_users(client, room_id)) for room_id in "123"] == [600] * 3
