"""The result codes of both interfaces as data (section 7), and those seen in other deployments.

Meanings are the interface's, or the field's where `sure` says "seen". Causes and advice are ours:
assumed, from what usually stands behind a code.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Code(NamedTuple):
    """What one `ret` means, what probably caused it and what to do next (section 7).

    `interface` is "A" or "B", or "" for a code seen in other deployments whose interface is not
    known. `retry` is true where sending the same call again, soon, may help; a write is looked up
    first. `sure` tells how sure the meaning is: "specified", "seen" or "unknown".
    """

    ret: int
    interface: str
    meaning: str
    cause: str
    advice: str
    retry: bool
    sure: str


_LATE = "Make the call again in a few seconds, and ask the operator if it is answered so again."
_LOG = "Note the call and the time, and ask the operator what the service's own log says."
# In place of an advice to look first: for a change that was looked up and has not happened.
LOOKED: Mapping[int | str | None, str] = {
    **dict.fromkeys((310, 409, 418, 503, 504, 806), _LATE),
    **dict.fromkeys((424, 805, 913), _LOG),
    700: "Ask the operator to look at the database and its disk.",
    912: "Ask the operator to check the part that dials devices.",
    919: "Check from the service's own network that the device is on and its address is right.",
}

# fmt: off
# Each row: ret, meaning, likely cause, next step.
_Rows = tuple[tuple[int, str, str, str], ...]

_RETRY = frozenset({310, 409, 418, 419, 421, 503, 504, 806})
# They say that something failed, and nothing of a change: whether it happened before that.
OPEN = frozenset({700, 805, 913})

_A: _Rows = (
    (0, "success",
     "The call did what it was asked to do.",
     "Go on with the fields of the answer."),
    (401, "authentication failed",
     "The access key is not known to this service, or the digest was made with another secret key "
     "or by another rule.",
     "Check the access key and the secret key for a stray space or line end, then compare the "
     "dialect's hash and signature (hex or raw) with what this deployment uses; confkit doctor "
     "does both."),
    (404, "room not found",
     "No room has this number here: it was deleted, or it belongs to another service, or the "
     "number lost something on its way, such as leading zeros.",
     "Compare the number, kept as text, with the one that ck.create_room returned, and ask "
     "ck.get_room(client, room_id) on the service that you mean."),
    (405, "licence expired",
     "The licence of the service has run out, which no change of the call can mend.",
     "Ask the operator of the service to renew the licence, then make the call again."),
    (407, "parameter error",
     "A required parameter is missing, misspelt, empty or of the wrong type, a room_extend_id is "
     "taken, or the topic is not under 150 bytes.",
     "Compare names and values with the endpoint's table (confkit interface A2 prints the one of "
     "create room), and count the topic in bytes of UTF-8, not in letters."),
    (408, "HTTP request not supported",
     "The service does not know this path, or not with this HTTP method.",
     "Check that base_url is interface A (port 8080) and outgoing_url interface B (port 8050), "
     "and for B1 and B3 the dialect's create_method and list_method."),
    (409, "internal HTTP timeout",
     "One part of the service waited too long for another part.",
     "Send a read again after a few seconds, but after a create, a delete or a force-offline look "
     "first, with ck.get_room or ck.get_room_users, whether it has happened."),
    (410, "no MCU available",
     "No media server (MCU) is up and free to take the room.",
     "Ask the operator whether an MCU is running and registered, then call "
     "ck.get_mcu(client, room_id) again."),
    (411, "maximum licence exceeded",
     "All seats of the licence are taken at the moment.",
     "Free some seats (ck.get_room_users and ck.list_devices show who holds them), or ask the "
     "operator for a larger licence."),
    (416, "room closed",
     "The room has been closed, or, as one header seen in the field reads this code, the MCU does "
     "not have this room.",
     "Look at room_status with ck.get_room(client, room_id): create a new room when it is 3 "
     "(closed), and ask the operator about the room's MCU when it is not."),
    (417, "MCU not online",
     "The room is assigned to an MCU that is known but not running or not reachable.",
     "Ask the operator to bring the room's MCU back online, then make the call again."),
    (428, "no MCU found to which the room was assigned",
     "No MCU serves the room, perhaps because nobody has joined it yet or its MCU was taken out.",
     "See with ck.get_room_users(client, room_id) whether anybody is in the room, and ask the "
     "operator about its MCU when somebody is."),
    (429, "user not online",
     "The user has already left the room, or the id is not the one that the service uses.",
     "List the room with ck.get_room_users(client, room_id) and take the user_id from there, not "
     "the user_name."),
    (504, "timeout",
     "The service, or something behind it, took too long to answer.",
     "Send a read or a login again after a few seconds, but after a create, a delete or a "
     "force-offline look first, with ck.get_room or ck.get_room_users, whether it has happened."),
    (602, "access_token incorrect",
     "The token has expired, was made with another secret key, hash or signature form, was "
     "percent-encoded twice, or stands under another parameter name.",
     "Connect again for a fresh token, and if that is refused too, check the secret key for a "
     "stray space and the dialect's hash, signature (hex or raw) and token_parameter (in A5 "
     "mcu_token_parameter, in B2 remove_token_parameter), as confkit doctor does."),
    (700, "database error",
     "The service could not read or write its database.",
     "Ask the operator to look at the database and its disk, and before you repeat a write "
     "look, with ck.get_room or ck.list_devices, whether it has happened."),
    (701, "no P2P permission",
     "The room's mode is peer-to-peer, which this service or its licence does not allow.",
     "Create the room with room_mode=1 (MCU), or ask the operator for a licence that includes "
     "peer-to-peer."),
)

_B: _Rows = (
    (0, "success",
     "The call did what it was asked to do.",
     "Go on with the fields of the answer."),
    (302, "create failed, mostly because the background service is not running",
     "The background service that brings devices into rooms is most likely not running.",
     "Ask the operator to start the background service, and import again once "
     "ck.list_devices(client, room_id) answers without the device."),
    (303, "delete failed, mostly because the background service is not running",
     "The background service that takes devices out of rooms is most likely not running.",
     "Ask the operator to start the background service, and remove again if "
     "ck.list_devices(client, room_id) still shows the device."),
    (304, "get failed, mostly because the background service is not running",
     "The background service that knows the devices is most likely not running.",
     "Ask the operator to start the background service, and take the list of devices as unknown, "
     "not as empty, until ck.list_devices(client) answers."),
    (310, "response timeout, mostly because the background service is not running",
     "The background service gave no answer in time, most likely because it is not running.",
     "Wait a few seconds and look with ck.list_devices(client, room_id) whether an import or a "
     "removal has happened before you repeat it, and ask the operator if the list fails too."),
    (401, "wrong parameters",
     "A parameter is missing, misspelt or malformed: B1 and B3 spell the token accessToken, B2 "
     "spells it access_token.",
     "Compare roomId, userId, userName, userAddress and the token's spelling with the endpoint's "
     "table (confkit interface B1), and check that options is a JSON object and that userAddress "
     "begins with rtsp://, sip:// or h323://."),
    (423, "user already exists",
     "The user id is taken, or the same address has been imported into this room before.",
     "Look with ck.list_devices(client), which lists all rooms, or let "
     "ck.diagnose_device(client, room_id, user_id, user_address) say which device it is and in "
     "which room; then remove that one with ck.remove_device or choose another user id."),
    (425, "user does not exist",
     "The room holds no device with this user id and address: it has left, or one of the two "
     "differs from what was imported.",
     "Take room id, user id and address exactly as ck.list_devices(client) gives them, or leave "
     "user_address out of ck.remove_device, which then looks it up."),
    (426, "joining the room failed",
     "The room does not exist or is closed, locked or full, or the device's stream could not be "
     "brought into it.",
     "To learn which, call ck.diagnose_device with the room's ID and the device's user ID, address "
     "and login: it looks at the room first and then tries the camera."),
    (427, "timeout waiting for answer",
     "The device did not answer the service in time: it is off, its address or path is another "
     "one, or a firewall stands between them.",
     "Before importing again, call ck.diagnose_device with the room's ID and the device's user ID, "
     "address and login: it looks whether the device has joined after all and then tries the "
     "camera."),
)

# Listed in section 4, without a meaning anywhere.
_UNEXPLAINED: _Rows = (
    (424, "meaning not known anywhere (listed for B1 and B2, explained nowhere)",
     "The interface lists this code for B1 and B2 without a meaning, and none is known from other "
     "deployments, so no cause can be named.",
     "Note the call and the time, look with ck.list_devices(client, room_id) whether it has taken "
     "effect, and ask the operator what the service's own log says."),
)

_SEEN: _Rows = (
    (402, "rejoin error",
     "Somebody came back into a room in which the service still kept the earlier visit.",
     "Wait until ck.get_room_users(client, room_id) no longer shows the earlier entry, then join "
     "again."),
    (406, "MCU not registered",
     "The MCU has not announced itself to the service, or did so under another address.",
     "Ask the operator to check that the MCU is running and registered with this service."),
    (412, "server is the boxed edition",
     "The service is the boxed edition, which probably does not offer this call.",
     "Ask the operator which calls this edition supports."),
    (413, "room is in use",
     "People or devices are in the room, and this call needs it empty.",
     "See who is there with ck.get_room_users(client, room_id) and ck.list_devices(client, "
     "room_id), and make the call again when the room is empty."),
    (414, "scheduling service not available",
     "The part of the service that assigns rooms to MCUs is not running or not reachable.",
     "Ask the operator to check the scheduling service, then make the call again."),
    (415, "no MCU for this room id",
     "No MCU is responsible for this room number, or the number is not the one that you mean.",
     "Check the number with ck.get_room(client, room_id), then ask the operator whether an MCU is "
     "up for it."),
    (416, "the MCU does not have this room",
     "The MCU has been restarted, or the room has been closed or moved to another MCU.",
     "Look at room_status with ck.get_room(client, room_id), and ask ck.get_mcu(client, room_id) "
     "which MCU serves the room now."),
    (418, "cluster: master RPC time-out",
     "The leading server of the cluster did not answer the others in time.",
     "Wait a few seconds, look with ck.get_room or ck.list_devices whether a write has happened, "
     "and then make the call again."),
    (419, "cluster: no master",
     "The cluster has no leading server at the moment, as happens for a while after one fails.",
     "Make the call again after a few seconds, and ask the operator about the cluster if the code "
     "stays."),
    (420, "cluster error",
     "Something went wrong between the servers of the cluster.",
     "Ask the operator to look at the cluster's logs for the time of the call."),
    (421, "cluster: not the leader",
     "The call reached a server of the cluster that does not lead it, perhaps during a change.",
     "Make the call again after a few seconds, and check that base_url is the address of the "
     "whole cluster, not of one server in it."),
    (422, "cluster: MCU does not exist",
     "The cluster assigned the room to an MCU that it no longer has.",
     "Ask ck.get_mcu(client, room_id) for the room's MCU once more, and ask the operator to check "
     "the cluster's list of MCUs."),
    (503, "service unavailable",
     "The service is starting, stopping or under too much load.",
     "Send a read again after a few seconds, but after a write look first, with ck.get_room or "
     "ck.list_devices, whether it has happened."),
    (505, "version not supported",
     "Client and service speak different versions of the interface.",
     "Ask the operator which versions are installed, and compare them with 1.0.5 for interface A "
     "and 1.02 for interface B."),
    (506, "server is out of users",
     "The server carries as many users as it can.",
     "Wait until other rooms empty, or ask the operator for another server."),
    (507, "room is out of users (its maximum is reached)",
     "As many users are in the room as its attendee_max allows.",
     "Compare attendee_max of ck.get_room(client, room_id) with the number of "
     "ck.get_room_users(client, room_id), and create the next room with a larger attendee_max."),
    (508, "licence is out of users",
     "All user seats of the licence are taken at the moment.",
     "Free seats that are no longer needed (ck.get_room_users and ck.list_devices show them), or "
     "ask the operator for a larger licence."),
    (601, "application room id is invalid",
     "The service does not accept the id that the application chose for the room.",
     "Use a UUID as room_extend_id, and in later calls the room_id that ck.create_room returned."),
    (612, "get-MCU: room not found",
     "An MCU was asked for a room that the service does not have.",
     "Check the number with ck.get_room(client, room_id) before you call ck.get_mcu."),
    (613, "MCU proxy could not connect upward",
     "The proxy in front of the MCU has lost its connection to the server above it.",
     "Ask the operator to check the network between the MCU proxy and the service."),
    (800, "room is out of video streams",
     "As many video streams are in the room as its max_video allows.",
     "Stop a camera or remove a device with ck.remove_device, or create the next room with a "
     "larger max_video."),
    (801, "room is out of audio streams",
     "As many audio streams are in the room as its max_audio allows.",
     "Ask somebody to switch off a microphone, or create the next room with a larger max_audio."),
    (802, "duplicate publish",
     "The same stream was offered to the room a second time.",
     "End the first stream, or go on with it, before you offer it again."),
    (803, "room token invalid",
     "The token for joining the room has expired or belongs to another room.",
     "Fetch a fresh token for this room, then join again."),
    (804, "duplicate user id joined; the earlier one was put off",
     "A second user joined with the same user id, and the service kept the newer one.",
     "Give every person and device a user id of its own, and see who is there now with "
     "ck.get_room_users(client, room_id)."),
    (805, "server internal error",
     "Something failed inside the service that the caller cannot see.",
     "Note the call and the time, look whether a write has happened, and ask the operator to look "
     "into the service's log."),
    (806, "database connection time-out",
     "The service did not reach its database in time.",
     "Send a read again after a few seconds, but after a write look first, with ck.get_room or "
     "ck.list_devices, whether it has happened."),
    (807, "a user's data (UDP) connection failed, user put off",
     "UDP packets between the user and the MCU were blocked or lost for too long.",
     "Check that the user's network and its firewall let UDP through to the address that "
     "ck.get_mcu(client, room_id) gives, then join again."),
    (912, "call-out: RPC failed",
     "The service could not hand the call over to the part that dials devices.",
     "Look with ck.list_devices(client, room_id) whether the device has joined, and ask the "
     "operator to check the part that dials devices if it has not."),
    (913, "call-out: meaning not known",
     "The code lies among the call-out states, and no meaning of its own is known.",
     "Look with ck.list_devices(client, room_id) whether the device has joined, and ask the "
     "operator what the service's own log says."),
    (914, "call-out: device already in room",
     "The device was imported into this room before and is still there.",
     "Find it with ck.list_devices(client, room_id), and remove it with ck.remove_device if it "
     "shall join under another user id."),
    (915, "call-out: wrong device address",
     "The address has another form than scheme://host:port/path, or names no such device.",
     "Check scheme (rtsp, sip or h323), host, port and path of the device's address letter by "
     "letter."),
    (916, "call-out: call rejected",
     "The device, or somebody at it, declined the call.",
     "Check on the device that it accepts calls from the service and that its login is right, "
     "then import it again."),
    (917, "call-out: call failed",
     "The device was dialled and no connection came about.",
     "Check the device's address, path and login from the service's own network."),
    (918, "call-out: device busy",
     "The device is in another call, or serves as many viewers as it can.",
     "See with ck.list_devices(client) whether it is still in another room, end that connection, "
     "and import it again."),
    (919, "call-out: call time-out",
     "The device did not answer the call in time.",
     "Check from the service's own network that the device is on and its address is right, and "
     "look with ck.list_devices(client, room_id) before importing again."),
    (920, "call-out: number does not exist",
     "Nobody is registered under the number that was dialled.",
     "Check the number in the device's address, and whether the device is registered where the "
     "service looks for it."),
    (921, "call-out: address unavailable",
     "The address is right in form, and nothing can be reached under it at the moment.",
     "Check that the device is on and that the service's own network has a way to its address and "
     "port."),
    (922, "call-out: remote end hung up",
     "The device, or somebody at it, ended the call.",
     "Check on the device why it ended the connection, and import it again once "
     "ck.list_devices(client, room_id) no longer shows it."),
)


def _codes(rows: _Rows, interface: str, sure: str) -> tuple[Code, ...]:
    return tuple(
        Code(ret, interface, meaning, cause, advice, ret in _RETRY, sure)
        for ret, meaning, cause, advice in rows
    )


CODES: tuple[Code, ...] = (
    *_codes(_A, "A", "specified"),
    *_codes(_B, "B", "specified"),
    *_codes(_UNEXPLAINED, "B", "unknown"),
    *_codes(_SEEN, "", "seen"),
)


def lookup(ret: int, interface: str | None) -> tuple[Code, ...]:
    """All that is known of a code, the specification's meaning first (section 7).

    Where the interface's own table holds the code, the other interface's meaning is left out.
    Where it does not, the other's is given, and its `interface` says so: 602 stands in A's table
    and comes from B too (section 5). `None` asks for both. An unknown code gives an empty tuple.
    """
    known = [code for code in CODES if code.ret == ret]
    if interface and any(code.interface == interface for code in known):
        known = [code for code in known if code.interface in (interface, "")]
    return tuple(sorted(known, key=lambda code: code.sure != "specified"))
