"""`capacity_report`: from samples to the cap that each room should have."""

import json
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest

from confkit.errors import ConfigError
from confkit.occupancy.capacity import capacity_report
from confkit.occupancy.folder import compact, save_occupancy
from tests.occupancy.made import record, samples, steady, sweep


def report(*frames: pd.DataFrame, tz: str = "UTC") -> pd.DataFrame:
    """The report on these samples, by room."""
    return capacity_report(pd.concat(frames), tz).set_index("room_id")


def only(*frames: pd.DataFrame, tz: str = "UTC") -> dict[str, object]:
    """The report of the one room in the frames."""
    (room,) = report(*frames, tz=tz).to_dict("records")
    return room


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


@pytest.mark.parametrize("tz", ["Europe/Berlin", "America/St_Johns"])
def test_four_daily_twenty_weekly_and_forty_monthly_give_forty(tz):
    """The rarest and largest meeting sizes the room: forty, although 95 % of the minutes in use
    have twenty or fewer and most have four."""
    room = only(month_of_meetings(tz), tz=tz)
    assert (room["suggested"], room["peak"]) == (40, 40)
    assert (room["p50"], room["p95"], room["p99"]) == (4, 20, 40)
    assert (room["p50_all"], room["p95_all"], room["p99_all"]) == (0, 4, 4)
    assert room["minutes_in_use"] == 60 * (28 * 3 + 4 + 1)
    assert room["busiest_hour"] == 9
    assert (room["coverage"], room["attendee_max"]) == (1, 100)
    assert room["reason"] == "peak 40 in 4 weeks, cap 100; nothing is promised"


def test_percentiles_are_those_of_the_samples():
    """Percentiles are the smallest number of users that this share of the samples does not
    exceed, over all samples and over those in use."""
    users = [int(value) for value in np.random.default_rng(3).integers(0, 30, 997)]
    room, used = only(steady(users)), [count for count in users if count]
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        ranks = [np.quantile(of, share, method="inverted_cdf") for of in (used, users)]
        assert [room[name], room[f"{name}_all"]] == ranks
    assert room["minutes_in_use"] == len(used)


def test_at_the_cap_true_demand_is_unknown():
    """Minutes at the cap and near it are counted by the cap of the time; a room that reached its
    cap is suggested its peak, and it says why that may be too low."""
    early = steady([7, 8, 9, 10, 10, 1], attendee_max=10)
    later = steady([10, 16, 19], start="2026-06-01T00:06Z", attendee_max=20)
    room = only(early, later)
    assert (room["minutes_near"], room["minutes_full"]) == (4 + 2, 2)
    assert (room["attendee_max"], room["suggested"]) == (20, 19)
    assert room["reason"] == (
        "at its cap for 2 minutes, so true demand is unknown: 19 may be too low"
    )


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        # more users than the cap allows are at the cap
        (steady([12, 12, 3], attendee_max=10), {"minutes_full": 2, "peak": 12, "suggested": 12}),
        # the column stays in minutes; the sentence is for people
        (
            steady([10] * 3450, attendee_max=10),
            {
                "minutes_full": 3450,
                "reason": "at its cap for 57.5 hours, so true demand is unknown: 10 may be too low",
            },
        ),
        # of a single sweep nobody knows how long it stands for
        (
            steady([3], attendee_max=3),
            {
                "peak": 3,
                "suggested": 3,
                "minutes_in_use": None,
                "reason": "at its cap, so true demand is unknown: 3 may be too low",
            },
        ),
        # none, 0 and less are no cap: nothing is near it or at it
        *(
            (
                steady([50, 60], attendee_max=cap),
                {
                    "minutes_near": 0,
                    "minutes_full": 0,
                    "attendee_max": None,
                    "suggested": 60,
                    "reason": "peak 60 in 2 minutes, no cap; nothing is promised",
                },
            )
            for cap in (0, None, -1)
        ),
        # a cap that was never read is not none: nothing is suggested
        (
            steady([2] * 10, attendee_max=None, ret=700),
            {
                "suggested": None,
                "minutes_full": None,
                "reason": "peak 2; its attendee_max could not be read",
            },
        ),
        # devices are users, which a cap counts, but no people
        (
            steady([5, 5], people=4, devices=1, attendee_max=5),
            {"suggested": 5, "p50": 5, "minutes_full": 2},
        ),
        (steady([0, 0]), {"suggested": None, "reason": "never used"}),
        # nothing is suggested for a room in which devices alone were
        (
            steady([1, 1, 1, 2], people=0, devices=1, attendee_max=5),
            {
                "minutes_in_use": 0,
                "peak": 2,
                "p50_all": 1,
                "suggested": None,
                "busiest_hour": None,
                "reason": "never used; only devices were in it",
            },
        ),
        # a failed sample lowers the coverage and nothing else
        (
            steady([4, None, None, 4], ret=504),
            {"samples": 2, "coverage": 0.5, "p50_all": 4, "minutes_in_use": 2},
        ),
        (
            steady([None, None], ret=404),
            {
                "samples": 0,
                "coverage": 0,
                "suggested": None,
                "minutes_in_use": None,
                "reason": "could not be read",
            },
        ),
    ],
)
def test_what_a_room_comes_to(frame, expected):
    """Each figure follows from the samples, and is missing where they do not tell."""
    room = only(frame)
    assert {name: None if pd.isna(room[name]) else room[name] for name in expected} == expected


def test_what_is_unknown_at_times_hides_nothing():
    """A sample that could not read the cap does not hide it; one that read that there is none does.
    Samples in which people could not be told apart from devices neither make a room used nor idle;
    where that never worked, users are taken for people, and the reason says so."""
    capped = steady([1, 1], attendee_max=10)
    unknown = steady([None], start="2026-06-01T00:02Z", ret=504)
    none = steady([1], start="2026-06-01T00:03Z")
    assert only(capped, unknown)["attendee_max"] == 10
    assert pd.isna(only(capped, unknown, none)["attendee_max"])
    failed = steady([1], start="2026-06-01T00:03Z", people=None, ret=310)
    assert only(steady([1, 1, 1], people=0, devices=1), failed)["minutes_in_use"] == 0
    never = only(steady([1, 1, 0], people=None, ret=310))
    assert never["minutes_in_use"] == 2
    assert never["reason"].endswith(
        "nothing is promised; people could not be told apart from devices"
    )


def test_each_room_is_judged_by_its_own_schedule():
    """A room that came later owes nothing before; one that vanished owes what followed, and after a
    pause of all what was due in it, which is no use. Rooms that are recorded at other times or
    intervals keep their own minutes and coverage, and people of all of them are added up."""
    room = only(steady([3] * 10), steady([3] * 10, start="2026-06-05T00:00Z"))
    assert room["minutes_in_use"] == 20
    assert room["coverage"] == pytest.approx(20 / (4 * 24 * 60 + 10))
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
    """The totals hold the most people and users at one time, when that was, and percentiles while
    people were there, whatever a camera does at night; they go into JSON as they are. Two sweeps of
    the same rooms within one interval are two looks at the same people."""
    a = steady([1, 9, 5, 0], devices=0)
    b = steady([9, 2, 6, 1], room="b", people=None).assign(people=[8, 1, 5, 0], devices=1)
    totals = report(a, b.astype(a.dtypes), tz="Asia/Kathmandu").attrs["totals"]
    counts = {"people_peak": 10, "people_p95": 10, "people_p99": 10}
    assert json.loads(json.dumps(totals)) == {
        "rooms": 2,
        "since": "2026-06-01T05:45:00+05:45",
        "until": "2026-06-01T05:48:00+05:45",
        "people_peak_at": "2026-06-01T05:46:00+05:45",
        "users_peak_at": "2026-06-01T05:46:00+05:45",
        **counts,
        **{name.replace("people", "users"): count + 1 for name, count in counts.items()},
    }
    night = steady([1] * 95 + [11] * 5, people=None)
    night["people"] = pd.array([0] * 95 + [10] * 5, "Int64")
    totals = report(night).attrs["totals"]
    assert (totals["people_p95"], totals["users_p95"]) == (10, 11)
    again = steady([5], start="2026-06-01T00:03:05Z")
    assert report(steady([5] * 10), again).attrs["totals"]["people_peak"] == 5


def test_a_folder_gives_the_same_as_its_samples(tmp_path, monkeypatch):
    """A folder, compacted and not, whatever its name, gives the report of its samples; it names its
    zone, which is the local one unless another is given."""
    monkeypatch.setenv("TZ", "UTC")
    folder = tmp_path / "it's [a] *folder?"
    times = pd.date_range("2026-06-01", periods=18, freq="2h", tz="UTC")
    sweeps = [sweep(str(time), "abc", users=time.day) for time in times]
    record(folder, *sweeps)
    expected = capacity_report(pd.concat(sweeps), "UTC")
    pd.testing.assert_frame_equal(capacity_report(folder, "UTC"), expected)
    compact(folder, date(2026, 6, 2))
    pd.testing.assert_frame_equal(capacity_report(str(folder)), expected)
    assert expected.attrs["timezone"] == "UTC"
    assert list(folder.glob("_hot/*"))


def test_nothing_gives_an_empty_report_of_the_same_types(tmp_path):
    """No samples give a report without rows, with the columns and types of a full one."""
    full = capacity_report(steady([1]))
    assert set(full.dtypes.astype(str)) == {"string", "Int64", "Float64"}
    for source, risk in ((tmp_path, None), (samples([]), None), (samples([]), 0.1)):
        report = capacity_report(source, risk=risk)
        assert len(report) == 0
        assert report.attrs["totals"]["people_peak"] is None
        assert report.dtypes.equals(full.dtypes)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda frame: frame.drop(columns="ret"), "ret is not there"),
        (lambda frame: frame.assign(time=frame["time"].dt.tz_localize(None)), "no time zone"),
        (lambda frame: frame.assign(room_id=pd.NA), "needs its time and its room_id"),
        (lambda frame: frame.assign(users=0.5), "whole numbers"),
    ],
)
def test_what_is_no_frame_of_samples_is_refused(wrong, match):
    """The error says what a sample has to have."""
    with pytest.raises(ValueError, match=match):
        capacity_report(wrong(steady([1])))


def test_a_sample_that_is_there_twice_counts_once():
    """As where two parts of a recording that overlap are put together; of two, one that was read
    counts."""
    part = steady([0, 3, 3, 0])
    assert report(part, part.iloc[1:]).equals(report(part))
    failed = steady([None] * 4, ret=504)
    for frames in ((part, failed), (failed, part)):
        assert report(*frames)["peak"]["a"] == 3
        assert report(*frames)["coverage"]["a"] == 1


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
    return capacity_report(pd.concat(frames), "UTC", risk, "10d").set_index("room_id")


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


FULL = "at its cap for 10 days, so true demand is unknown: no cap is suggested"
UNREAD = "read for less than four fifths of the last 10 days"


@pytest.mark.parametrize(
    ("room", "pairs", "suggested", "reason"),
    [
        (daily(1, 1), 1, 1, f"peak 1 {AT_RISK}"),
        (daily(30, 20, 10, 20), 3, 30, f"peak 20 {AT_RISK}"),
        # of a room at its cap nobody knows who else wanted to come
        (daily(40, 10, attendee_max=40), 0, None, FULL),
        (daily(4, 2, attendee_max=None, ret=700), 0, None, "peak 4; its attendee_max could not be"),
        (daily(1, 1, people=0, devices=1), 0, None, "never used; only devices were in it"),
        # from nobody there is no ratio; to nobody there is
        (daily(0, 10), 0, 15, f"peak 10 {AT_RISK}"),
        (daily(10, 0), 1, None, "nobody was in it in the last 10 days"),
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


@pytest.mark.parametrize("risk", [0.05, 0.10, 0.20])
def test_no_larger_share_of_the_rooms_than_was_said_exceeds_its_cap(risk):
    """Of rooms whose weeks are alike but for chance, in the week after three; nor are the caps so
    large that hardly any room would."""
    exceeded, rooms, days = [], 100, 21
    for seed in range(10):
        chance = np.random.default_rng(seed)
        largest = chance.integers(4, 40, rooms)
        users = np.ceil(largest * chance.beta(1, 3, (days + 7, rooms))).astype(int)
        frame = steady(users[:days].ravel(), devices=0)
        times = pd.date_range("2026-06-01T12:00Z", periods=days, freq="1D", unit="ms")
        names = pd.array([f"{room:02}" for room in range(rooms)] * days, "string")
        frame = frame.assign(time=np.repeat(times, rooms), room_id=names)
        found = capacity_report(frame, "UTC", risk=risk, ahead="1w")
        assert found.attrs["pairs"] == 2 * rooms
        exceeded.append((users[days:].max(axis=0) > found["suggested"].to_numpy(int)).mean())
    assert risk / 2 < np.mean(exceeded) <= risk + 0.01


@pytest.mark.parametrize(
    "options",
    [
        *({"risk": risk} for risk in (0, 1, float("nan"), "0.1", True)),
        *({"risk": 0.1, "ahead": ahead} for ahead in ("soon", 4, "0d", timedelta(0))),
    ],
)
def test_what_is_no_share_or_no_time_is_refused(options):
    """The error shows an example."""
    with pytest.raises(ConfigError, match=r"such as '4w'|such as 0\.10"):
        capacity_report(steady([1]), **options)


def test_a_risk_is_that_of_one_service(tmp_path):
    """Rooms of two services may have the same numbers."""
    frame = steady([1])
    for service in ("one.example", "two.example"):
        frame.attrs["service"] = service
        save_occupancy(frame, tmp_path)
    with pytest.raises(ConfigError, match=r"one\.example, two\.example"):
        capacity_report(tmp_path, risk=0.1)
    assert len(capacity_report(tmp_path)) == 1
