"""What a runbook is made of: inputs, checks with a verdict each, one guarded change, a verdict.

A runbook is a notebook in `notebooks/runbooks/`, named after what is wrong (`media-server-gone`).
Its first cell is text: a title, one sentence that says what it is for (`confkit runbook --list`
shows it), when to use it, what it needs, what to do next after each verdict. Then::

    # a cell tagged `parameters`: the inputs, each a plain value or given(name, default)
    from confkit import runbook
    room = runbook.given("room", "")          # CONFKIT_RUNBOOK_ROOM, else the default
    scene = runbook.given("scene", "broken")  # what a sandbox shows; tests play each
    apply = False                             # plain: no variable of the environment sets it

    import confkit as ck
    client = ck.connect()
    book = runbook.begin("media-server-gone", client)

    sandbox = book.scene(scene, "broken", "healthy")  # None on a real service, which says SKIP
    if sandbox is not None:
        room = room or ...                    # people, cameras and faults for this scene

    room_id = book.check("the room is found", lambda: runbook.find_room(client, room))
    users = book.check("its users are told", lambda: ck.get_room_users(client, room_id),
                       found=lambda users: f"{len(users)} users", needs="the room is found")
    if book.ready("somebody is in it", needs="its users are told"):
        if users:
            book.passed("somebody is in it", users[0].user_name)
        else:
            book.failed("somebody is in it", "nobody is", "Ask who should be there.")

    # check() gives a value: as the last line of a cell it would show, so assign it, to _ at least

    book.refuses("an unknown room is told as 404", lambda: ck.get_room(client, "no-such"), 404)

    # advice that names an input: f"{runbook.to_set('apply', True)} to do it."

    # one cell tagged `changes`, under a heading "The one cell that changes something"
    if book.may_change(apply, "delete the room"):
        book.check("the room is deleted", lambda: ck.delete_room(client, room_id))

    # a cell tagged `always`: runs headless even when one before it broke (what must be undone)

    book.verdict()                            # the last cell, tagged `always` too

Errors of the service become FAIL where it answered what is wrong, UNKNOWN where that cannot be
known (no answer, time-outs, a refused token); `fails=` says otherwise. Mistakes in the notebook
stay errors. Secrets are never inputs: `camera_password(login_name)` takes a camera's from the
environment or asks.
"""

from .book import Runbook, begin
from .inputs import camera_password, given, to_set
from .rooms import find_room, find_rooms

__all__ = ["Runbook", "begin", "camera_password", "find_room", "find_rooms", "given", "to_set"]
