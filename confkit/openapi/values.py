"""What travels: the parameters of the operations and the fields of their answers (section 2).

Each is a JSON Schema with our words and a mark in `x-sure`: *specified* by the interface, *seen* in
other deployments, or *assumed* by us.
"""

from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]

NUMBER: Schema = {"$ref": "#/components/schemas/Number"}
ROOM_STATUS = ((0, "scheduled"), (1, "opening: in progress"), (2, "locked: nobody new can join"),
               (3, "closed"))  # fmt: skip
ROOM_MODE = ((1, "MCU, which clients use by default"), (2, "counts as MCU"),
             (3, "peer-to-peer"), (4, "counts as peer-to-peer"))  # fmt: skip
ROOM_TYPE = ((1, "temporary, the default"), (2, "permanent"))


def said(schema: Schema, description: str, sure: str = "specified") -> Schema:
    """The schema with what it stands for, and how sure that is."""
    return {**schema, "description": description, "x-sure": sure}


def listed(rows: Iterable[tuple[int, str]]) -> list[Schema]:
    """A constant for each value that was seen, with its meaning."""
    return [{"const": value, "title": title, "x-sure": "seen"} for value, title in rows]


def open_list(rows: Iterable[tuple[int, str]], *others: Schema) -> Schema:
    """The values that were seen; others may come, for the list is nobody's promise."""
    return {"anyOf": [{"oneOf": listed(rows)}, *others]}


def _text(description: str, sure: str = "specified", **more: Any) -> Schema:
    return said({"type": "string", **more}, description, sure)


def _whole(description: str, sure: str = "specified", **more: Any) -> Schema:
    return said({"type": "integer", "minimum": 0, **more}, description, sure)


_MODE = said(
    open_list(ROOM_MODE, {"type": "integer"}),
    "Required; its values are not shown by the interface, those listed were seen.",
)

PARAMETERS: Mapping[str, Schema] = {
    "access_key": _text("The key that the platform gave to the client.", examples=["demo_access"]),
    "digest": _text(
        "The signature of the access key. Its rule is not shown; seen: base64 of the lowercase hex "
        "text of HMAC-SHA1 with key secret_key and message access_key. The example is that of "
        "secret key demo_secret.",
        examples=["MWFjZjMzNWU3NGZkMDk1ZjBiNGE4NmM2YWVlOGRhODBmZjg5M2RlNg=="],
    ),
    "topic": _text(
        "Subject of the room, under 150 bytes of UTF-8 (bytes, not letters).",
        minLength=1, maxLength=149, examples=["Weekly sync"],
    ),
    "owner_id": _text("ID of the creator.", minLength=1, examples=["ops"]),
    "room_mode": {**_MODE, "examples": [1]},
    "host_password": _text(
        "A user who joins with this password gets the host role.", format="password",
        examples=["blue-heron"],
    ),
    "max_video": _whole("Most video streams; default and bounds are not shown.", examples=[4]),
    "max_audio": _whole("Most audio streams; default and bounds are not shown.", examples=[6]),
    "attendee_max": _whole("Most people in the room; default and bounds are not shown.",
                           examples=[25]),
    "room_extend_id": _text(
        "An ID of the caller's own, which becomes the room_id. It must be unique, otherwise "
        "creation may fail; a UUID is recommended.",
        examples=["6a8f7c1e-3a52-4f0b-9d5e-0c1b2a3d4e5f"],
    ),
    "room_type": {
        **said(open_list(ROOM_TYPE, {"type": "integer"}), "Lifetime of the room.", "seen"),
        "examples": [1],
    },
    "start_time": _whole("Start of the meeting in epoch seconds.", "seen", examples=[1700000000]),
    "end_time": _whole("End of the meeting in epoch seconds.", "seen", examples=[1700003600]),
    "room_id": _text("The room's ID. It is text: leading zeros count.", minLength=1,
                     examples=["0012345678"]),
    "user_id": _text("The user's ID, as get room users gives it.", minLength=1,
                     examples=["4f8b1c2d-9e3a-4b5c-8d7e-6f5a4b3c2d1e"]),
    "roomId": _text("ID of the room.", minLength=1, examples=["0012345678"]),
    "userId": _text("The device's unique user ID, chosen by the caller.", minLength=1,
                    examples=["cam-desk"]),
    "userName": _text("The device's name in the room.", minLength=1,
                      examples=["Front desk camera"]),
    "userAddress": _text(
        "The device's address as a URL: rtsp://host:port/path; sip:// and h323:// were seen too. "
        "One room takes an address once (seen).",
        format="uri", minLength=1, examples=["rtsp://192.0.2.7:554/stream1"],
    ),
    "userData": _text("Free text, may be empty.", examples=["north wing"]),
    "options": said({"$ref": "#/components/schemas/Options"}, "Extra parameters of the device."),
}  # fmt: skip

EXTRA = {"A2": ("room_type", "start_time", "end_time")}  # seen in deployments, all optional

OPTIONS: Schema = {
    "type": "object",
    "description": "Extra parameters of a device. Further keys are possible.",
    "properties": {
        "login_name": _text("Login with which the service opens the device."),
        "login_password": _text("Password with which the service opens the device.",
                                format="password"),
        "assist_address": _text("Address of the camera's second, smaller stream.", "seen",
                                format="uri"),
    },
    "examples": [{"login_name": "admin", "login_password": "desk-2468"}, {}],
    "x-sure": "specified",
}  # fmt: skip
