"""What formula (3) promises of perturbed values, by simulation, and what it does not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal

SCHEMA = shoal.Schema(quasi="person", sensitive="pay")
RUNS = 40


def simulated(pay: np.ndarray, epsilon: int, m: int) -> tuple[float, float, float]:
    """Return how sure a reader gets of an interval, at worst, and of a published value.

    The worst, over ε-neighbourhoods of true values, of the share of those published in one who
    truly lie there; the share who lie within ε of what is published of them, among those whose
    published value somebody truly has; and the least number that the first is a share of.
    """
    table = pl.DataFrame({"person": np.arange(len(pay)), "pay": pay})
    require = shoal.principles.EpsilonM(epsilon=epsilon, m=m)
    rival = shoal.rivals.Perturb.meeting(table, SCHEMA, require=require)
    assert rival.p > 0
    centres = np.unique(pay)
    inside, seen = np.zeros((2, len(centres[::7])))
    near = asked = 0
    for seed in range(RUNS):
        told = rival.publish(table, SCHEMA, seed=seed).table.sort("person")["pay"].to_numpy()
        for place, centre in enumerate(centres[::7]):
            published = np.abs(told - centre) <= epsilon
            seen[place] += published.sum()
            inside[place] += (published & (np.abs(pay - centre) <= epsilon)).sum()
        known = np.isin(told, centres)
        asked += int(known.sum())
        near += int((np.abs(told - pay)[known] <= epsilon).sum())
    return float((inside / seen).max()), near / asked, float(seen.min())


@pytest.mark.parametrize(("step", "sure"), [(1, False), (20, True)])
def test_an_interval_is_kept_and_a_published_value_is_not(step: int, sure: bool) -> None:
    pay = np.arange(2000) // step * step  # one of each, or all of them round
    m = 4
    worst, near, seen = simulated(pay, 100, m)
    noise = 4 * np.sqrt(1 / (m * seen))  # four standard deviations of the worst share
    assert worst <= 1 / m + noise
    # Formula (3) is met with equality at the best p: the promise is not far from what happens.
    assert worst > 0.7 / m
    # Among round values the published one is mostly true; evenly spread, nothing tells it.
    assert near > 2 / m if sure else near <= 1 / m + noise
