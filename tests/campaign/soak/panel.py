"""An hour of two panels that read their rooms every second, in a kernel, with people moving."""

import time
from collections import Counter
from contextlib import suppress

import confkit as ck

from ..frame import Counts, Piece
from .flat import JUDGED, grows, growth, long, swells
from .kernel import Page, page
from .sampling import Curve, draw, sample
from .steering import RefusedError, Served

# A panel keeps the newest 200,000 samples for its curves, 100 bytes each: so few rooms make 3 MB
# an hour of them, less than what counts as growing.
ROOMS = 8
# A thread that speaks to the page has a pipe to the kernel's own thread, which ipykernel closes
# within ten seconds of the thread's end: these come and go. A leak with each reading makes 1,200.
SPARE = 12
# Pictures come and go, a MB each, and leave memory in pieces: in two minutes that leaked nothing it
# moved by 11 MB. Fonts that were opened for each reading made 190 MB an hour.
HOURLY, LEAP = 24.0, 8.0  # MB
EVERY = 5.0  # seconds between two samples
PICKED = 10  # seconds from one room that is picked to the next
STALLED = 60.0  # seconds without any reading, where one is due every second
USERS = "/rtc/room/get_room_info"
NEVER = (
    "deaths", "complaints", "stalls", "growing memory", "growing descriptors", "growing threads",
    "processes not measured",
)  # fmt: skip
PANELS = """
import threading, time
import confkit as ck
from IPython.display import display
from confkit.panels import OccupancyPanel, RoomExplorer
client = ck.connect(base_url={base!r}, outgoing_url={outgoing!r}, access_key="demo_access",
                    secret_key="demo_secret")
occupancy, explorer = OccupancyPanel(client, {rooms!r}, every=1), RoomExplorer(client, {rooms!r})
assert occupancy.wait(60) and explorer.wait(60)
explorer.every(1, explorer.refresh_visible)
display(occupancy, explorer)
"""
CLOSED = """
occupancy.close(), explorer.close()
assert occupancy.wait(60) and explorer.wait(60)
client.close()
own, until = [], time.monotonic() + 30
while time.monotonic() < until and (own := [
    thread.name for thread in threading.enumerate() if thread.name.startswith("confkit")
]):
    time.sleep(0.1)
assert not own, f"threads left: {own}"
"""


def run(piece: Piece) -> Counts:
    """So many seconds of panels that are seen."""
    served = Served(":memory:", piece.folder / "sandbox.log")
    try:
        with page(piece.folder / "kernel.log") as shown:
            return Watched(piece, served, shown).counts
    finally:
        served.end()


class Watched:
    """What is seen of a kernel while its panels read."""

    def __init__(self, piece: Piece, served: Served, shown: Page) -> None:
        self.counts: Counter[str] = Counter()
        self._piece, self._served, self._page = piece, served, shown
        self._chance = piece.chance("people")
        self._curve = Curve(piece.folder / "curve.csv")
        self._inside: list[tuple[str, str]] = []
        with served.client() as client:
            self._rooms = [
                ck.create_room(client, f"Room {number}", "soak", attendee_max=9)
                for number in range(ROOMS)
            ]
        panels = PANELS.format(
            base=served.base_url, outgoing=served.outgoing_url, rooms=self._rooms
        )
        shown.run(panels)
        self._watch()
        if not self.counts["deaths"]:
            shown.run(CLOSED)
        for complaint in shown.complaints:
            self._count("complaints", complaint)
        self._look_back()

    def _watch(self) -> None:
        began = sampled = moved = time.monotonic()
        read = self._served.do("count", USERS)
        first, picked = read, 0
        while (passed := time.monotonic() - began) < self._piece.size:
            self._people()
            self._page.send("Occupancy", {"kind": "tick"})
            self._page.send("Rooms", {"kind": "tick"})
            if passed >= PICKED * picked:
                room_id = self._rooms[picked % ROOMS]
                self._page.send("Rooms", {"kind": "choose", "key": room_id})
                picked += 1
            self._page.listen(1.0)
            if not self._page.alive:
                self._count("deaths", "the kernel ended; see kernel.log")
                return
            now, count = time.monotonic(), self._served.do("count", USERS)
            if count > read:
                read, moved = count, now
            elif now - moved > STALLED:
                moved = now
                self._count("stalls", f"no room was read for {STALLED:g} s")
            if now - sampled >= EVERY or self._piece.size < JUDGED:
                self._curve.add(self._taken(now - sampled, count - first))
                sampled = now
        self.counts["seconds"] = round(time.monotonic() - began)
        self.counts["rooms read"] = read - first
        if read == first:
            self._count("stalls", "no room was read at all")

    def _people(self) -> None:
        room_id = self._chance.choice(self._rooms)
        if len(self._inside) < 40 and self._chance.random() < 0.5:
            with suppress(RefusedError):  # the room is full
                self._inside.append((room_id, self._served.do("join", room_id, "Somebody")))
        elif self._inside:
            self._served.do("leave", *self._inside.pop(0))

    def _taken(self, seconds: float, read: float) -> dict[str, float]:
        came, self._page.came = self._page.came, Counter()
        messages = sum(count for name, count in came.items() if name.startswith("comm_"))
        return {
            **{f"{name} of the kernel": value for name, value in sample(self._page.pid).items()},
            "messages in a second": messages / seconds,
            "kB in a second": came["bytes"] / seconds / 1000,
            "widgets opened": came["comm_open"], "rooms read": read,
        }  # fmt: skip

    def _look_back(self) -> None:
        for name in ("descriptors", "threads"):
            if grows(self._curve.of(f"{name} of the kernel"), SPARE):
                self._count(f"growing {name}", "see curve.csv")
        memory = self._curve.of("RSS in MB of the kernel")
        if not memory and self._piece.size >= JUDGED:
            self._count("processes not measured", "this system has no /proc to read")
        if swells(memory, HOURLY, LEAP):
            self._count("growing memory", f"{growth(memory):.1f} MB an hour; see curve.csv")
        if long(memory):
            self.counts["most MB an hour that the kernel grew"] = round(max(0, growth(memory)), 2)
        if self._curve.samples:
            title = f"{self._piece.part}, seed {self._piece.seed}"
            draw(self._curve, self._piece.folder / "curve.png", title)

    def _count(self, name: str, what: str) -> None:
        self.counts[name] += 1
        self._piece.broke(f"{name}: {what}")
