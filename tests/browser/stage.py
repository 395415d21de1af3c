"""What the notebook of all panels shows. A scene is a function that runs in its kernel, and makes
what is `shown` on a service of its own."""

import ipywidgets

import confkit as ck
from confkit import panels
from confkit.sandbox import Sandbox

box = ipywidgets.VBox()


def show(scene, mark, **options):
    """The names of a scene that is set anew in place of the one before."""
    names = globals()[scene](**options)
    box.children = names["shown"]
    for place, widget in enumerate(names["shown"]):
        widget.add_class(f"{mark}-{place}")
    return names


def blocks():
    """A panel of blocks: a button that asks a question, and fields for passwords."""
    job, done = panels.Job(), []
    question = panels.Question("Forget it?", lambda: done.append(1) or "Forgotten.", "Do")
    secret, control = panels.PasswordField("Secret"), ipywidgets.Password(description="Control")
    row = job.row({"Forget": lambda: question})
    panel = ipywidgets.VBox([panels.Status(), row, secret, control])
    shown = [panel.add_class("confkit-panel")]
    return locals()


def all_panels(every=0):
    """Each of our panels on a service with many rooms, the name of one of which is hostile."""
    client = Sandbox(seed=1).start().connect()
    studio = ck.create_room(client, "Studio", "ops", attendee_max=9)
    client.sandbox.join(studio, "<img src=x onerror=window.pwned=1>")
    ck.import_device(client, studio, "door", "Front door", client.sandbox.camera())
    camera = client.sandbox.camera(login_name="admin", login_password="open-sesame")
    town = ck.create_room(client, "Town hall", "ops", attendee_max=200)
    client.sandbox.simulate(rooms=100, days=0)
    refresh = panels.Refresh(client, [*client.sandbox.room_ids(), "404404"], every)
    shown = [
        panels.RoomExplorer(client, refresh=refresh),
        panels.OccupancyPanel(client, refresh=refresh),
        panels.DevicePanel(client, studio, 0),
    ]
    return locals()
