"""`capacity_report`: from samples to the cap that each room should have."""

import json
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.occupancy.made import record, samples, steady, sweep


def report(*frames: pd.DataFrame, tz: str = "UTC") -> pd.DataFrame:
    """The report on these samples, by room."""
    return ck.capacity_report(pd.concat(frames), tz).set_index("room_id")


def month_of_meetings(tz: str) -> pd.DataFrame:
    """28 local days, a sample every five minutes: four people daily from 9 to 12, twenty for an
    hour on Mondays, forty for an hour once. A clock change lies in it."""
    local = pd.date_range("2026-03-09", "2026-04-06", freq="5min", tz=tz, inclusive="left")
    people = pd.Series(0, index=local)
    people[(local.hour >= 9) & (local.hour < 12)] = 4
    people[(local.day_of_week == 0) & (local.hour == 14)] = 20
    people[(local.date == date(2026, 3, 29)) & (local.hour == 16)] = 40
    frame = steady(people, devices=0, attendee_max=100)
    return frame.assign(time=local.tz_convert("UTC").as_unit("ms"))


LATER = {"start": "2026-06-01T00:06Z"}
FULL = "so true demand is unknown: "
NOTHING = "no forecast"
UNKNOWN = "devices may be counted as people"


def both(*frames: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(frames)


@pytest.mark.parametrize(
    ("frame", "figures", "reason"),
    [
        # the rarest and largest meeting sizes the room, although most minutes in use have four
        *(
            (
                month_of_meetings(tz),
                "suggested 40, peak 40, p50 4, p95 20, p99 40, minutes_in_use 5340, coverage 1",
                f"peak 40 in 4 weeks, cap 100; {NOTHING}",
            )
            for tz in ("Europe/Berlin", "America/St_Johns")
        ),
        # minutes at the cap are counted by the cap of the time, and beyond it, too
        (
            both(
                steady([7, 8, 9, 10, 12, 1], attendee_max=10),
                steady([10, 16, 19], attendee_max=20, **LATER),
            ),
            "minutes_full 2, attendee_max 20, suggested 19",
            f"at its cap for 2 min, {FULL}19 may be too low",
        ),
        # the column stays in minutes; the sentence is for people
        (
            steady([10] * 3450, attendee_max=10),
            "minutes_full 3450",
            f"at its cap for 2.4 days, {FULL}10 may be too low",
        ),
        # of a single sweep nobody knows how long it stands for
        (
            steady([3], attendee_max=3),
            "peak 3, suggested 3, minutes_in_use None",
            f"at its cap, {FULL}3 may be too low",
        ),
        # none, 0 and less are no cap: nothing is at it
        *(
            (
                steady([50, 60], attendee_max=cap),
                "minutes_full 0, attendee_max None, suggested 60",
                f"peak 60 in 2 min, no cap; {NOTHING}",
            )
            for cap in (0, None, -1)
        ),
        # a sample that failed does not hide the cap; one that read that there is none does
        (
            both(steady([1, 1], attendee_max=10), steady([None], ret=504, **LATER)),
            "attendee_max 10",
            f"peak 1 in 9 min, cap 10; {NOTHING}",
        ),
        (
            both(steady([1, 1], attendee_max=10), steady([1], **LATER)),
            "attendee_max None",
            f"peak 1 in 9 min, no cap; {NOTHING}",
        ),
        # devices are users, which a cap counts, but no people
        (
            steady([5, 5], people=4, devices=1, attendee_max=5),
            "suggested 5, p50 5, minutes_full 2",
            f"at its cap for 2 min, {FULL}5 may be too low",
        ),
        (steady([0, 0]), "suggested None, p50 None, peak 0", "never used"),
        (steady([0, 0], people=None, ret=310), "suggested None", "never used"),
        (
            steady([1, 1, 1, 2], people=0, devices=1, attendee_max=5),
            "minutes_in_use 0, peak 2, p50 None, suggested None",
            "never used; only devices were present",
        ),
        # a sample in which people were not told apart makes a room neither used nor idle
        (
            both(steady([1, 1], people=0, devices=1), steady([1], people=None, ret=310, **LATER)),
            "minutes_in_use 0",
            "never used; only devices were present",
        ),
        # where they never were, users are taken for people
        (
            steady([1, 1, 0], people=None, ret=310),
            "minutes_in_use 2",
            f"peak 1 in 3 min, no cap; {NOTHING}; {UNKNOWN}",
        ),
        # a failed sample lowers the coverage and nothing else
        (
            steady([4, None, None, 4], ret=504),
            "samples 2, coverage 0.5, p50 4, minutes_in_use 2",
            f"peak 4 in 4 min, no cap; {NOTHING}",
        ),
        (
            steady([None, None], ret=404),
            "samples 0, coverage 0, peak None, suggested None, minutes_in_use None",
            "could not be read",
        ),
        # a pause is no use, and what was due in it is owed
        (
            both(steady([3] * 10), steady([3] * 10, start="2026-06-01T01:30Z")),
            "minutes_in_use 20, coverage 0.2",
            f"peak 3 in 1 h 40 min, no cap; {NOTHING}",
        ),
        # samples in any order, and twice; of two at one time one that was read counts
        (
            both(steady([None] * 4, ret=504), steady([0, 3, 3, 0])[::-1], steady([0, 3])),
            "peak 3, coverage 1, minutes_in_use 2",
            f"peak 3 in 4 min, no cap; {NOTHING}",
        ),
    ],
)
def test_what_a_room_comes_to(frame, figures, reason):
    """Each figure follows from the samples, and is missing where they do not tell."""
    [room] = report(frame).to_dict("records")
    for figure in figures.split(", "):
        name, value = figure.split(" ")
        expected = None if value == "None" else float(value)
        assert (None if pd.isna(room[name]) else room[name]) == expected, name
    assert room["reason"] == reason


def test_percentiles_are_those_of_the_samples_in_use():
    """The smallest number of users that this share of the samples in use does not exceed."""
    users = [int(value) for value in np.random.default_rng(3).integers(0, 30, 997)]
    [room] = report(steady(users)).to_dict("records")
    used = [count for count in users if count]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert room[name] == np.quantile(used, share, method="inverted_cdf")


def test_each_room_is_judged_by_its_own_schedule():
    """A room that came later owes nothing before; one that vanished owes what followed. Rooms that
    are recorded at other times or intervals keep their own minutes and coverage, and people of all
    of them are added up."""
    whole, vanished = steady([1] * 10), steady([1] * 5, room="vanished")
    later = steady([1] * 5, start="2026-06-01T00:05Z", room="later")
    coverage = report(whole, later, vanished)["coverage"].to_dict()
    assert coverage == {"a": 1.0, "later": 1.0, "vanished": 0.5}
    one = steady([2] * 60, room="one")
    two = steady([3] * 60, start="2026-06-01T00:00:20Z", room="two")
    slow = steady([7] * 12, start="2026-06-01T00:00:40Z", every="300s", room="slow")
    found = report(one, two, slow)
    assert set(found["coverage"]) == {1.0}
    assert set(found["minutes_in_use"]) == {60}
    assert found.attrs["totals"]["people_peak"] == 2 + 3 + 7


def test_totals_are_of_all_rooms_at_once():
    """The totals hold the most people at one time, and when that was; they go into JSON
    as they are. Two sweeps of the same rooms within one interval are two looks at the same
    people. Where people could not be told apart, they are not known."""
    a = steady([1, 9, 5, 0], devices=0)
    b = steady([9, 2, 6, 1], room="b", people=None).assign(people=[8, 1, 5, 0], devices=1)
    found = report(a, b.astype(a.dtypes), tz="Asia/Kathmandu")
    assert found.attrs["timezone"] == "Asia/Kathmandu"
    assert json.loads(json.dumps(found.attrs["totals"])) == {
        "rooms": 2,
        "since": "2026-06-01T05:45:00+05:45",
        "until": "2026-06-01T05:48:00+05:45",
        "people_peak": 10,
        "people_peak_at": "2026-06-01T05:46:00+05:45",
    }
    again = steady([5], start="2026-06-01T00:03:05Z")
    assert report(steady([5] * 10), again).attrs["totals"]["people_peak"] == 5
    for users in ([2, 2, 0], [None, None]):
        frame = steady(users, people=None, ret=302)
        assert report(frame).attrs["totals"]["people_peak"] is None


def test_a_folder_gives_the_same_as_its_samples(tmp_path, monkeypatch):
    """A folder, whatever its name, gives the report of its samples; it names its service and its
    zone, which is the local one unless another is given."""
    monkeypatch.setenv("TZ", "UTC")
    folder = tmp_path / "it's [a] *folder?"
    times = pd.date_range("2026-06-01", periods=18, freq="2h", tz="UTC")
    sweeps = [sweep(str(time), "abc", users=time.day) for time in times]
    record(folder, *sweeps, service="prod")
    expected = ck.capacity_report(pd.concat(sweeps), "UTC")
    found = ck.capacity_report(str(folder))
    assert (found.attrs["service"], found.attrs["timezone"]) == ("prod", "UTC")
    pd.testing.assert_frame_equal(found, expected)


def test_nothing_gives_an_empty_report_of_the_same_types(tmp_path):
    """No samples give a report without rows, with the columns and types of a full one."""
    full = ck.capacity_report(steady([1]))
    assert set(full.dtypes.astype(str)) == {"string", "Int64", "Float64"}
    for source, risk in ((tmp_path, None), (samples([]), None), (samples([]), 0.1)):
        report = ck.capacity_report(source, risk=risk)
        assert len(report) == 0
        assert report.attrs["totals"]["people_peak"] is None
        assert report.dtypes.equals(full.dtypes)


@pytest.mark.parametrize("count", [ck.capacity_report, ck.meetings])
def test_samples_are_those_of_one_service(tmp_path, count):
    """Rooms of two services may have the same IDs: of two it says how to take one."""
    frame = steady([1])
    for service in ("one.example", "two.example"):
        frame.attrs["service"] = service
        ck.save_occupancy(frame, tmp_path)
    with pytest.raises(ck.ConfigError, match=r"one\.example, two\.example") as refused:
        count(tmp_path)
    chosen = refused.value.advice.partition("of one: ")[2].rstrip(".")
    found = count(eval(chosen, {"samples": ck.load_occupancy(tmp_path)}))
    assert found.attrs["service"] == "one.example"


# With a risk, a window of ten days


def daily(*peaks: int | None, room: str = "a", **others: object) -> pd.DataFrame:
    """A room that is read once a day, with so many users for ten days each up to the same last
    day; None: not read."""
    start = pd.Timestamp("2026-07-01T00:00Z") - 10 * len(peaks) * pd.Timedelta(days=1)
    others = {"start": start, "every": "1D", "room": room, "attendee_max": 100, **others}
    frame = steady([peak for peak in peaks for _ in range(10)], **others)
    return frame[frame["users"].notna()]


def at_risk(*frames: pd.DataFrame, risk: float = 0.5) -> pd.DataFrame:
    """The report on these rooms."""
    return ck.capacity_report(pd.concat(frames), "UTC", risk, "10d").set_index("room_id")


GROWTH = [daily(10, later, room=f"{later}") for later in (11, 12, 15, 20)]
ALIKE = [daily(10, 15, room=f"other {number}") for number in range(4)]
AT_RISK = "in the last 10 days, times 1.50 for a risk of 50 %"


def test_a_cap_at_risk_is_the_last_peak_times_a_quantile_of_how_peaks_grow():
    """The ratio is that of a rank: of four, the third is exceeded by at most one of two, the fourth
    by one of five, and none by fewer."""
    found = at_risk(*GROWTH)
    assert found["suggested"].to_dict() == {"11": 16, "12": 18, "15": 22, "20": 30}
    assert found["reason"]["15"] == f"peak 15 {AT_RISK}"
    attrs = {name: found.attrs[name] for name in ("risk", "ahead", "pairs")}
    assert attrs == {"risk": 0.5, "ahead": "10 days", "pairs": 4}
    assert at_risk(*GROWTH, risk=0.2)["suggested"].to_list() == [22, 24, 30, 40]
    found = at_risk(*GROWTH, risk=0.19)
    assert found["suggested"].isna().all()
    assert set(found["reason"]) == {
        "only 4 pairs of consecutive windows of 10 days; a risk of 19 % needs 5"
    }


AT_CAP = f"at its cap for 10 days, {FULL}no cap is suggested"
UNREAD = "read for less than four fifths of the last 10 days"


@pytest.mark.parametrize(
    ("room", "pairs", "suggested", "reason"),
    [
        (daily(1, 1), 1, 1, f"peak 1 {AT_RISK}"),
        (daily(30, 20, 10, 20), 3, 30, f"peak 20 {AT_RISK}"),
        # of a room at its cap nobody knows who else wanted to come
        (daily(40, 10, attendee_max=40), 0, None, AT_CAP),
        (daily(1, 1, people=0, devices=1), 0, None, "never used; only devices were present"),
        # from nobody there is no ratio; to nobody there is
        (daily(0, 10), 0, 15, f"peak 10 {AT_RISK}"),
        (daily(10, 0), 1, None, "empty in the last 10 days"),
        # latecomers, gaps, and rooms that are read no longer
        (daily(None, 10), 0, 15, f"peak 10 {AT_RISK}"),
        (daily(10, None, 20), 0, 30, f"peak 20 {AT_RISK}"),
        (daily(10, None), 0, None, UNREAD),
        (daily(10, 10)[:-2], 1, 15, f"peak 10 {AT_RISK}"),
        (daily(10, 10)[:-3], 0, None, UNREAD),
        (daily(None, 10)[2:], 0, 15, f"peak 10 {AT_RISK}"),
        # a room without a cap can be given one
        (daily(10, 10, attendee_max=None), 1, 15, f"peak 10 {AT_RISK}"),
    ],
)
def test_a_room_counts_and_gets_a_number_by_what_was_seen_of_it(room, pairs, suggested, reason):
    """Or words that say why there is no number; the rooms beside it get theirs."""
    found = at_risk(room, *ALIKE)
    assert found.attrs["pairs"] == len(ALIKE) + pairs
    assert found["reason"]["a"].startswith(reason)
    assert (None if pd.isna(found["suggested"]["a"]) else found["suggested"]["a"]) == suggested
    assert set(found["suggested"].drop("a")) == {22}


def test_a_window_that_is_not_whole_compares_nothing():
    """Nineteen days hold one window of ten."""
    found = at_risk(*(frame.iloc[1:] for frame in ALIKE))
    assert found.attrs["pairs"] == 0
    assert found["reason"].iloc[0] == (
        "only 0 pairs of consecutive windows of 10 days; a risk of 50 % needs 1"
    )


def test_caps_at_a_risk_of_10_percent_are_exceeded_by_at_most_13():
    """In the four weeks after the recording, over buildings of the sandbox."""
    exceeded = []
    with Sandbox() as sandbox:
        for seed in range(40, 48):
            options = {"rooms": 60, "every": 900, "until": "2026-03-12 18:00", "seed": seed}
            past = sandbox.simulate(days=140, **options)
            later = past[past["time"] > past["time"].max() - timedelta(weeks=4)]
            found = ck.capacity_report(past.drop(later.index), "UTC", risk=0.10)
            peaks = later.groupby("room_id")["users"].max()
            found = found.dropna(subset=["suggested"])
            exceeded.append(found["room_id"].map(peaks) > found["suggested"])
    assert len(pd.concat(exceeded)) > 250
    assert 0 < pd.concat(exceeded).mean() <= 0.13


@pytest.mark.parametrize(
    "options",
    [
        *({"risk": risk} for risk in (0, 1, float("nan"), "0.1", True)),
        *({"risk": 0.1, "ahead": ahead} for ahead in ("soon", 4, "0d", timedelta(0))),
    ],
)
def test_what_is_no_share_or_no_time_is_refused(options):
    """The error shows an example."""
    with pytest.raises(ck.ConfigError, match=r"such as '4w'|such as 0\.10"):
        ck.capacity_report(steady([1]), **options)
