"""`capacity_report`: from samples to the cap that each room should have."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import confkit as ck
from confkit.sandbox import Sandbox
from tests.occupancy.made import record, samples, steady, sweep


def report(*frames, tz="UTC", **options):
    """The report on these samples, by room."""
    return ck.capacity_report(pd.concat(frames), tz, **options).set_index("room_id")


def clock_change():
    """28 days in Berlin, in which the clock changes: 4 people daily from 9 to 12, once 40."""
    local = pd.date_range(
        "2026-03-09", "2026-04-06", freq="5min", tz="Europe/Berlin", inclusive="left"
    )
    people = pd.Series(0, index=local)
    people[(local.hour >= 9) & (local.hour < 12)] = 4
    people["2026-03-29 16:00":"2026-03-29 16:59"] = 40
    frame = steady(people, devices=0, attendee_max=100)
    return frame.assign(time=local.tz_convert("UTC").as_unit("ms"))


LATER = {"start": "2026-06-01T00:06Z"}
FULL = "so true demand is unknown: "
UNKNOWN = "; devices may be counted as people"
# The samples, some figures of the report, and its reason.
ROOMS = {
    "the largest meeting counts": (
        [clock_change()],
        "suggested 40, peak 40, p50 4, p95 4, p99 40, minutes_in_use 5100, coverage 1",
        "peak 40 in 4 weeks, cap 100; no forecast",
    ),
    "minutes at and above the cap of the time": (
        [
            steady([7, 8, 9, 10, 12, 1], attendee_max=10),
            steady([10, 16, 19], attendee_max=20, **LATER),
        ],
        "minutes_full 2, attendee_max 20, suggested 19",
        f"at its cap for 2 min, {FULL}19 may be too low",
    ),
    "a single sweep has no length": (
        [steady([3], attendee_max=3)],
        "peak 3, suggested 3, minutes_in_use None",
        f"at its cap, {FULL}3 may be too low",
    ),
    "0 is no cap": (
        [steady([50, 60], attendee_max=0)],
        "minutes_full 0, attendee_max None, suggested 60",
        "peak 60 in 2 min, no cap; no forecast",
    ),
    "a failed sample keeps the cap": (
        [steady([1, 1], attendee_max=10), steady([None], ret=504, **LATER)],
        "attendee_max 10",
        "peak 1 in 9 min, cap 10; no forecast",
    ),
    "a sample that read no cap does not": (
        [steady([1, 1], attendee_max=10), steady([1], **LATER)],
        "attendee_max None",
        "peak 1 in 9 min, no cap; no forecast",
    ),
    "a cap counts devices": (
        [steady([5, 5], people=4, devices=1, attendee_max=5)],
        "suggested 5, p50 5, minutes_full 2",
        f"at its cap for 2 min, {FULL}5 may be too low",
    ),
    "nobody": ([steady([0, 0], people=None, ret=310)], "suggested None, peak 0", "never used"),
    "devices are nobody": (
        [steady([1, 1], people=0, devices=1), steady([1], people=None, ret=310, **LATER)],
        "minutes_in_use 0, peak 1, p50 None, suggested None",
        "never used; only devices were present",
    ),
    "people that were never told from devices": (
        [steady([1, 1, 0], people=None, ret=310)],
        "minutes_in_use 2",
        f"peak 1 in 3 min, no cap; no forecast{UNKNOWN}",
    ),
    "a failed sample lowers the coverage alone": (
        [steady([4, None, None, 4], ret=504)],
        "samples 2, coverage 0.5, p50 4, minutes_in_use 2",
        "peak 4 in 4 min, no cap; no forecast",
    ),
    "never read": (
        [steady([None, None], ret=404)],
        "samples 0, coverage 0, peak None, suggested None, minutes_in_use None",
        "could not be read",
    ),
    "a pause": (
        [steady([3] * 10), steady([3] * 10, start="2026-06-01T01:30Z")],
        "minutes_in_use 20, coverage 0.2",
        "peak 3 in 1 h 40 min, no cap; no forecast",
    ),
    "in any order, and twice": (
        [steady([None] * 4, ret=504), steady([0, 3, 3, 0])[::-1], steady([0, 3])],
        "peak 3, coverage 1, minutes_in_use 2",
        "peak 3 in 4 min, no cap; no forecast",
    ),
}


@pytest.mark.parametrize("name", ROOMS)
def test_figures_and_reason_of_a_room(name):
    frames, figures, reason = ROOMS[name]
    [room] = report(*frames).to_dict("records")
    for figure in figures.split(", "):
        column, value = figure.split(" ")
        expected = None if value == "None" else float(value)
        assert (None if pd.isna(room[column]) else room[column]) == expected, column
    assert room["reason"] == reason


def test_percentiles_are_those_of_the_samples_in_use():
    users = [int(value) for value in np.random.default_rng(3).integers(0, 30, 997)]
    [room] = report(steady(users)).to_dict("records")
    used = [count for count in users if count]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        assert room[name] == np.quantile(used, share, method="inverted_cdf")


def test_each_room_has_its_own_schedule():
    """A later room owes nothing before, a vanished one what followed; intervals may differ."""
    result = report(
        steady([1] * 60),
        steady([1] * 30, room="vanished"),
        steady([1] * 30, start="2026-06-01T00:30Z", room="later"),
        steady([1] * 12, start="2026-06-01T00:00:40Z", every="300s", room="slow"),
    )
    assert result["coverage"].to_dict() == {"a": 1, "later": 1, "slow": 1, "vanished": 0.5}
    assert result["minutes_in_use"].to_dict() == {"a": 60, "later": 30, "slow": 60, "vanished": 30}


def test_a_folder_gives_the_report_of_its_samples(tmp_path, monkeypatch):
    """With its service, and its span in local time unless a zone is named."""
    monkeypatch.setenv("TZ", "UTC")
    folder = tmp_path / "it's [a] *folder?"
    times = pd.date_range("2026-06-01", periods=18, freq="2h", tz="UTC")
    sweeps = [sweep(str(time), "abc", users=time.day) for time in times]
    record(folder, *sweeps, service="prod")
    result = ck.capacity_report(str(folder))
    assert (result.attrs["service"], result.attrs["timezone"]) == ("prod", "UTC")
    pd.testing.assert_frame_equal(result, ck.capacity_report(pd.concat(sweeps), "UTC"))
    totals = ck.capacity_report(folder, "Asia/Kathmandu").attrs["totals"]
    edges = {"since": "2026-06-01T05:45:00+05:45", "until": "2026-06-02T15:45:00+05:45"}
    assert totals == {"rooms": 3, **edges}


@pytest.mark.parametrize("risk", [None, 0.1])
def test_no_samples_give_an_empty_report_of_the_same_types(tmp_path, risk):
    full = ck.capacity_report(steady([1]))
    assert set(full.dtypes.astype(str)) == {"string", "Int64", "Float64"}
    for source in (tmp_path, samples([])):
        empty = ck.capacity_report(source, risk=risk)
        assert (len(empty), empty.attrs["totals"]["rooms"]) == (0, 0)
        assert empty.dtypes.equals(full.dtypes)


@pytest.mark.parametrize("evaluate", [ck.capacity_report, ck.meetings])
def test_samples_of_two_services_are_refused(tmp_path, evaluate):
    """The code of the advice selects those of one."""
    frame = steady([1])
    for service in ("one.example", "two.example"):
        frame.attrs["service"] = service
        ck.save_occupancy(frame, tmp_path)
    with pytest.raises(ck.ConfigError, match=r"one\.example, two\.example") as refused:
        evaluate(tmp_path)
    selection = refused.value.advice.partition("of one: ")[2].rstrip(".")
    result = evaluate(eval(selection, {"samples": ck.load_occupancy(tmp_path)}))
    assert result.attrs["service"] == "one.example"


# With a risk, and windows of ten days


def daily(*peaks, room="a", **others):
    """A room that is read once a day, with so many users for ten days each up to the same last
    day; None: not read."""
    start = pd.Timestamp("2026-07-01T00:00Z") - 10 * len(peaks) * pd.Timedelta(days=1)
    others = {"start": start, "every": "1D", "room": room, "attendee_max": 100, **others}
    frame = steady([peak for peak in peaks for _ in range(10)], **others)
    return frame[frame["users"].notna()]


def at_risk(*frames, risk=0.5):
    return report(*frames, risk=risk, ahead="10d")


GROWTH = [daily(10, later, room=f"{later}") for later in (11, 12, 15, 20)]
ALIKE = [daily(10, 15, room=f"other {number}") for number in range(4)]
AT_RISK = "in the last 10 days, times 1.50 for a risk of 50 %"
UNREAD = "read for less than four fifths of the last 10 days"
LONGER = ": record longer, or pass a shorter ahead="
TOO_FEW = "pairs of consecutive windows of 10 days; a risk of"


def test_a_cap_is_the_last_peak_times_a_quantile_of_growth():
    """Of four ratios the third is exceeded by two of five, the fourth by one, none by fewer."""
    result = at_risk(*GROWTH)
    assert result["suggested"].to_dict() == {"11": 16, "12": 18, "15": 22, "20": 30}
    assert result["reason"]["15"] == f"peak 15 {AT_RISK}"
    attrs = {name: result.attrs[name] for name in ("risk", "ahead", "pairs")}
    assert attrs == {"risk": 0.5, "ahead": "10 days", "pairs": 4}
    assert at_risk(*GROWTH, risk=0.2)["suggested"].to_list() == [22, 24, 30, 40]
    result = at_risk(*GROWTH, risk=0.19)
    assert result["suggested"].isna().all()
    assert set(result["reason"]) == {f"only 4 {TOO_FEW} 19 % needs 5{LONGER}"}
    cut = at_risk(*(frame.iloc[1:] for frame in ALIKE))  # 19 days hold one window of ten
    assert set(cut["reason"]) == {f"only 0 {TOO_FEW} 50 % needs 1{LONGER}"}


@pytest.mark.parametrize(
    ("room", "pairs", "suggested", "reason"),
    [
        (daily(1, 1), 1, 1, f"peak 1 {AT_RISK}"),
        (daily(30, 20, 10, 20), 3, 30, f"peak 20 {AT_RISK}"),
        # of a room at its cap nobody knows who else wanted to come
        (daily(40, 10, attendee_max=40), 0, None, f"at its cap for 10 days, {FULL}no cap is sug"),
        (daily(1, 1, people=0, devices=1), 0, None, "never used; only devices were present"),
        # from nobody there is no ratio; to nobody there is
        (daily(0, 10), 0, 15, f"peak 10 {AT_RISK}"),
        (daily(10, 0), 1, None, "empty in the last 10 days"),
        # latecomers, gaps, and rooms that are read no longer
        (daily(10, None, 20), 0, 30, f"peak 20 {AT_RISK}"),
        (daily(10, None), 0, None, UNREAD),
        (daily(10, 10)[:-2], 1, 15, f"peak 10 {AT_RISK}"),
        (daily(10, 10)[:-3], 0, None, UNREAD),
        (daily(None, 10)[2:], 0, 15, f"peak 10 {AT_RISK}"),
        # a room without a cap can be given one
        (daily(10, 10, attendee_max=None), 1, 15, f"peak 10 {AT_RISK}"),
    ],
)
def test_a_room_gets_a_number_or_the_reason_why_not(room, pairs, suggested, reason):
    """The rooms beside it get theirs."""
    result = at_risk(room, *ALIKE)
    assert result.attrs["pairs"] == len(ALIKE) + pairs
    assert result["reason"]["a"].startswith(reason)
    number = result["suggested"]["a"]
    assert (None if pd.isna(number) else number) == suggested
    assert set(result["suggested"].drop("a")) == {22}


def test_caps_of_risk_10_percent_are_exceeded_by_at_most_13():
    """In the four weeks after the recording, over unseen buildings of the sandbox."""
    exceeded = []
    with Sandbox() as sandbox:
        for seed in range(40, 48):
            options = {"rooms": 60, "every": 900, "until": "2026-03-12 18:00", "seed": seed}
            past = sandbox.simulate(days=140, **options)
            later = past[past["time"] > past["time"].max() - timedelta(weeks=4)]
            result = report(past.drop(later.index), risk=0.10).dropna(subset=["suggested"])
            peaks = later.groupby("room_id")["users"].max().reindex(result.index)
            exceeded.append(peaks > result["suggested"])
    assert len(pd.concat(exceeded)) > 250
    assert 0 < pd.concat(exceeded).mean() <= 0.13


@pytest.mark.parametrize(
    "options",
    [
        *({"risk": risk} for risk in (0, 1, float("nan"), "0.1")),
        *({"risk": 0.1, "ahead": ahead} for ahead in ("soon", 4, "0d")),
    ],
)
def test_an_impossible_risk_or_window_is_refused(options):
    with pytest.raises(ck.ConfigError, match=r"such as '4w'|such as 0\.10"):
        ck.capacity_report(steady([1]), **options)
