"""The checks of the nine runbooks as functions, and what their notebooks show them with.

A function yields a `ck.Check` for each thing that it has looked at, as soon as it knows::

    for check in runbook.nobody_can_join(client, "Night shift"):
        print(check)
    ck.Checklist(runbook.media_server_gone(client)).verdict

Each only reads unless `apply=True` is given, says UNKNOWN where the service did not answer, and
undoes what it has to also when it is interrupted.

A runbook is a notebook in `notebooks/runbooks/`, named after what is wrong (`media-server-gone`).
Its first cell is text: a title, one sentence that says what it is for (`confkit runbook --list`
shows it), when to use it, what it needs. Then::

    # a cell tagged `parameters`: the inputs, each a plain value or given(name, default)
    from confkit import runbook
    room = runbook.given("room", "")          # CONFKIT_RUNBOOK_ROOM, else the default
    scene = runbook.given("scene", "full")    # what a sandbox shows; tests play each
    apply = False                             # plain: no variable of the environment sets it

    import confkit as ck
    client = ck.connect()
    book = runbook.begin("nobody-can-join", client)
    inputs = book.scene(scene, room=room)     # a real service is used as it is

    book.show(runbook.nobody_can_join(client, **inputs, apply=apply))  # tagged `changes`

    book.verdict()                            # the last cell, tagged `always`: it runs headless
                                              # even when one before it broke

A function of yours asks with `value = yield from asked(check, ask, found)`, which makes the check
and gives the value; what depends on one that is not well is left out. Errors of the service become
FAIL where it answered what is wrong, UNKNOWN where that cannot be known (no answer, time-outs, a
refused token). `may_change` guards what changes something. Secrets are never inputs:
`camera_password(login_name)` takes a camera's from the environment or asks. What a sandbox shows is
a row of `scenes.toml`.
"""

from .book import Runbook, begin
from .cameras import bulk_camera_import, camera_does_not_appear, stray_devices
from .inputs import camera_password, given, to_set
from .people import force_user_offline, nobody_can_join
from .recording import capacity_review, fullest, month
from .rooms import find_room, find_rooms
from .service import (
    authentication_fails,
    connected,
    deployment_acceptance,
    media_server_gone,
)
from .steps import asked, may_change

__all__ = [
    "Runbook",
    "asked",
    "authentication_fails",
    "begin",
    "bulk_camera_import",
    "camera_does_not_appear",
    "camera_password",
    "capacity_review",
    "connected",
    "deployment_acceptance",
    "find_room",
    "find_rooms",
    "force_user_offline",
    "fullest",
    "given",
    "may_change",
    "media_server_gone",
    "month",
    "nobody_can_join",
    "stray_devices",
    "to_set",
]
