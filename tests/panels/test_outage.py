"""What panels of rooms show while the service is away, and what they read by themselves."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, RoomExplorer
from confkit.panels.parts.table import PAGE
from confkit.panels.watching import Outage, Watch, silence
from confkit.sandbox import Sandbox
from confkit.sweeping.reading import Part

GET, USERS, MCU = "/rtc/room/get", "/rtc/room/get_room_info", "/sdk/get_mcu"
KEYS = {"access_key": "k", "secret_key": "s"}
KINDS = [OccupancyPanel, RoomExplorer]


class Service:
    """A sandbox that can go away and come back at its addresses, with its rooms."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._file, self._stack, self._ports = folder / "rooms.sqlite", stack, (0, 0)
        self.start()

    def start(self) -> None:
        port, outgoing_port = self._ports
        self.sandbox = self._stack.enter_context(
            Sandbox(path=self._file, port=port, outgoing_port=outgoing_port, **KEYS)
        )
        ports = self.sandbox.base_url, self.sandbox.outgoing_url
        self._ports = tuple(int(url.rsplit(":", 1)[1]) for url in ports)

    def stop(self) -> None:
        self.sandbox.close()


@pytest.fixture
def service(tmp_path) -> Iterator[Service]:
    with ExitStack() as stack:
        yield Service(tmp_path, stack)


@pytest.fixture
def stranger(service) -> Iterator[ck.Client]:
    """A client that takes the sandbox for any service."""
    box = service.sandbox
    with ck.connect(base_url=box.base_url, outgoing_url=box.outgoing_url, **KEYS) as client:
        yield client


@pytest.fixture
def rooms(stranger, service) -> dict[str, str]:
    """A full room, one in use, and an empty one."""
    ids = {}
    for topic, people in (("full", 3), ("used", 1), ("empty", 0)):
        ids[topic] = ck.create_room(stranger, topic, "ops", attendee_max=3)
        for number in range(people):
            service.sandbox.join(ids[topic], f"{topic} {number}")
    return ids


@contextmanager
def shown(kind: type, client: ck.Client, ids: list[str], every: float = 0.5, **more) -> Iterator:
    """A panel of these rooms that was read once, and will be every so many seconds."""
    panel = kind(client, ids, **more, **({"every": 0} if kind is OccupancyPanel else {}))
    assert panel.value is not None
    panel.refresh_every(every)
    try:
        yield panel
    finally:
        panel.close()


def tick(panel) -> None:
    """A message as the browser sends one while somebody sees the panel."""
    panel.frame._hear(None, {"kind": "tick"}, [])
    assert panel.wait(60)


def until(panel, true: Callable[[], object], seconds: float = 60) -> None:
    """Ticks until it is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        tick(panel)
        time.sleep(0.05)


def said(panel, kind: str) -> dict[str, str]:
    """The panel's message of this kind."""
    return next((one for one in panel.frame.messages if one["kind"] == kind), {})


def bars(panel) -> list[str]:
    """What stands in the cells of occupancy, from the top."""
    name = "fullness" if isinstance(panel, OccupancyPanel) else "utilisation"
    place = [column[0] for column in panel.table.columns].index(name)
    return [cells[place]["text"] for _, cells in panel.table.rows]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_keep_their_last_values_and_places_in_an_outage_and_say_how_old_they_are(
    kind, stranger, service, rooms
):
    """Nothing sinks, rises, or counts as empty; `value` says when each room was read and why not
    since; one alert counts the rooms; after the outage the panel says so by itself."""
    with shown(kind, stranger, list(rooms.values())) as panel:
        before = panel.value
        service.stop()
        tick(panel)
        frame = panel.value
        assert frame["room_id"].tolist() == before["room_id"].tolist()
        for column in ("topic", "users", "attendee_max", "utilisation", "read_at"):
            assert frame[column].equals(before[column])
        assert frame["error"].str.contains("refused").all()
        assert [text.rpartition(", ")[0] for text in bars(panel)] == [
            "3 of 3, full", "1 of 3", "0 of 3, empty"
        ]  # fmt: skip
        assert all(text.endswith(" s old") for text in bars(panel))
        [alert] = [one for one in panel.frame.messages if one["tone"] == "bad"]
        told = alert["text"]
        for part in ("No answer from 127.0.0.1 since ", "3 rooms keep their last known values",
                     " s old; next try at ", "refused"):  # fmt: skip
            assert part in told
        service.start()
        until(panel, lambda: panel.value["error"].isna().all())
        assert (panel.value["read_at"] > before["read_at"].max()).all()
        assert said(panel, "service")["tone"] == "good"
        assert "answers again since " in said(panel, "service")["text"]
        assert bars(panel) == ["3 of 3, full", "1 of 3", "0 of 3, empty"]


def test_the_head_counts_unread_rooms_by_what_was_last_known(stranger, service, rooms):
    """In an outage no room counts as empty, and none as "0 full": the counts are called last
    known; the curve of a picked room keeps its topic, and no old value becomes a sample."""
    with shown(OccupancyPanel, stranger, [*rooms.values(), "0000000001"]) as panel:
        panel.select(rooms["full"])
        service.stop()
        tick(panel)
        head = panel.totals.value.replace("<b>", "").replace("</b>", "")
        fresh, _, last = head.partition("last known:")
        assert "4 not read" in fresh
        assert "full" not in fresh
        assert "empty" not in fresh
        for part in ("1 full", "1 in use", "1 empty"):
            assert part in last
        assert "the oldest row is " in head
        assert panel.lost.layout.display == "none"  # the alert has said it
        assert 'alt="full: ' in panel.curve.view.html
        assert panel.samples(rooms["full"])["users"].isna().tolist() == [False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_a_room_that_was_never_read_stays_missing(kind, stranger, service, rooms):
    """Neither its users nor a time stands for it, before, in and after an outage."""
    with shown(kind, stranger, [*rooms.values(), "0000000001"]) as panel:
        service.stop()
        tick(panel)
        row = panel.value.set_index("room_id").loc["0000000001"]
        assert pd.isna(row["users"])
        assert pd.isna(row["read_at"])
        assert "3 rooms keep" in said(panel, "service")["text"]


@pytest.mark.parametrize("kind", KINDS)
def test_some_rooms_that_fail_keep_what_was_read_and_are_named(kind, stranger, service, rooms):
    """What could be read is new, what could not is as it was, with its age; rooms are counted, not
    calls, and nothing is called an outage."""
    with shown(kind, stranger, list(rooms.values()), every=0) as panel:
        first = panel.value
        service.sandbox.fault(USERS, ret=504)
        panel.refresh()
        frame = panel.value
        assert frame["users"].equals(first["users"])
        assert frame["read_at"].equals(first["read_at"])
        assert frame["error"].str.contains("504").all()
        assert all("as of " in text for text in bars(panel))
        assert not said(panel, "service")
        if kind is RoomExplorer:
            assert said(panel, "reading")["tone"] == "bad"
            assert said(panel, "reading")["text"].startswith("3 of 3 rooms could not be read, all")
        service.sandbox.clear_faults()
        service.sandbox.fault(GET, ret=504)
        service.sandbox.join(rooms["empty"], "Ada")
        panel.refresh()
        frame = panel.value.set_index("room_id")
        assert frame.loc[rooms["empty"], "users"] == 1
        assert frame.loc[rooms["empty"], "topic"] == "empty"
        assert frame["attendee_max"].tolist() == [3, 3, 3]
        assert (frame["read_at"] > first["read_at"].max()).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_room_that_is_deleted_is_not_shown_as_it_was(kind, stranger, rooms):
    """That the service does not have it is an answer, and no reason to keep old values."""
    with shown(kind, stranger, list(rooms.values())) as panel:
        ck.delete_room(stranger, rooms["full"])
        panel.refresh()
        row = panel.value.set_index("room_id").loc[rooms["full"]]
        assert pd.isna(row["users"])
        assert pd.isna(row["topic"])
        assert "room not found" in row["error"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_reading_by_hand_in_an_outage_is_said_once(kind, stranger, service, rooms):
    """Also where not even a token can be had, so that nothing is asked and the error raised."""
    with shown(kind, stranger, list(rooms.values()), every=0) as panel:
        before = panel.value
        service.stop()
        stranger._token.held = None
        with pytest.raises(ck.TransportError):
            panel.refresh()
        assert panel.value["users"].equals(before["users"])
        assert panel.value["error"].str.contains("refused").all()
        [message] = panel.frame.messages
        assert message["tone"] == "bad"
        assert "Refresh tries again" in message["text"]


def test_automatic_reading_after_a_first_one_that_failed(service, stranger, rooms):
    """A panel that was made in an outage shows its rooms once the service is there."""
    service.stop()
    stranger._token.held = None
    panel = OccupancyPanel(stranger, list(rooms.values()), every=0.5)
    with pytest.raises(ck.TransportError):
        _ = panel.value
    [message] = panel.frame.messages
    assert "no room has been read yet; next try at" in message["text"]
    service.start()
    until(panel, lambda: panel.frame.messages[0]["tone"] == "good")
    assert panel.value["users"].tolist() == [3, 1, 0]
    panel.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_room_rises_wherever_it_was(kind, stranger, service):
    """All rooms are read in the background, so that the fullest is on top; each page comes first,
    and hidden panels read nothing."""
    ids = [ck.create_room(stranger, f"room {n}", "ops", attendee_max=2) for n in range(PAGE + 30)]
    with shown(kind, stranger, ids, every=2, background_rate=200) as panel:
        unseen = next(room_id for room_id in ids if room_id not in panel.table.visible)
        for number in range(2):
            service.sandbox.join(unseen, f"guest {number}")
        until(panel, lambda: panel.table.visible[0] == unseen)
        assert bars(panel)[0] == "2 of 2, full"
        assert "the oldest" in (panel.totals.value if kind is OccupancyPanel else panel.table.told)
        assert not service.sandbox.count(MCU)
        panel.frame._hear(None, {"kind": "hidden"}, [])
        assert panel.wait(20)
        before = service.sandbox.count()
        time.sleep(0.5)
        assert service.sandbox.count() == before


def test_a_refused_rate_makes_no_panel(stranger, service):
    """The budget is a number of requests a second."""
    before = service.sandbox.count()
    for wrong in (-1, float("nan"), "20"):
        for kind in KINDS:
            with pytest.raises(ck.ConfigError, match="background_rate"):
                kind(stranger, ["1047"], background_rate=wrong)
    with pytest.raises(ck.ConfigError, match="every"):
        OccupancyPanel(stranger, ["1047"], every=0.1)
    assert service.sandbox.count() == before


class Rooms:
    """Rooms that a Watch reads, in a service that may be away, at a time that is set."""

    def __init__(self, number: int, page: int) -> None:
        self.ids, self.now, self.away = [f"{n}" for n in range(number)], 0.0, False
        self.read: list[tuple[list[str], float | None]] = []
        self.aged = 0
        self.watch = Watch(
            page=lambda: self.ids[:page], rooms=lambda: self.ids, read=self._read,
            also=lambda: None, aged=self._aged, rate=20, clock=lambda: self.now,
        )  # fmt: skip
        self.watch.every = 15.0

    def _aged(self) -> None:
        self.aged += 1

    def _read(self, ids: list[str], rate: float | None, cut: threading.Event) -> ck.Sweep | None:
        self.read.append((ids, rate))
        if self.away:
            self.watch.heard(ck.TransportError("connection refused"))
            return None
        part = Part([None] * len(ids), [[] for _ in ids], {}, len(ids), complete=True)
        now = datetime.now(UTC)
        found = ck.Sweep(tuple(ids), "S", now, 0, 0, True, (), part, (True, True), None)
        self.watch.heard(found)
        return found

    def tick(self) -> list[list[str]]:
        """What is read after a tick, until nothing is left to be read."""
        before = len(self.read)
        self.watch.tick()
        assert self.watch.wait(20)
        self.watch.stop()
        assert self.watch.wait(20)
        return [ids for ids, _ in self.read[before:]]


def test_in_an_outage_one_room_is_tried_less_and_less_often():
    """After as long as usual, twice, four times that, up to a minute, and no other room; then all
    goes on at once."""
    rooms, tries = Rooms(6, 3), []
    rooms.away = True
    for rooms.now in range(0, 300, 5):
        if rooms.tick():
            tries.append(rooms.now)
    assert tries == [0, 30, 90, 150, 210, 270]
    assert [len(ids) for ids, _ in rooms.read] == [3] + [1] * 5
    assert isinstance(rooms.watch.outage, Outage)
    assert rooms.aged == 59
    rooms.away, rooms.now = False, 330
    assert rooms.tick() == [["0"], ["0", "1", "2"], ["3", "4", "5"]]
    assert rooms.watch.outage is None


def test_the_rest_follows_the_page_at_its_own_rate():
    """The page is read as fast as it can be, the others 50 at once with the budget."""
    rooms = Rooms(120, 20)
    found: list[str] = []
    for rooms.now in (0, 15, 30):
        page, *rest = rooms.tick()
        assert page == rooms.ids[:20]
        found += [room_id for ids in rest for room_id in ids]
    assert found[:100] == rooms.ids[20:]
    assert {rate for ids, rate in rooms.read if ids[0] != "0"} == {20}
    assert {rate for ids, rate in rooms.read if ids[0] == "0"} == {None}


def test_what_is_an_outage(stranger, service, rooms):
    """Silence of all that was asked is one; a code of the service about its rooms is none."""
    ids = list(rooms.values())
    assert silence(ck.sweep(stranger, ids)) is None
    assert silence(ck.sweep(stranger, ["0"])) is None
    service.sandbox.fault(USERS, ret=700)
    service.sandbox.fault(GET, ret=700)
    assert silence(ck.sweep(stranger, ids)) is None
    service.sandbox.clear_faults()
    service.sandbox.fault(GET, http=502, body="<h1>Bad gateway</h1>")
    assert silence(ck.sweep(stranger, ids)) is None  # their users were read
    service.sandbox.fault(USERS, http=502, body="<h1>Bad gateway</h1>")
    assert isinstance(silence(ck.sweep(stranger, ids)), ck.ProtocolError)


def test_the_picked_room_keeps_what_was_read_of_it(stranger, service, rooms):
    """Picked again in an outage, a room shows its fields and people as of when they were read, and
    why not since; a room that is gone shows nothing of before."""
    with shown(RoomExplorer, stranger, list(rooms.values())) as panel:
        panel.select(rooms["full"])
        before = panel.selected
        service.stop()
        panel.select(rooms["full"])
        now = panel.selected
        assert (now.room, now.users, now.read_at) == (before.room, before.users, before.read_at)
        assert "refused" in str(now.stale)
        service.start()
        panel.select(rooms["full"])
        assert panel.selected.stale is None
        ck.delete_room(stranger, rooms["full"])
        panel.select(rooms["full"])
        assert isinstance(panel.selected.room, ck.RoomNotFound)
        assert panel.selected.users is None
