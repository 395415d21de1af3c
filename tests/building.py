"""A service whose every answer a test writes down, room by room."""

from tests.scripted import A3, A6, B3, listed

DEVICES = B3


def room(room_id, **fields):
    """What A3 says about a room; a field that is None is absent."""
    full = {"room_id": room_id, "topic": f"Topic of {room_id}", "owner_id": "ops"}
    full |= {"room_status": 1, "attendee_max": "10", "host_password": "h0st-pw", "room_mode": 1}
    full |= fields
    return {"ret": 0, **{name: value for name, value in full.items() if value is not None}}


def users(*user_ids):
    """What A6 says."""
    return {"ret": 0, "user_list": [{"user_id": one, "user_name": one} for one in user_ids]}


def building(present, external=(), *, rooms=(), people=()):
    """The script of a service with these users in these rooms, and these devices, by room and user
    ID; `rooms` and `people` are answers of A3 and A6 of their own, by room; else it is 404."""

    def about(own, usual):
        def answer(query):
            room_id = query["room_id"]
            if room_id in own:
                return own[room_id]
            return usual(room_id) if room_id in present else {"ret": 404}

        return answer

    items = [
        {"roomId": room_id, "userId": user_id, "userName": user_id, "userAddress": "rtsp://h/s"}
        for room_id, user_id in external
    ]
    return {
        A3: about(rooms, room),
        A6: about(people, lambda room_id: users(*present[room_id])),
        B3: listed(*items),
    }
