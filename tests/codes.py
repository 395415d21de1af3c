"""The result codes that all tests share: what section 7 says, word for word, and what is raised."""

import confkit as ck

TABLE_A = {
    0: ("success", ck.ApiError),
    401: ("authentication failed", ck.AuthenticationFailed),
    404: ("room not found", ck.RoomNotFound),
    405: ("licence expired", ck.LicenceError),
    407: ("parameter error", ck.ParameterError),
    408: ("HTTP request not supported", ck.ApiError),
    409: ("internal HTTP timeout", ck.ServiceTimeout),
    410: ("no MCU available", ck.MediaServerUnavailable),
    411: ("maximum licence exceeded", ck.LicenceError),
    416: ("room closed", ck.RoomClosed),
    417: ("MCU not online", ck.MediaServerUnavailable),
    428: ("no MCU found to which the room was assigned", ck.MediaServerUnavailable),
    429: ("user not online", ck.UserNotFound),
    504: ("timeout", ck.ServiceTimeout),
    602: ("access_token incorrect", ck.TokenRejected),
    700: ("database error", ck.ApiError),
    701: ("no P2P permission", ck.LicenceError),
}
_DOWN = "mostly because the background service is not running"
TABLE_B = {
    0: ("success", ck.ApiError),
    302: (f"create failed, {_DOWN}", ck.ServiceUnavailable),
    303: (f"delete failed, {_DOWN}", ck.ServiceUnavailable),
    304: (f"get failed, {_DOWN}", ck.ServiceUnavailable),
    310: (f"response timeout, {_DOWN}", ck.ServiceTimeout),
    401: ("wrong parameters", ck.ParameterError),
    423: ("user already exists", ck.UserExists),
    425: ("user does not exist", ck.UserNotFound),
    426: ("joining the room failed", ck.JoinFailed),
    427: ("timeout waiting for answer", ck.ServiceTimeout),
}
# Codes of no table, or of the other interface's: what is raised for them.
OTHERS = {
    ("A", 424): ck.ApiError,
    ("B", 424): ck.ApiError,
    ("B", 404): ck.ApiError,
    ("B", 602): ck.TokenRejected,
    ("A", 612): ck.RoomNotFound,
    ("A", 4242): ck.ApiError,
    ("B", "E17"): ck.ApiError,
}
# Seen in other deployments; a word or two of each meaning.
FIELD = {
    402: "rejoin", 406: "MCU not registered", 412: "boxed edition", 413: "in use",
    414: "scheduling service", 415: "no MCU for this room", 418: "master RPC time-out",
    419: "no master", 420: "cluster error", 421: "not the leader", 422: "MCU does not exist",
    503: "unavailable", 505: "version not supported", 506: "server is out of users",
    507: "room is out of users", 508: "licence is out of users", 601: "room id is invalid",
    612: "room not found", 613: "proxy could not connect upward", 800: "out of video",
    801: "out of audio", 802: "duplicate publish", 803: "room token invalid",
    804: "duplicate user id", 805: "internal error", 806: "database connection time-out",
    807: "UDP", 912: "RPC failed", 913: "not known", 914: "already in room",
    915: "wrong device address", 916: "rejected", 917: "call failed", 918: "busy",
    919: "time-out", 920: "does not exist", 921: "unavailable", 922: "hung up",
}  # fmt: skip
SPECIFIED = {("A", ret): row for ret, row in TABLE_A.items()} | {
    ("B", ret): row for ret, row in TABLE_B.items()
}
EVERY = [*SPECIFIED, ("B", 424), *((None, ret) for ret in FIELD)]
