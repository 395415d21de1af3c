"""Every widget action is a public function too: clicks in one panel, methods of its twin."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import ipywidgets

import confkit as ck
from confkit.panels import DevicePanel, RoomExplorer
from confkit.panels.parts import Field
from confkit.sandbox import Sandbox

from .frame import Part, Piece

LONG = 20  # seconds for what takes none
TIMES = ["read_at"]  # the one thing in which twins may differ


class Twin:
    """A sandbox of three rooms with people, and the two panels that change it, by click or call."""

    def __init__(self, seed: int) -> None:
        self.sandbox = Sandbox(seed=seed).start()
        self.client = self.sandbox.connect()
        self.rooms = [
            ck.create_room(self.client, topic, "ops", attendee_max=9)
            for topic in ("Weekly sync", "Front desk", "Open end")
        ]
        self.people = [self.sandbox.join(self.rooms[0], name) for name in ("Ada", "Bo", "Cy", "Di")]
        self.camera = self.sandbox.camera()
        self.explorer = self.ready(RoomExplorer(self.client, self.rooms))
        self.devices = self.ready(DevicePanel(self.client, self.rooms[1]))

    def ready(self, panel: Any) -> Any:
        """The panel, once nothing is under way in it."""
        if not panel.wait(LONG):
            raise TimeoutError("a panel did not come to rest")
        return panel

    def press(self, panel: Any, text: str) -> None:
        """Clicks the panel's button of this text, as a browser does while it is enabled."""
        (found,) = [
            one for one in within(panel)
            if isinstance(one, ipywidgets.Button) and one.description == text and not one.disabled
        ]  # fmt: skip
        found.click()
        self.ready(panel)

    def type(self, panel: Any, **texts: str) -> None:
        """Types into the inputs of these names."""
        for name, text in texts.items():
            label = name.replace("_", " ")
            for one in within(panel):
                if getattr(one, "description", None) == label:
                    one.value = text
                if isinstance(one, Field) and one.label == label:
                    one.fill(text)

    def answer(self, panel: Any, yes: bool) -> None:
        """Answers the panel's question as a browser does."""
        panel.frame._hear(None, {"kind": "yes" if yes else "no"}, [])
        self.ready(panel)

    def state(self) -> list[Any]:
        """What the service holds, and what the panels say that it holds."""
        rooms = [
            (ck.get_room(self.client, room_id), ck.get_room_users(self.client, room_id))
            for room_id in self.sandbox.room_ids()
        ]
        shown = self.explorer.value.drop(columns=TIMES)
        listed = self.devices.value
        shown, listed = (frame.map(str).to_dict("list") for frame in (shown, listed))
        addresses = [device.user_id for device in ck.list_devices(self.client)]
        picked = self.explorer.selected
        listed.pop("user_address", None)  # each twin has a camera at a port of its own
        return [str(rooms), shown, listed, addresses, picked and picked.room_id]

    def close(self) -> None:
        """Ends both."""
        self.ready(self.explorer)
        self.ready(self.devices)
        self.client.close()
        self.sandbox.close()


def within(panel: Any) -> list[Any]:
    """All widgets of a panel."""
    found, waiting = [], [panel]
    while waiting:
        widget = waiting.pop()
        found.append(widget)
        waiting += getattr(widget, "children", ())
    return found


# Each action: what is clicked, and the method that does the same.


def refresh(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """Both panels are read again."""
    for panel in (twin.explorer, twin.devices):
        twin.press(panel, "Refresh") if clicks else panel.refresh()


def look(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """A room is picked."""
    pick(twin, clicks, chance.choice(twin.sandbox.room_ids()))


def pick(twin: Twin, clicks: bool, room_id: str) -> None:
    """This room is picked, if it is not yet."""
    if getattr(twin.explorer.selected, "room_id", None) == room_id:
        return
    if clicks:
        twin.explorer.table._hear(None, {"kind": "choose", "key": room_id}, [])
        twin.ready(twin.explorer)
    else:
        twin.explorer.select(room_id)


def order(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """The table is sorted by a column."""
    column = chance.choice(["topic", "status", "utilisation"])
    if clicks:
        twin.explorer.table._hear(None, {"kind": "sort", "column": column}, [])
    else:
        twin.explorer.sort(column)


def create(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """A room is created."""
    topic, most = f"Review {chance.randint(1, 99)}", chance.randint(1, 9)
    if not clicks:
        twin.explorer.create(topic, "ops", attendee_max=most)
        return
    if not any(getattr(one, "description", None) == "Create room" and one.layout.display != "none"
               for one in within(twin.explorer)):  # fmt: skip
        twin.press(twin.explorer, "New room")
    twin.type(twin.explorer, Topic=topic, Owner="ops", attendee_max=str(most))
    for one in within(twin.explorer):
        if getattr(one, "description", None) == "attendee_max":
            one.value = str(most)
    twin.press(twin.explorer, "Create room")


def delete(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """The newest room is deleted; now and then the answer to the question is no."""
    yes, newest = chance.random() < 0.7, twin.sandbox.room_ids()[-1]
    if newest in twin.rooms:
        create(twin, clicks, chance)
        newest = twin.sandbox.room_ids()[-1]
    pick(twin, clicks, newest)
    if clicks:
        twin.press(twin.explorer, "Delete room")
        twin.answer(twin.explorer, yes)
    elif yes:
        twin.explorer.delete()


def offline(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """Somebody, who has just joined, is put off a room."""
    user_id = twin.sandbox.join(twin.rooms[0], f"Guest {chance.randint(1, 99)}")
    twin.press(twin.explorer, "Refresh") if clicks else twin.explorer.refresh()
    pick(twin, clicks, twin.rooms[0])
    if clicks:
        twin.explorer._card.parts.users.choose(user_id)
        twin.press(twin.explorer, "Force offline")
        twin.answer(twin.explorer, True)
    else:
        twin.explorer.force_offline(user_id)


def seat(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """A camera is imported without a preflight, if it is not there yet."""
    if ck.list_devices(twin.client, twin.rooms[1]):
        return
    fields = {"user_id": "cam", "user_name": "Door", "user_address": twin.camera}
    twin.devices.untried.value = True
    if clicks:
        twin.devices.fill(**fields)
        twin.press(twin.devices, "Import")
        twin.answer(twin.devices, True)
    else:
        twin.devices.import_device(preflight=False, **fields)
    twin.devices.refresh()


def unseat(twin: Twin, clicks: bool, chance: random.Random) -> None:
    """The camera is removed, after it was brought in where it was not."""
    seat(twin, clicks, chance)
    if clicks:
        twin.devices.select("cam")
        twin.press(twin.devices, "Remove")
        twin.answer(twin.devices, True)
    else:
        twin.devices.remove("cam")


ACTIONS: tuple[Callable[[Twin, bool, random.Random], None], ...] = (
    refresh, look, order, create, delete, offline, seat, unseat,
)  # fmt: skip


def twins(piece: Piece) -> Counter[str]:
    """Actions in two panels, clicked in one and called in the other, and where the two differ."""
    counts: Counter[str] = Counter()
    clicked, called = Twin(piece.seed), Twin(piece.seed)
    try:
        for number in range(piece.size):
            action = piece.chance(str(number)).choice(ACTIONS)
            for twin in (clicked, called):
                action(twin, twin is clicked, piece.chance(f"{number}/what"))
            counts["actions"] += 1
            one, other = clicked.state(), called.state()
            if one != other:
                counts["clicks unlike their function"] += 1
                piece.broke(f"{number} {action.__name__}\n{one}\n{other}\n")
                break  # from here on they would differ anyway
    finally:
        clicked.close()
        called.close()
    return counts


PARTS = (
    Part("clicks", "Each button that changes something in the panels of rooms and of devices does "
         "what a public function does.", "actions", twins,
         10, 200, 12, ("clicks unlike their function",)),
)  # fmt: skip
