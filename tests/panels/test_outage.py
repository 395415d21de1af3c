"""What panels of rooms show while the service is away, and what they read by themselves."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

import confkit as ck
from confkit.many.reading import Part
from confkit.many.result import Failure
from confkit.panels import OccupancyPanel, RoomExplorer
from confkit.panels.live import outage_told
from confkit.panels.parts.table import PAGE
from confkit.panels.room_list import frame_of_rooms, joined, oldest
from confkit.panels.watching import Outage, Watch, silence
from confkit.sandbox import Sandbox
from tests.ports import quiet_port

GET, USERS, MCU = "/rtc/room/get", "/rtc/room/get_room_info", "/sdk/get_mcu"
LIST = "/avd/api/outgoing/getOutgoingUsers"
KEYS = {"access_key": "k", "secret_key": "s"}
KINDS = [OccupancyPanel, RoomExplorer]


class Service:
    """A sandbox that can go away and come back at its addresses, with its rooms."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack, ports = stack, {"port": quiet_port(), "outgoing_port": quiet_port()}
        self._made = {**KEYS, **ports, "path": folder / "rooms.sqlite"}
        self.start()

    def start(self) -> None:
        self.sandbox = self._stack.enter_context(Sandbox(**self._made))

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
        assert all(text.endswith(" old") for text in bars(panel))
        [alert] = [one for one in panel.frame.messages if one["tone"] == "bad"]
        told = alert["text"]
        for part in ("No answer from 127.0.0.1 since ", "3 rooms keep their last known values",
                     " old; next try at ", "refused"):  # fmt: skip
            assert part in told
        service.start()
        until(panel, lambda: panel.value["error"].isna().all())
        assert (panel.value["read_at"] > before["read_at"].max()).all()
        assert said(panel, "service")["tone"] == "good"
        assert "has been answering again since " in said(panel, "service")["text"]
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
        assert panel.samples(rooms["full"])["users"].dropna().tolist() == [3]


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

    def __init__(self, number: int, page: int, every: float = 15.0) -> None:
        self.ids, self.now, self.seconds = [f"{n}" for n in range(number)], 0.0, 0.0
        self.away, self.broken, self.cut_after = False, set(), 0
        self.read: list[tuple[list[str], float | None]] = []
        self.errors: list[Exception] = []
        self.aged = 0
        self.watch = Watch(
            page=lambda: self.ids[:page], rooms=lambda: self.ids, read=self._read,
            also=lambda: None, aged=self._aged, fails=self.errors.append, rate=20,
            clock=lambda: self.now,
        )  # fmt: skip
        self.watch.every = every

    def _aged(self) -> None:
        self.aged += 1

    def _read(self, ids: list[str], rate: float | None, cut: threading.Event) -> ck.Sweep:
        self.read.append((ids, rate))
        self.now += self.seconds
        error = ck.ProtocolError("broken")
        found = [error if self.away or one in self.broken else [] for one in ids]
        complete = not (self.cut_after and rate)
        if not complete:
            found[self.cut_after :] = [None] * (len(ids) - self.cut_after)
        part = Part([None] * len(ids), found, {}, len(ids), complete)
        lost = tuple(
            Failure(one, "A6", error, "") for one in ids if self.away or one in self.broken
        )
        now = datetime.now(UTC)
        swept = ck.Sweep(tuple(ids), "S", now, 0, 0, complete, lost, part, (False, True), None)
        self.watch.heard(swept)
        return swept

    def tick(self) -> list[list[str]]:
        """What is read after a tick, until nothing is left to be read."""
        before = len(self.read)
        self.watch.tick()
        assert self.watch.wait(20)
        self.watch.stop()
        assert self.watch.wait(20)
        assert not self.errors
        return [ids for ids, _ in self.read[before:]]


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_in_an_outage_a_few_rooms_are_tried_less_and_less_often(seconds):
    """After twice as long as usual, then four times, up to a minute, however long a try takes, and
    no other room; each time at the tick that was told; then all goes on at once."""
    rooms, tries = Rooms(9, 5), []
    rooms.away, rooms.seconds = True, seconds
    for now in range(0, 300, 15):
        rooms.now = now
        if rooms.tick():
            tries.append(now)
            assert rooms.watch.outage.due == pytest.approx(now + (30 if now == 0 else 60), abs=1)
    assert tries == [0, 30, 90, 150, 210, 270]
    assert [len(ids) for ids, _ in rooms.read] == [5] + [3] * 5
    assert isinstance(rooms.watch.outage, Outage)
    assert rooms.aged == 19
    rooms.away, rooms.now = False, 330
    assert rooms.tick() == [rooms.ids[:3], rooms.ids[:5], rooms.ids[5:]]
    assert rooms.watch.outage is None


def test_the_rest_follows_the_page_at_its_own_rate():
    """The page is read as fast as it can be, the others at most 50 at once with the budget."""
    rooms = Rooms(120, 20)
    found: list[str] = []
    for rooms.now in (0, 15, 30):
        page, *rest = rooms.tick()
        assert page == rooms.ids[:20]
        found += [room_id for ids in rest for room_id in ids]
    assert found[:100] == rooms.ids[20:]
    assert {rate for ids, rate in rooms.read if ids[0] != "0"} == {20}
    assert {rate for ids, rate in rooms.read if ids[0] == "0"} == {None}
    assert max(len(ids) for ids, _ in rooms.read) == 50


def test_rooms_that_a_tick_cuts_off_are_read_next():
    """No room is left out of a round because a page came between."""
    rooms = Rooms(40, 10)
    rooms.cut_after = 5
    found = [
        room_id for rooms.now in (0, 15, 30, 45) for ids in rooms.tick()[1:] for room_id in ids
    ]
    assert set(found) == set(rooms.ids[10:])
    assert found[:30] == rooms.ids[10:]
    assert found[30:55] == rooms.ids[15:]


def test_one_broken_room_is_no_outage():
    """Neither does the room that fails by itself begin one, alone in the background, nor does it
    keep one going, on top of the page."""
    rooms = Rooms(6, 5)
    rooms.broken = {"5"}
    for rooms.now in (0, 15, 30):
        rooms.tick()
        assert rooms.watch.outage is None
    rooms.broken, rooms.away = {"0"}, True
    rooms.now = 45
    rooms.tick()
    assert rooms.watch.outage is not None
    rooms.away, rooms.now = False, 100
    rooms.tick()
    assert rooms.watch.outage is None


def test_what_a_reading_raises_ends_no_watch():
    """It is told, and the next tick reads again."""
    rooms = Rooms(3, 3)
    read, rooms.watch._read = rooms.watch._read, lambda *_: 1 / 0
    rooms.watch.tick()
    assert rooms.watch.wait(20)
    rooms.watch.stop()
    assert rooms.watch.wait(20)
    assert isinstance(rooms.errors.pop(), ZeroDivisionError)
    rooms.watch._read = read
    assert rooms.tick() == [rooms.ids]


def test_a_reading_that_began_before_an_outage_does_not_end_it(stranger, rooms, service):
    """Half of it was answered before the service went; a later answer does, whatever it says."""
    watch = Rooms(1, 1).watch
    early = ck.sweep(stranger, list(rooms.values()))
    error = ck.TransportError("refused")
    half = replace(early, failures=(Failure(rooms["full"], "A6", error, ""),))
    assert watch.heard(error)
    watch.heard(half)
    assert watch.outage is not None
    watch.heard(ck.sweep(stranger, ["0000000001"]))
    assert watch.outage is None


def test_an_outage_is_told_in_the_panels_zone():
    """With since when, the age of the oldest row, and when it is tried next."""
    zone = ZoneInfo("Asia/Kathmandu")
    now = datetime.now(UTC)
    frame = pd.DataFrame({"read_at": pd.to_datetime([now - timedelta(minutes=3), None], utc=True)})
    outage = Outage(now, 1, 0, ck.TransportError("It refused the connection."))
    told = outage_told(outage, frame, "prod", 30, zone)
    since, due = (f"{time.astimezone(zone):%H:%M}" for time in (now, now + timedelta(seconds=30)))
    assert told.startswith(f"No answer from prod since {since}")
    assert "(Asia/Kathmandu): 1 room keeps its last known values, up to 3 min old; " in told
    assert f"next try at {due}" in told
    assert told.endswith("It refused the connection.")
    assert "Refresh tries again" in outage_told(outage, frame, "prod", None, zone)


def test_a_late_reading_changes_nothing_that_was_read_after_it(stranger, service, rooms):
    """Where two read at once, the values of the one that asked last stay."""
    early = frame_of_rooms(ck.sweep(stranger, [rooms["empty"]]))
    service.sandbox.join(rooms["empty"], "Ada")
    late = frame_of_rooms(ck.sweep(stranger, [rooms["empty"]]))
    assert joined(late, early)["users"].tolist() == [1]
    assert joined(early, late)["users"].tolist() == [1]


def test_the_rooms_read_longest_ago_come_first(stranger, rooms):
    """Those that were never read before all."""
    ids = list(rooms.values())
    first = frame_of_rooms(ck.sweep(stranger, [*ids, "0000000001"]))
    second = joined(first, frame_of_rooms(ck.sweep(stranger, ids[:1])))
    assert oldest(second) == ["0000000001", *ids[1:], ids[0]]


def test_the_callers_columns_keep_their_types_while_rooms_are_read_again(stranger, rooms):
    """A floor is a whole number, however often its room is read."""
    table = pd.DataFrame({"room_id": list(rooms.values()), "floor": [1, 2, 3]})
    with shown(RoomExplorer, stranger, table) as panel:
        tick(panel)
        assert panel.value["floor"].dtype == table["floor"].dtype


@pytest.mark.parametrize("kind", KINDS)
def test_the_rest_keeps_to_its_budget_and_ends_when_nobody_looks(kind, stranger, service):
    """At most so many requests a second leave for rooms that are not on the page."""
    ids = [ck.create_room(stranger, f"room {n}", "ops") for n in range(PAGE + 30)]
    with shown(kind, stranger, ids, every=60, background_rate=4) as panel:
        before, began = service.sandbox.count(), time.monotonic()
        tick(panel)
        page = 2 * PAGE + 1
        while service.sandbox.count() < before + page + 6:
            time.sleep(0.01)
        sent = service.sandbox.count() - before - page
        assert sent <= 4 * (time.monotonic() - began) + 2
        panel.frame._hear(None, {"kind": "hidden"}, [])
        assert panel.wait(20)
        before = service.sandbox.count()
        time.sleep(0.5)
        assert service.sandbox.count() == before


def test_an_explorer_of_known_rooms_that_begins_in_an_outage(service, stranger, rooms):
    """Its failure is no empty building: `value` raises it until the rooms were found, which the
    next try, or a Refresh, does."""
    service.sandbox.fault(LIST, drop=True)
    panel = RoomExplorer(stranger)
    assert panel.wait(20)
    panel.refresh_every(0.5)
    tick(panel)
    with pytest.raises(ck.TransportError):
        _ = panel.value
    service.sandbox.clear_faults()
    until(panel, lambda: not panel._seeks)
    assert set(panel.value["topic"]) == {"full", "used", "empty"}
    assert said(panel, "service")["tone"] == "good"
    panel.close()


def test_an_observer_of_the_value_may_begin_work(stranger, service, rooms, tmp_path):
    """While another thread refreshes and ticks come, neither waits for the other for ever."""
    with shown(OccupancyPanel, stranger, list(rooms.values()), folder=tmp_path) as panel:
        panel.observe(lambda _: panel.refresh_page() if panel._watch.is_here else None, "value")
        for _ in range(3):
            refreshing = threading.Thread(target=panel.refresh, daemon=True)
            refreshing.start()
            tick(panel)
            refreshing.join(30)
            assert not refreshing.is_alive()


@pytest.mark.parametrize("kind", KINDS)
def test_a_dismissed_outage_stays_dismissed_until_somebody_asks(kind, stranger, service, rooms):
    """What goes on by itself says it once; switching automatic refresh off changes what it says."""
    with shown(kind, stranger, list(rooms.values())) as panel:
        service.stop()
        tick(panel)
        panel.refresh_every(0)
        assert "Refresh tries again" in said(panel, "service")["text"]
        panel.refresh_every(0.5)
        assert "next try at" in said(panel, "service")["text"]
        panel.dismiss("service")
        tries = panel._watch.outage.tries
        until(panel, lambda: panel._watch.outage.tries > tries)
        assert not panel.frame.messages
        panel.refresh()
        assert said(panel, "service")["tone"] == "bad"


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
