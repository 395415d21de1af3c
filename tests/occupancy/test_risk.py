"""`capacity_report(risk=...)`: a cap that few rooms exceed in the weeks ahead, or why none."""

import numpy as np
import pandas as pd
import pytest

from confkit.errors import ConfigError
from confkit.occupancy.capacity import capacity_report
from confkit.occupancy.folder import save_occupancy
from tests.occupancy.made import steady

WEEK = 28  # samples, one every six hours


def busy(rooms: int, weeks: int, seed: int = 1) -> np.ndarray:
    """Users by room and sample: each room has its own largest meeting, and no week is like another
    by more than chance."""
    chance = np.random.default_rng(seed)
    largest = chance.integers(4, 40, (rooms, 1))
    return np.ceil(largest * chance.beta(1, 3, (rooms, weeks * WEEK))).astype(int)


def recorded(users: np.ndarray, cap: int = 0) -> pd.DataFrame:
    """The samples of these rooms, which end at one moment; a negative number was not read."""
    rooms, count = users.shape
    frame = steady(users.T.ravel(), attendee_max=cap, devices=0)
    times = pd.date_range(end="2026-06-01T12:00Z", periods=count, freq="6h").as_unit("ms")
    names = pd.array([f"{room:03}" for room in range(rooms)] * count, "string")
    return frame.assign(time=np.repeat(times, rooms), room_id=names)[frame["users"] >= 0]


def report(users: np.ndarray, risk: float = 0.10, cap: int = 0, **options: str) -> pd.DataFrame:
    """The report on these rooms."""
    return capacity_report(recorded(users, cap), "UTC", risk=risk, **options)


def test_no_larger_share_of_the_rooms_than_was_said_exceeds_its_cap():
    """Of 300 rooms whose weeks are alike but for chance, in the four weeks after twelve; a smaller
    risk and a longer time ahead take larger caps."""
    users, total = busy(300, 16), []
    later, earlier = users[:, 12 * WEEK :].max(axis=1), users[:, : 12 * WEEK].max(axis=1)
    for risk in (0.05, 0.20):
        found = report(users[:, : 12 * WEEK], risk)
        caps = found["suggested"].to_numpy(float, na_value=np.nan)
        given = ~np.isnan(caps)
        assert given.mean() > 0.9
        assert (later[given] > caps[given]).mean() <= risk + 0.02
        total.append(caps[given].sum())
        assert total[-1] <= 1.3 * earlier[given].sum()
        assert set(found["windows"]) == {300 * 3}  # the fourth to sixth week before the end, and on
        assert found["days_seen"].between(80, 84).all()
        assert (
            f"at most {100 * risk:g} % of such caps are exceeded in 4 weeks" in found["reason"][0]
        )
        assert (found.attrs["risk"], found.attrs["weeks_ahead"]) == (risk, 4)
    assert total[0] > total[1]
    short, long = (report(users[:100, : 12 * WEEK], ahead=ahead) for ahead in ("1w", "6w"))
    assert long["suggested"].sum() > short["suggested"].sum()


WEEKS = np.arange(12 * WEEK) // WEEK
# What may be wrong with a record of twelve weeks, in the first room: what its use is multiplied by,
# or the weeks in which nothing was read; and what is said then.
CHANGES = {
    "trend": (
        1 + WEEKS / 4,
        [],
        "its use grows or falls from week to week: no promise for 4 weeks",
    ),
    "break": (np.where(WEEKS >= 6, 3, 1), [], "its use changed 6 weeks before the end: no promise"),
    "last weeks": (np.where(WEEKS >= 10, 4, 1), [], "its use changed 2 weeks before the end"),
    "gap": (1, [8], "its record has a gap: no promise for 4 weeks"),
    "new": (1, range(9), "3 weeks seen: no promise for 4 weeks, which takes 8 weeks"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_room_whose_past_does_not_speak_for_it_gets_no_number(kind):
    """It says why; the rooms beside it get theirs."""
    times, unread, said = CHANGES[kind]
    users = busy(100, 12)
    users[0] = np.where(np.isin(WEEKS, [*unread]), -1, users[0] * times)
    found = report(users)
    assert pd.isna(found["suggested"][0])
    assert said in found["reason"][0]
    assert found["suggested"][1:].notna().mean() > 0.9


def test_where_the_use_of_all_rooms_changed_no_room_gets_a_number():
    """What comes is then not like what was."""
    found = report(busy(100, 12) * np.where(WEEKS >= 7, 2, 1))
    assert found["suggested"].isna().all()
    assert "the use of all rooms changed 5 weeks before the end" in found["reason"][1]


def test_a_room_at_its_cap_has_an_unknown_demand():
    """Whoever else wanted to come is not known."""
    users = busy(60, 12).clip(max=20)
    found = report(users, cap=20)
    full = users.max(axis=1) == 20
    assert full.any()
    assert found["suggested"][full].isna().all()
    said = "at its cap for .*, so true demand is unknown: no promise for 4 weeks"
    assert found["reason"][full].str.fullmatch(said).all()


@pytest.mark.parametrize(
    ("weeks", "ahead", "said"),
    [
        (7, "4w", "7 weeks seen: no promise for 4 weeks, which takes 8 weeks"),
        (12, "300d", "12 weeks seen: no promise for 43 weeks, which takes 86 weeks"),
    ],
)
def test_too_little_that_was_seen_promises_nothing(weeks, ahead, said):
    """Twice the time ahead is needed."""
    found = report(busy(50, weeks), ahead=ahead)
    assert found["suggested"].isna().all()
    assert (found["reason"] == said).all()


def test_too_few_rooms_to_compare_with_get_no_number():
    """Three rooms cannot show what one in a hundred does; nor can many that came to their caps."""
    found = report(busy(3, 12), risk=0.01)
    assert found["suggested"].isna().all()
    assert "windows of the past to compare with: no promise" in found["reason"][0]
    users = busy(40, 12)
    users[:8, :-WEEK] = users[:8, :-WEEK].clip(max=30)
    users[:8, -1] = 100
    found = report(users.clip(max=100), cap=100)
    assert found["suggested"].isna().all()
    assert "of 120 windows of the past ended at a cap: no promise" in found["reason"][39]


def test_a_room_with_a_device_alone_is_not_compared_with():
    """Rooms like those that are given a number are those that people used."""
    users = busy(60, 12)
    frame = recorded(users)
    camera = frame["room_id"] < "030"
    frame.loc[camera, ["users", "people", "devices"]] = [1, 0, 1]
    found = capacity_report(frame, "UTC", risk=0.1)
    assert found["suggested"][:30].isna().all()
    assert (found["reason"][:30] == "never used; only devices were in it").all()
    assert set(found["windows"]) == {30 * 3}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        *(({"risk": risk}, "between 0 and 1") for risk in (0, 1, float("nan"), "0.1", True)),
        *(({"risk": 0.1, "ahead": ahead}, "such as '4w'") for ahead in ("soon", 4, "0d")),
        ({"risk": 0.1, "quantile": 0.99}, "two rules"),
    ],
)
def test_what_is_no_share_no_time_or_two_rules_is_refused(options, match):
    """The error shows an example."""
    with pytest.raises(ConfigError, match=match):
        capacity_report(recorded(busy(3, 1)), **options)


def test_a_promise_is_of_one_service(tmp_path):
    """Rooms of two services may have the same numbers."""
    frame = recorded(busy(3, 1))
    for service in ("one.example", "two.example"):
        frame.attrs["service"] = service
        save_occupancy(frame, tmp_path)
    with pytest.raises(ConfigError, match=r"one\.example, two\.example"):
        capacity_report(tmp_path, risk=0.1)
    assert len(capacity_report(tmp_path)) == 3
