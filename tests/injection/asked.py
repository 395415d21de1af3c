"""What the service is really asked for, where an ID holds what ends or begins a parameter."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import confkit as ck
from confkit.many.sweeps import sweep
from confkit.sandbox import Sandbox
from confkit.secret import mask


def wrong_rooms(sandbox: Sandbox, client: ck.Client, ids: Sequence[str]) -> Iterator[str]:
    """Creates rooms under these IDs, reads, fills and deletes them; whatever came out wrong."""
    made = []
    for number, room_id in enumerate(ids):
        topic = ids[number - 1]
        created = ck.create_room(client, topic, room_id, room_extend_id=room_id)
        made.append(created)
        if created != room_id:
            yield f"created {created!r} for {room_id!r}"
        room = ck.get_room(client, room_id)
        if (room.room_id, room.topic, room.owner_id) != (room_id, topic, room_id):
            yield f"read {room!r} for {room_id!r}, {topic!r}"
        user_id = sandbox.join(room_id, topic)
        users = [(user.user_name, user.user_id) for user in ck.get_room_users(client, room_id)]
        if users != [(topic, user_id)]:
            yield f"users {users!r} of {room_id!r}"
    if sandbox.room_ids() != list(ids):
        yield f"the sandbox has {sandbox.room_ids()!r}"
    found = sweep(client, ids, progress=False)
    if found.failures or [room.topic for room in found.rooms] != [*ids[-1:], *ids[:-1]]:
        yield f"a sweep found {found.rooms!r} {found.failures!r}"
    for room_id in made:
        with suppress(ck.RoomNotFound):
            ck.delete_room(client, room_id)
        if room_id in sandbox.room_ids():
            yield f"deleted another room than {room_id!r}"
    if sandbox.room_ids():
        yield f"left {sandbox.room_ids()!r}"


def wrong_lines(client: ck.Client, ids: Sequence[str], folder: Path) -> Iterator[str]:
    """Runs the curl line of a call with each ID in a shell whose curl only prints its words."""
    for room_id in ids:
        if mask(room_id) != room_id:  # it looks like a secret, and a variable stands for it
            continue
        with suppress(ck.ConfkitError):
            ck.get_room(client, room_id)
        line = client.calls[-1].as_curl()
        script = f"curl() {{ printf '%s\\0' \"$@\"; }}\nCONFKIT_TOKEN=t\n{line}\n"
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, cwd=folder, check=False, timeout=20
        )
        words = done.stdout.split(b"\0")
        if f"room_id={room_id}".encode() not in words or done.stderr:
            yield f"the curl line of {room_id!r} gives {words!r} {done.stderr!r}"
    for path in folder.iterdir():
        yield f"a curl line has made {path.name!r}"
