"""What every principle says of the union of groups is true, for all that are registered."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from contracts.families import DISTRIBUTIONAL
from shoal.notation import known_terms
from shoal.principles.base import Principle
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

SURVIVE = [
    shoal.principles.KAnonymity(k=3),
    shoal.principles.KMap(k=4),
    shoal.principles.Window(width=1, m=2),
    shoal.principles.FrequencyL(l=2),
    shoal.principles.AlphaK(alpha=0.6, k=2),
    *DISTRIBUTIONAL,
]
# Two groups that hold, and whose union does not.
BREAK = [
    (shoal.principles.EpsilonM(epsilon=1, m=2), [1, 9], [0, 2]),
    (shoal.principles.EpsilonM(epsilon=0.5, m=2, relative=True), [4, 20], [2, 6]),
    (shoal.principles.Neighbourhood(below=1, above=1, m=2), [1, 9], [0, 2]),
    (shoal.principles.DeltaL(delta=7.5, l=2), [40, 60], [50, 80]),
    (shoal.principles.Chain(epsilon=1, m=2), [0, 2], [1, 3]),
    (
        shoal.principles.Dissimilarity(
            epsilon=1, delta=1, k=2, distance=shoal.distances.Absolute()
        ),
        [1, 9],
        [0, 2],
    ),
    (shoal.principles.MUniqueness(m=2), [1, 2], [1, 3]),
    (shoal.principles.DeltaPresence(low=0.25, high=0.75), [1], [2]),
]
groups_of_values = st.lists(
    st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=2, max_size=4
)


def measured(principle, groups, people):
    values = [str(value) for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    kind = "categorical" if "Hier" in repr(principle) else "numeric"
    value = Sensitive.of((code_column(pl.Series("s", values), kind=kind),))
    return principle.measure(Groups(labels, np.array(people)), value)


def test_every_principle_is_here_and_says_it_in_its_docstring():
    named = {type(one).__name__ for one in [*SURVIVE, *(one for one, _, _ in BREAK)]}
    registered = {n: t for n, t in known_terms().items() if issubclass(t, Principle)}
    assert named == set(registered)
    assert all("survive" in (term.__doc__ or "") for term in registered.values())


@pytest.mark.few(10)
@pytest.mark.parametrize("principle", SURVIVE, ids=repr)
@given(groups_of_values, st.data())
def test_a_union_of_groups_that_hold_holds(principle, groups, data):
    """The description of a union matches at least whom the descriptions of its parts match."""
    assert principle.monotone
    people = [data.draw(st.integers(0, 8)) for _ in groups]
    held = ~measured(principle, groups, people).breaches
    for first, second in itertools.combinations(range(len(groups)), 2):
        if held[first] and held[second]:
            places = [p for p in range(len(groups)) if p not in {first, second}]
            matched = max(people[first], people[second]) + data.draw(st.integers(0, 3))
            union = [groups[first] + groups[second], *(groups[place] for place in places)]
            found = measured(principle, union, [matched, *(people[place] for place in places)])
            assert not found.breaches[0]


@pytest.mark.parametrize(("principle", "one", "other"), BREAK, ids=lambda p: repr(p)[:40])
def test_a_union_of_groups_that_hold_may_not_hold(principle, one, other):
    assert not principle.monotone
    assert not measured(principle, [one, other], [2, 2]).breaches.any()
    assert measured(principle, [one + other], [40]).breaches.all()
