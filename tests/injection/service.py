"""A service whose every text is hostile."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import quote

import confkit as ck
from tests.scripted import AUTHENTICATE, GET_ROOM, Scripted, scripted

USERS, LIST = "/rtc/room/get_room_info", "/avd/api/outgoing/getOutgoingUsers"
MCU, CREATE = "/sdk/get_mcu", "/rtc/room/create"


def script(texts: Sequence[str]) -> dict[str, object]:
    """Answers in which each room is called one of these texts, and everything in it another."""
    following = dict(zip(texts, [*texts[1:], *texts[:1]], strict=True))

    def room(query: dict[str, str]) -> dict[str, object]:
        room_id = query.get("room_id", "")
        if room_id not in following:
            return {"ret": 404, "msg": texts[0]}
        topic = following[room_id]
        return {
            "ret": 0,
            "id": 1,
            "room_id": room_id,
            "topic": topic,
            "room_status": 1,
            "owner_id": topic,
            "host_password": "",
            "attendee_max": "3",
            "max_audio": "",
            "max_video": "",
            "room_extend_id": topic,
            "room_mode": 1,
        }

    def users(query: dict[str, str]) -> dict[str, object]:
        name = following.get(query.get("room_id", ""))
        if name is None:
            return {"ret": 404, "msg": texts[0]}
        return {"ret": 0, "user_list": [{"user_name": name, "user_id": name}]}

    def devices(query: dict[str, str]) -> dict[str, object]:
        wanted = [query["roomId"]] if query.get("roomId") else texts
        items = [
            {
                "roomId": room_id,
                "userId": following.get(room_id, "d"),
                "userName": following.get(room_id, "d"),
                "userAddress": f"sip://{quote(following.get(room_id, 'd'))}@127.0.0.1/",
                "userData": room_id,
                "options": {"login_name": room_id},
            }
            for room_id in wanted
        ]
        return {"ret": 0, "data": {"total": len(items), "items": items}}

    return {
        GET_ROOM: room,
        USERS: users,
        LIST: devices,
        MCU: lambda query: {"ret": 0, "addr": following.get(query.get("room_id", ""), "x")},
        CREATE: {"ret": 700, "msg": texts[0], "err": texts[-1]},
        "/rtc/room/del": {"ret": texts[0], "msg": texts[-1]},
        "/rtc/force_offline_mcu": {"ret": 417, "msg": texts[0]},
    }


@contextmanager
def hostile(texts: Sequence[str]) -> Iterator[tuple[ck.Client, Scripted]]:
    """A client of such a service, with the service."""
    assert AUTHENTICATE
    with scripted(script(list(texts))) as service, service.client() as client:
        yield client, service
