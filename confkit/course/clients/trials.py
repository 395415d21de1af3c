"""The rows A1 to B3: a trial each, made in every service. Its docstring stands in the contract."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ...devices import import_device, list_devices
from ...errors import ConfkitError, RoomNotFound
from ...records import Device, Room
from ...rooms import delete_room, get_mcu, get_room, get_room_users
from . import judging
from .judging import Wrong
from .stage import LOGIN, Stage, compact

PASSWORD = "h&1=+"  # noqa: S105  # of a room that lives for a moment
AWKWARD = 'Café 会议 🚀 "q" \\ 50% + a&b=c %41 #1'


def authenticate(stage: Stage) -> None:
    """Logs in with access_key and digest."""
    stage.succeeds(stage.ask("authenticate"))


def create(stage: Stage) -> None:
    """Makes a room with every optional parameter; its number, 0045, stays a text."""
    said = stage.ask(
        "create_room", topic="Weekly sync", owner_id="ops", room_mode="1",
        host_password=PASSWORD, max_video="4", max_audio="9", attendee_max="25",
        room_extend_id="0045",
    )  # fmt: skip
    stage.succeeds(said, room_id="0045")
    made = made_room(stage, "0045")
    wanted = {"topic": "Weekly sync", "owner_id": "ops", "host_password": PASSWORD, "max_video": 4,
              "max_audio": 9, "attendee_max": 25}  # fmt: skip
    for name, value in wanted.items():
        if (found := getattr(made, name)) != value:
            where = "" if name != "host_password" else judging.arrived(name, str(value), found)
            raise Wrong(where or f"{name} was given as {value}; the room has {found}")


def made_room(stage: Stage, room_id: str) -> Room:
    """The room as the service has it; Wrong where there is none."""
    try:
        return get_room(stage.client, room_id)
    except RoomNotFound:
        raise Wrong(f"it reports room {room_id!r}, and the service has no such room") from None


def get(stage: Stage) -> None:
    """Reads a room: numbers are numbers although the service quotes them, what is empty is null."""
    room_id = stage.room(room_extend_id="00123", attendee_max=25)
    said = stage.ask("get_room", room_id=room_id)
    stage.succeeds(said, **room_members(get_room(stage.client, room_id)))


def room_members(room: Room) -> dict[str, Any]:
    """What a client prints of this room: the interface's names, null for what is absent."""
    return {name: None if value == "" else value for name, value in asdict(room).items()}


def delete(stage: Stage) -> None:
    """Deletes a room."""
    room_id = stage.room()
    stage.succeeds(stage.ask("delete_room", room_id=room_id), room_id=room_id)
    try:
        get_room(stage.client, room_id)
    except RoomNotFound:
        return
    raise Wrong("it reports that the room is deleted, and the room is still there")


def mcu(stage: Stage) -> None:
    """Asks for the address of the media server."""
    room_id = stage.room()
    said = stage.ask("get_mcu", room_id=room_id)
    stage.succeeds(said, addr=get_mcu(stage.client, room_id))


def users(stage: Stage) -> None:
    """Lists the people of a room, with quotes, backslashes and letters of any script in a name."""
    room_id = stage.room()
    stage.sandbox.join(room_id, "Ada")
    stage.sandbox.join(room_id, AWKWARD)
    there = get_room_users(stage.client, room_id)
    listed = [{"user_name": user.user_name, "user_id": user.user_id} for user in there]
    stage.succeeds(stage.ask("get_room_users", room_id=room_id), user_list=listed)


def offline(stage: Stage) -> None:
    """Forces a user offline."""
    room_id = stage.room()
    user_id = stage.sandbox.join(room_id, "Ada")
    said = stage.ask("force_offline", room_id=room_id, user_id=user_id)
    stage.succeeds(said, msg="success")
    if get_room_users(stage.client, room_id):
        raise Wrong("it reports success, and the user is still in the room")


def imported(stage: Stage) -> None:
    """Imports a camera that has no login, without options."""
    room_id, user_id = stage.room(), stage.service.name + "/cam 1"
    said = stage.ask(
        "import_device", room_id=room_id, user_id=user_id, user_name=AWKWARD,
        user_address=stage.cameras.open, user_data="a=b&c",
    )  # fmt: skip
    stage.succeeds(said, room_id=room_id, user_id=user_id)
    device = _device(stage, room_id)
    _as_given(("user_name", AWKWARD, device.user_name), ("user_data", "a=b&c", device.user_data))


def options(stage: Stage) -> None:
    """Imports a camera whose login stands in `options`, an object: JSON text in a query or a form,
    an object inside a JSON body. The password holds quotes, a backslash, & + = and %41."""
    room_id = stage.room()
    said = stage.ask(
        "import_device", room_id=room_id, user_id="cam-2", user_name="Door",
        user_address=stage.cameras.locked, options=compact(LOGIN),
    )  # fmt: skip
    stage.succeeds(said, room_id=room_id, user_id="cam-2")
    _device(stage, room_id)


def _device(stage: Stage, room_id: str) -> Device:
    devices = list_devices(stage.client, room_id)
    if not devices:
        raise Wrong("it reports success, and the room has no device")
    return devices[0]


def _as_given(*texts: tuple[str, str, str | None]) -> None:
    for name, sent, stored in texts:
        if told := judging.arrived(name, sent, stored):
            raise Wrong(told)


def removed(stage: Stage) -> None:
    """Takes a device out of its room."""
    room_id = stage.room()
    camera = stage.cameras.open
    import_device(stage.client, room_id, "gone", "Door", camera)
    said = stage.ask("remove_device", room_id=room_id, user_id="gone", user_address=camera)
    stage.succeeds(said, room_id=room_id, user_id="gone")
    if list_devices(stage.client, room_id):
        raise Wrong("it reports success, and the device is still there")


def listed(stage: Stage) -> None:
    """Lists a room's devices, in snake_case whatever the service spells, `options` an object; and
    those of all rooms where no room is given."""
    room_id = stage.room()
    camera = stage.cameras.locked
    import_device(stage.client, room_id, "listed", AWKWARD, camera, options=LOGIN)
    device = list_devices(stage.client, room_id)[0]
    item = {name: getattr(device, name)
            for name in ("room_id", "user_id", "user_name", "user_address")}  # fmt: skip
    item["options"] = {"login_name": LOGIN["login_name"]}
    said = stage.ask("list_devices", room_id=room_id)
    stage.succeeds(said, total=1, items=[item])
    said = stage.ask("list_devices")
    stage.succeeds(said, total=len(list_devices(stage.client)))


def tidy(stage: Stage) -> None:
    """Delete the rooms and faults that are left, for the next trial."""
    stage.sandbox.clear_faults()
    for room_id in stage.sandbox.room_ids():
        try:
            delete_room(stage.client, room_id)
        except ConfkitError:  # the client deleted it
            continue
