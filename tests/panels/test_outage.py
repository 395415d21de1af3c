"""What panels of rooms show while the service is away, and what they read by themselves."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import confkit as ck
from confkit.panels import OccupancyPanel, RoomExplorer, RoomsModel
from confkit.panels.parts.table import PAGE
from confkit.sandbox import Sandbox
from tests.panels.pressing import GET, MCU, USERS, heard, read_out
from tests.scripted import AUTHENTICATE


@pytest.fixture
def rooms(client, sandbox) -> dict[str, str]:
    """A full room, one in use, and an empty one."""
    ids = {}
    for topic, people in (("full", 3), ("used", 1), ("empty", 0)):
        ids[topic] = ck.create_room(client, topic, "ops", attendee_max=3)
        for number in range(people):
            sandbox.join(ids[topic], f"{topic} {number}")
    return ids


def go(sandbox: Sandbox) -> None:
    """The service answers nobody any more."""
    for path in (GET, USERS, AUTHENTICATE):
        sandbox.fault(path, drop=True)


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


def until(panel, true: Callable[[], object]) -> None:
    """Ticks, as the browser does while somebody sees the panel, until it is so."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        heard(panel, "tick")
        time.sleep(0.05)


def said(panel) -> tuple[str, str]:
    """The text and the tone of the one message in the panel."""
    [message] = panel.frame.messages
    return message["text"], message["tone"]


def bars(panel) -> list[str]:
    """What stands in the cells of occupancy, from the top."""
    name = "fullness" if isinstance(panel, OccupancyPanel) else "utilisation"
    place = [column[0] for column in panel.table.columns].index(name)
    return [cells[place]["text"] for _, cells in panel.table.rows]


@pytest.mark.parametrize("kind", [OccupancyPanel, RoomExplorer])
def test_rows_keep_their_last_values_and_places_in_an_outage_and_say_how_old_they_are(
    kind, client, sandbox, rooms
):
    """Nothing sinks, rises, or counts as empty; `value` says when each room was read and why not
    since; one alert counts the rooms; after the outage the panel says so by itself."""
    usual = ["3 of 3, full", "1 of 3", "0 of 3, empty"]
    with shown(kind, client, list(rooms.values())) as panel:
        before = panel.value
        go(sandbox)
        heard(panel, "tick")
        frame = panel.value
        for column in ("room_id", "topic", "users", "attendee_max", "utilisation", "read_at"):
            assert frame[column].equals(before[column])
        assert frame["error"].str.contains("closed the connection").all()
        assert [text.rpartition(", ")[0] for text in bars(panel)] == usual
        assert all(text.endswith(" old") for text in bars(panel))
        alert, tone = said(panel)
        for told in ("3 rooms keep their last known values", "; next try at ", "closed the conn"):
            assert told in alert
        assert tone == "bad"
        sandbox.clear_faults()
        until(panel, lambda: panel.value["error"].isna().all())
        assert (panel.value["read_at"] > before["read_at"].max()).all()
        alert, tone = said(panel)
        assert "has been answering again since " in alert
        assert tone == "good"
        assert bars(panel) == usual


def test_the_head_counts_unread_rooms_by_what_was_last_known(client, sandbox, rooms):
    """In an outage none of them counts as "0 full", and the panel says how many were not read; a
    room that was never read stays missing; the curve of a picked room keeps its topic, and no old
    value becomes a sample."""
    with shown(OccupancyPanel, client, [*rooms.values(), "0000000001"]) as panel:
        panel.select(rooms["full"])
        go(sandbox)
        heard(panel, "tick")
        counts = [one for one in panel.counts.children if one.layout.display != "none"]
        assert " ".join(one.description for one in counts) == (
            "1 full 0 nearly full 0 over 1 in use 1 empty 4 not read"
        )
        assert panel.value[["users", "read_at"]].isna().all(axis=1).tolist() == [0, 0, 0, 1]
        assert "3 rooms keep" in panel.frame.text
        assert ", the oldest " in panel.table.told
        assert 'aria-label="full: ' in panel.curve.view.html
        assert panel.samples(rooms["full"])["users"].dropna().tolist() == [3]


def test_some_rooms_that_fail_keep_what_was_read_and_are_named(client, sandbox, rooms):
    """What could be read is new, what could not is as it was, with its age; rooms are counted, not
    calls, and nothing is called an outage."""
    with shown(RoomExplorer, client, list(rooms.values()), every=0) as panel:
        first = panel.value
        sandbox.fault(USERS, ret=504)
        frame = panel.refresh()
        for column in ("users", "read_at"):
            assert frame[column].equals(first[column])
        assert frame["error"].str.contains("504").all()
        assert all("as of " in text for text in bars(panel))
        told, tone = said(panel)
        assert told.startswith("3 of 3 rooms could not be read, all")
        assert tone == "bad"
        sandbox.clear_faults()
        sandbox.fault(GET, ret=504)
        sandbox.join(rooms["empty"], "Ada")
        frame = panel.refresh().set_index("room_id")
        assert frame.loc[rooms["empty"], ["topic", "users"]].tolist() == ["empty", 0]
        assert frame["attendee_max"].tolist() == [3, 3, 3]
        assert (frame["read_at"] <= first["read_at"].max()).all()


def test_a_room_that_is_deleted_is_not_shown_as_it_was(client, rooms):
    """That the service does not have it is an answer, and no reason to keep old values."""
    with shown(OccupancyPanel, client, list(rooms.values())) as panel:
        ck.delete_room(client, rooms["full"])
        row = panel.refresh().set_index("room_id").loc[rooms["full"]]
        assert row[["users", "topic"]].isna().all()
        assert "room not found" in row["error"]


@pytest.mark.parametrize("known", [False, True])
def test_automatic_reading_after_a_first_one_that_failed(sandbox, client, rooms, known):
    """A panel that was made in an outage shows its rooms once the service is there. Where even the
    rooms are not known, that is no empty building: `value` raises why."""
    go(sandbox)
    client._token.value = None  # so that no room is asked, and the error raised
    panel = OccupancyPanel(client, None if known else list(rooms.values()), every=0.5)
    assert panel.wait(20)
    if known:
        with pytest.raises(ck.TransportError):
            _ = panel.value
    else:
        assert panel.value["users"].isna().all()
        assert panel.value["error"].str.contains("closed the connection").all()
    assert "no room has been read yet; next try at" in said(panel)[0]
    sandbox.clear_faults()
    until(panel, lambda: said(panel)[1] == "good")
    assert sorted(panel.value["users"]) == [0, 1, 3]
    panel.close()


def test_a_dismissed_outage_stays_dismissed_until_somebody_asks(client, sandbox, rooms):
    """What goes on by itself says it once; a reading by hand says it again, once, also where not
    even a token can be had. Switching automatic refresh off changes what it says."""
    with shown(OccupancyPanel, client, list(rooms.values())) as panel:
        before = panel.value
        go(sandbox)
        heard(panel, "tick")
        for every, told in ((0, "Refresh tries again"), (0.5, "next try at")):
            panel.refresh_every(every)
            assert told in said(panel)[0]
        panel.dismiss("service")
        tries = panel.model.outage.tries
        until(panel, lambda: panel.model.outage.tries > tries)
        assert not panel.frame.messages
        client._token.value = None
        with pytest.raises(ck.TransportError):
            panel.refresh()
        assert said(panel)[1] == "bad"
        assert panel.value["users"].equals(before["users"])


def test_a_full_room_rises_wherever_it_was(client, sandbox):
    """All rooms are read in the background, so that the fullest is on top; hidden panels read
    nothing."""
    ids = [ck.create_room(client, f"room {n}", "ops", attendee_max=2) for n in range(PAGE + 5)]
    with shown(OccupancyPanel, client, ids, every=2, background_rate=200) as panel:
        unseen = next(room_id for room_id in ids if room_id not in panel.table.visible)
        for number in range(2):
            sandbox.join(unseen, f"guest {number}")
        until(panel, lambda: panel.table.visible[0] == unseen)
        assert bars(panel)[0] == "2 of 2, full"
        assert "the oldest" in panel.table.told
        heard(panel, "hidden")
        read_out()
        before = sandbox.count()
        time.sleep(0.5)
        assert (sandbox.count(), sandbox.count(MCU)) == (before, 0)


def test_an_observer_of_the_value_may_begin_work(client, rooms):
    """While another thread refreshes and ticks come, neither waits for the other for ever."""
    with shown(OccupancyPanel, client, list(rooms.values())) as panel:
        busy = threading.local()

        def work(_: object) -> None:
            if not getattr(busy, "working", False):
                busy.working = True
                panel.refresh_page()
                busy.working = False

        panel.observe(work, "value")
        refreshing = threading.Thread(target=panel.refresh, daemon=True)
        refreshing.start()
        heard(panel, "tick")
        refreshing.join(30)
        assert not refreshing.is_alive()


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
    later = OccupancyPanel(client, model, every=0)  # a cell that is run again
    for panel in (occupancy, later):
        assert panel.wait(20)
        assert panel.table.chosen == first
        assert "<svg" in panel.curve.view.html
    later.close()
    occupancy.table.choose(second)
    assert explorer.wait(20)
    assert (explorer.selected.room_id, explorer.table.chosen) == (second, second)
    occupancy.refresh()
    assert {*explorer.value["read_at"]} == {*occupancy.value["read_at"]}
    explorer.select(None)
    assert occupancy.wait(20)
    assert occupancy.curve.layout.display == "none"
    with ck.connect("sandbox") as other, pytest.raises(ck.ConfigError, match="another client"):
        RoomExplorer(other, model)
    occupancy.close()
