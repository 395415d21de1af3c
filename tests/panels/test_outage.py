"""What panels of rooms show while the service is away, and what they read by themselves."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pandas as pd
import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, RoomExplorer, RoomsModel
from confkit.panels.live import outage_told
from confkit.panels.model import Outage
from confkit.panels.parts.table import PAGE
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


def pressed(panel) -> set[str]:
    """What stands on the buttons that count rooms."""
    return {one.description for one in panel.counts.children if one.layout.display != "none"}


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
            "3 of 3, full",
            "1 of 3",
            "0 of 3, empty",
        ]
        assert all(text.endswith(" old") for text in bars(panel))
        [alert] = [one for one in panel.frame.messages if one["tone"] == "bad"]
        told = alert["text"]
        for part in (
            "No answer from 127.0.0.1 since ",
            "3 rooms keep their last known values",
            " old; next try at ",
            "refused",
        ):
            assert part in told
        service.start()
        until(panel, lambda: panel.value["error"].isna().all())
        assert (panel.value["read_at"] > before["read_at"].max()).all()
        assert said(panel, "service")["tone"] == "good"
        assert "has been answering again since " in said(panel, "service")["text"]
        assert bars(panel) == ["3 of 3, full", "1 of 3", "0 of 3, empty"]


def test_the_head_counts_unread_rooms_by_what_was_last_known(stranger, service, rooms):
    """In an outage none of them counts as "0 full", and the panel says how many are counted so; the
    curve of a picked room keeps its topic, and no old value becomes a sample."""
    with shown(OccupancyPanel, stranger, [*rooms.values(), "0000000001"]) as panel:
        panel.select(rooms["full"])
        service.stop()
        tick(panel)
        assert pressed(panel) == {
            "0 nearly full",
            "0 over",
            "1 full",
            "1 in use",
            "1 empty",
            "4 not read",
        }
        assert "3 counted by last known values" in panel.totals.html
        assert ", the oldest " in panel.table.told
        assert 'aria-label="full: ' in panel.curve.view.html
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
    assert panel.value["users"].isna().all()
    assert panel.value["error"].str.contains("refused").all()
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
        assert "the oldest" in panel.table.told
        assert not service.sandbox.count(MCU)
        panel.frame._hear(None, {"kind": "hidden"}, [])
        assert panel.wait(20)
        before = service.sandbox.count()
        time.sleep(0.5)
        assert service.sandbox.count() == before


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
    until(panel, lambda: panel.model.found)
    assert set(panel.value["topic"]) == {"full", "used", "empty"}
    assert said(panel, "service")["tone"] == "good"
    panel.close()


def test_an_observer_of_the_value_may_begin_work(stranger, service, rooms):
    """While another thread refreshes and ticks come, neither waits for the other for ever."""
    with shown(OccupancyPanel, stranger, list(rooms.values())) as panel:
        busy = threading.local()

        def work(_: object) -> None:
            if not getattr(busy, "working", False):
                busy.working = True
                panel.refresh_page()
                busy.working = False

        panel.observe(work, "value")
        for _ in range(3):
            refreshing = threading.Thread(target=panel.refresh, daemon=True)
            refreshing.start()
            tick(panel)
            refreshing.join(30)
            assert not refreshing.is_alive()


def test_a_closed_client_is_said_once_with_what_to_do(stranger, service, rooms):
    """By each panel that shows its rooms; ticks go on asking nobody."""
    model = RoomsModel(stranger, list(rooms.values()))
    explorer, occupancy = RoomExplorer(stranger, model), OccupancyPanel(stranger, model, every=0.5)
    assert explorer.value is not None
    stranger.close()
    with pytest.raises(ck.ConfigError):
        explorer.refresh()
    tries = model.outage.tries
    for _ in range(2):
        tick(occupancy)
    for panel in (explorer, occupancy):
        [message] = panel.frame.messages
        assert message["text"].startswith("this client is closed. Connect again.")
        assert "make a new one" in message["text"]
    assert model.outage.tries == tries
    assert occupancy.value["users"].tolist() == [3, 1, 0]
    occupancy.close()


def test_panels_of_one_model_read_each_room_once_and_share_the_pick(client, sandbox):
    """Two calls a room and one for all devices, whichever panel begins; what one reads the other
    shows; a room that is picked in one is picked in the other, and closed again."""
    sandbox.simulate(rooms=20, days=0)
    model, before = RoomsModel(client, sandbox.room_ids()), sandbox.count()
    sandbox.fault(GET, delay=1.0, times=1)  # the second panel is there before the first has read
    explorer, occupancy = RoomExplorer(client, model), OccupancyPanel(client, model, every=0)
    assert len(explorer.value) == len(occupancy.value) == 20
    assert sandbox.count() - before <= 2 * 20 + 2  # and a token
    first, second = model.ids[:2]
    explorer.select(first)
    assert occupancy.wait(20)
    assert occupancy.table.chosen == first
    assert "<svg" in occupancy.curve.view.html
    occupancy.table.choose(second)
    assert explorer.wait(20)
    assert (explorer.selected.room_id, explorer.table.chosen) == (second, second)
    sandbox.join(second, "Ada")
    occupancy.refresh()
    assert explorer.value["read_at"].min() == occupancy.value["read_at"].min()
    explorer.select(None)
    assert occupancy.wait(20)
    assert occupancy.curve.layout.display == "none"
    with ck.connect("sandbox") as other, pytest.raises(ck.ConfigError, match="another client"):
        RoomExplorer(other, model)
    occupancy.close()


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
        tries = panel.model.outage.tries
        until(panel, lambda: panel.model.outage.tries > tries)
        assert not panel.frame.messages
        panel.refresh()
        assert said(panel, "service")["tone"] == "bad"


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
