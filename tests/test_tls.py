"""TLS: a connection is kept, the deadline holds, and what lies behind an answer is nobody's."""

import json
import ssl

import pytest

import confkit as ck
from tests.scripted import Reply, scripted

USERS = "/rtc/room/get_room_info"


def test_connections_and_deadlines_work_over_tls(certificate):
    """Several calls share a connection, and a late answer is a time-out. What TLS has unpacked
    already behind an answer, and no socket shows, is not the answer for the next room."""

    def users(*names):
        body = json.dumps({"ret": 0, "user_list": [{"user_id": name} for name in names]}).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)

    def twice(peer):
        peer.sendall(users(*(f"user-{number}" for number in range(600))) + users())
        peer.recv(65536)  # the connection stays open meanwhile

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with scripted({USERS: {"ret": 0, "user_list": []}}, context) as service:
        client = service.client(verify=str(certificate[0]), timeout=(2, 2))
        for _ in range(3):
            ck.get_room_users(client, "1")
        assert service.connections == 1
        service.script[USERS] = Reply(raw=twice)
        assert [len(ck.get_room_users(client, room_id)) for room_id in "123"] == [600] * 3
        service.script[USERS] = Reply(delay=4.0)
        client.timeout = (2, 0.2)
        with pytest.raises(ck.TransportTimeout):
            ck.get_room_users(client, "1")
