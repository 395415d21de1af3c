"""`capacity_report`: from samples to the cap that each room should have."""

import pandas as pd
import pytest

import confkit as ck
from tests.occupancy.made import record, steady


def report(*frames, **options):
    """The report on these samples, by room."""
    return ck.capacity_report(pd.concat(frames), "UTC", **options).set_index("room_id")


FULL = "so true demand is unknown: "
# The samples, some figures of the report, and its reason.
ROOMS = [
    (
        [
            steady([7, 8, 9, 10, 12, 1], attendee_max=10),
            steady([10, 16, 19], attendee_max=20, start="2026-06-01T00:06Z"),
        ],
        {"minutes_full": 2, "attendee_max": 20, "suggested": 19},
        f"at a former cap of 10 for 2 min, {FULL}19 may be too low",
    ),
    (
        [steady(range(101), attendee_max=0)],  # which is no cap
        {"minutes_full": 0, "suggested": 100, "p50": 50, "p99": 99},
        "peak 100 in 1 h 41 min, no cap; no forecast",
    ),
    (  # whose devices could never be read
        [steady([2, 1], people=None, ret=302)],
        {"minutes_in_use": 2, "suggested": 2},
        "peak 2 in 2 min, no cap; no forecast; devices may be counted as people",
    ),
    ([steady([None, None], ret=404)], {"samples": 0, "coverage": 0}, "could not be read"),
    (
        [steady([0, 3, None, 3], ret=504)[::-1], steady([None, 3])],  # in any order, and twice
        {"samples": 3, "coverage": 0.75, "p50": 3, "minutes_in_use": 2},
        "peak 3 in 3 min, no cap; no forecast",
    ),
    (  # whose users could not be read when its cap was changed, and whose devices for a time
        [
            steady([1], attendee_max=10, devices=1).assign(people=pd.array([0], "Int64")),
            steady([7, 7], attendee_max=10, start="2026-06-01T00:01Z", people=None, ret=304),
            steady([None], attendee_max=30, start="2026-06-01T00:03Z", ret=504),
        ],
        {"attendee_max": 30, "peak": 7, "coverage": 0.75},
        "not known whether people were present; the devices were not read for 2 min",
    ),
    (  # a recorder that has changed its interval shortly before the end
        [steady([2] * 500, every="10min"), steady([2] * 300, start="2026-06-04T11:20Z")],
        {"coverage": 1, "minutes_in_use": 5300},
        "peak 2 in 3.7 days, no cap; no forecast",
    ),
    (  # a recorder that has changed its interval
        [steady([8] * 200), steady([2] * 20, start="2026-06-01T03:20Z", every="10min")],
        {"samples": 220, "coverage": 1, "minutes_in_use": 400, "p50": 2},
        "peak 8 in 6 h 40 min, no cap; no forecast",
    ),
]


@pytest.mark.parametrize(("frames", "figures", "reason"), ROOMS)
def test_figures_and_reason_of_a_room(frames, figures, reason):
    [room] = report(*frames).to_dict("records")
    assert {name: room[name] for name in figures} == figures
    assert room["reason"] == reason
    assert pd.isna(room["suggested"]) == ("not read" in reason or "not be read" in reason)


def test_a_single_sample_has_no_minutes():
    """Its interval is not known; it counts as a gap, unless the recording ends with it."""
    result = report(steady([3]), steady([0, 1], room="b"), steady([3, 4], room="c")[1:])
    assert [*result["coverage"]] == [0, 1, 1]
    assert [*result["minutes_in_use"].isna()] == [True, False, True]


def test_a_folder_gives_the_report_of_its_samples(tmp_path):
    """Those of two services are refused."""
    record(tmp_path, steady([1]), service="one.example")
    assert ck.capacity_report(tmp_path).attrs["service"] == "one.example"
    record(tmp_path, steady([1]), service="two.example")
    with pytest.raises(ck.ConfigError, match=r"one\.example, two\.example"):
        ck.capacity_report(tmp_path)


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


ALIKE = [daily(10, 15, room=f"other {number}") for number in range(4)]
AT_RISK = "in the last 10 days, times 1.50 for a risk of 50 %"


def test_a_cap_is_the_last_peak_times_a_quantile_of_growth():
    """Of four ratios the third is exceeded by two of five, the fourth by one, none by fewer."""
    growth = [daily(10, later, room=f"{later}") for later in (11, 12, 15, 20)]
    result = at_risk(*growth)
    assert result["suggested"].to_dict() == {"11": 16, "12": 18, "15": 22, "20": 30}
    assert (result["reason"]["15"], result.attrs["pairs"]) == (f"peak 15 {AT_RISK}", 4)
    result = at_risk(*growth, risk=0.19)
    assert result["suggested"].isna().all()
    assert result["reason"]["11"].startswith("only 4 pairs of consecutive windows of 10 days")


@pytest.mark.parametrize(
    ("room", "pairs", "suggested", "reason"),
    [
        (daily(30, 20, 10, 20), 3, 30, f"peak 20 {AT_RISK}"),
        # of a room at its cap nobody knows who else wanted to come
        (daily(40, 10, attendee_max=40), 0, None, f"at its cap for 10 days, {FULL}no cap is sug"),
        (daily(10, 0), 1, None, "empty in the last 10 days"),
        (daily(10, 10)[:-3], 0, None, "read for less than four fifths of the last 10 days"),
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


@pytest.mark.parametrize("wrong", [{"risk": 0}, {"risk": 0.1, "ahead": "soon"}, {"tz": "No/where"}])
def test_a_wrong_risk_window_or_zone_is_refused(wrong):
    with pytest.raises(ValueError, match=r"such as|Europe/Berlin"):
        ck.capacity_report(steady([1]), **wrong)
