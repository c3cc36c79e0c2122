"""A refusal names values that are in breach, and no others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from reference import proximity
from shoal.methods.base import Task
from shoal.methods.breaches import not_reached, rows_in_breach
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

# Each with how many members may be near to one of n, and who is near to v.
JUDGES = {
    "EpsilonM(epsilon=1, m=3)": (
        lambda n: Fraction(n, 3),
        lambda u, v: proximity.proximate("absolute", u, v, epsilon=1),
    ),
    "EpsilonM(epsilon=0.5, m=2, relative=True)": (
        lambda n: Fraction(n, 2),
        lambda u, v: proximity.proximate("relative", u, v, epsilon=0.5),
    ),
    "Neighbourhood(below=0, above=2, m=2)": (
        lambda n: Fraction(n, 2),
        lambda u, v: proximity.proximate("general", u, v, below=0, above=2),
    ),
    "Window(width=2, m=2)": (lambda n: Fraction(n, 2), lambda u, v: v <= u <= v + 2),
    "FrequencyL(l=3)": (lambda n: Fraction(n, 3), lambda u, v: u == v),
    "MUniqueness(m=2)": (lambda _: 1, lambda u, v: u == v),
    "Dissimilarity(epsilon=1, delta=0.6, k=2, distance=Absolute())": (
        lambda n: 1 + Fraction(2, 5) * (n - 1),
        lambda u, v: abs(u - v) <= 1,
    ),
}


@pytest.mark.parametrize("spelled", JUDGES)
@pytest.mark.parametrize("seed", range(25))
def test_values_that_are_named_are_in_breach(spelled, seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(4, 24))
    values = random.integers(0, 12, rows)
    groups = Groups.of(random.integers(0, 3, rows))
    table = pl.DataFrame({"q": range(rows), "s": values})
    asked = requirements(spelled, ["s"])
    task = Task(code_table(table, shoal.Schema(quasi="q", sensitive="s")), tuple(asked))
    allowed, near = JUDGES[spelled]
    wanted = set()
    for group in range(len(groups)):
        members = np.flatnonzero(groups.labels == group).tolist()
        for row in members:
            count = sum(near(int(values[other]), int(values[row])) for other in members)
            if count > allowed(len(members)):
                wanted.add(row)
    (measured,), (value,) = task.measure(groups), task.values
    principle = asked[0].principle
    assert isinstance(principle, Pairwise)
    assert value is not None
    found = rows_in_breach(principle, value, groups, measured)
    assert set(found.tolist()) == wanted
    if measured.holds:
        return
    said = str(not_reached(task, groups))
    assert ("mostly at" in said) == bool(wanted)
    if wanted:
        named = said.split("mostly at s ")[1].split(". The groups", maxsplit=1)[0].split("; ")
        assert set(map(int, named)) <= {int(values[row]) for row in wanted}
