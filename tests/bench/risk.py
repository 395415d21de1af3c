"""Caps with a stated risk: the share of rooms that exceeds them in the four weeks after twelve, and
how many seats they take (aims: at most the risk and 2 points, 1.3 of the peak's seats at 10 %)."""

from collections.abc import Iterator
from statistics import mean

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confkit.occupancy.capacity import capacity_report
from confkit.sandbox import Sandbox

SEEN, AHEAD, ROOMS, SEEDS = 12, 4, 400, 4
RISKS = (0.05, 0.10, 0.20)
HOURS = 168  # samples of a week

Users = NDArray[np.int64]


def main() -> None:
    """Prints a table for each kind of building: each rule's share of rooms exceeded, and seats."""
    for kind in ("sandbox", "plain", "lognormal", "pareto", "geometric", "all hands", "together"):
        each = [_judged(users) for users in _buildings(kind)]
        print(f"{kind}: {ROOMS} rooms, {SEEN} weeks seen, {AHEAD} ahead, mean of {SEEDS} seeds")
        for rule in each[0]:
            given, exceeded, seats = (mean(one[rule][at] for one in each) for at in range(3))
            print(
                f"  {rule:<16}{100 * given:5.0f} % of rooms have a cap, {100 * exceeded:5.1f} % of "
                f"these exceed it, {seats:5.2f} of the peak's seats"
            )
        print()


def _buildings(kind: str) -> Iterator[Users]:
    """Users by room and hour, for each seed."""
    for seed in range(1, SEEDS + 1):
        yield _simulated(seed) if kind == "sandbox" else _made(kind, seed)


def _simulated(seed: int) -> Users:
    with Sandbox(seed=seed) as sandbox:
        days = 7 * (SEEN + AHEAD)
        frame = sandbox.simulate(
            rooms=ROOMS, days=days, every=3600, seed=seed, until="2026-11-01T00:00Z"
        )
    wide = frame.pivot(index="room_id", columns="time", values="users").to_numpy(int)
    return np.asarray(wide[:, -HOURS * (SEEN + AHEAD) :])


def _made(kind: str, seed: int) -> Users:
    """Ten meetings a week in each room, whose sizes are distributed in this way."""
    chance = np.random.default_rng(seed)
    shape = (ROOMS, SEEN + AHEAD, 10)
    usual = chance.integers(4, 40, (ROOMS, 1, 1))
    sizes = {
        "plain": lambda: usual * chance.beta(1, 3, shape),
        "lognormal": lambda: usual * chance.lognormal(-1, 0.6, shape),
        "pareto": lambda: usual * (1 + chance.pareto(3, shape)) / 4,
        "geometric": lambda: chance.geometric(1 / usual, shape),
        "all hands": lambda: (
            usual * chance.beta(1, 3, shape) * np.where(chance.random(shape) < 0.005, 4, 1)
        ),
        "together": lambda: (
            usual * chance.beta(1, 3, shape) * chance.lognormal(0, 0.05, (1, SEEN + AHEAD, 1))
        ),
    }[kind]()
    users = np.zeros((ROOMS, SEEN + AHEAD, HOURS), dtype=int)
    users[:, :, 8:128:12] = np.ceil(sizes)
    return users.reshape(ROOMS, -1)


def _judged(users: Users) -> dict[str, tuple[float, float, float]]:
    """For each rule: the share of rooms with a cap, of these the share exceeded, and its seats."""
    seen, later = users[:, : SEEN * HOURS], users[:, SEEN * HOURS :].max(axis=1)
    peak = seen.max(axis=1)
    caps = {
        "peak": peak,
        "99th percentile": np.quantile(seen, 0.99, axis=1),
        "peak, twice": 2 * peak,
    }
    samples = _samples(seen)
    for risk in RISKS:
        report = capacity_report(samples, "UTC", risk=risk)
        caps[f"risk {risk:.2f}"] = report["suggested"].to_numpy(float, na_value=np.nan)
    used = peak > 0
    judged = {}
    for rule, cap in caps.items():
        given = used & ~np.isnan(cap)
        seats = cap[given].sum() / max(1, peak[given].sum())
        judged[rule] = (given.sum() / used.sum(), (later > cap)[given].mean(), seats)
    return judged


def _samples(users: Users) -> pd.DataFrame:
    rooms, count = users.shape
    times = pd.date_range(end="2026-06-01T12:00Z", periods=count, freq="h").as_unit("ms")
    frame = pd.DataFrame({"time": np.repeat(times, rooms), "users": users.T.ravel()})
    frame["room_id"] = pd.array([f"{room:03}" for room in range(rooms)] * count, "string")
    frame = frame.assign(people=frame["users"], devices=0, attendee_max=0, ret=0)
    numbers = ("users", "people", "devices", "attendee_max", "ret")
    return frame.astype(dict.fromkeys(numbers, "Int64"))
