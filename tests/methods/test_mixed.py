"""Proximity together with principles about the distribution: searched as the definition says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import distribution, proximity, splitting
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Task
from shoal.methods.joining import Joining
from shoal.principles.requirement import Require, requirements
from shoal.table.coded import code_table
from tables import KINDS, drawn, frame, rows_of, schema


def _drawn(seed: int) -> dict[str, list]:
    return drawn(seed, least=4, most=15)


def close(group, table, t: Fraction) -> bool:
    domain = sorted(set(table))
    p, q = distribution.shares(group, domain), distribution.shares(table, domain)
    return distribution.ordered_distance(p, q) <= t


T_CLOSE = shoal.principles.TCloseness(t=0.3, ground="ordered")
SETS = [
    (
        [shoal.principles.EpsilonM(epsilon=1, m=2), T_CLOSE],
        lambda g: proximity.maxsize(g, "absolute", epsilon=1),
        lambda g, t: proximity.holds(g, "absolute", 2, epsilon=1) and close(g, t, Fraction(3, 10)),
    ),
    (
        [shoal.principles.EpsilonM(epsilon=0, m=3), shoal.principles.KE(k=2, e=3)],
        lambda g: proximity.maxsize(g, "absolute", epsilon=0),
        lambda g, _: proximity.holds(g, "absolute", 3, epsilon=0) and distribution.range_of(g) >= 3,
    ),
    (
        [shoal.principles.MUniqueness(m=2), T_CLOSE],
        lambda g: max(g.count(value) for value in g),
        lambda g, t: len(set(g)) == len(g) >= 2 and close(g, t, Fraction(3, 10)),
    ),
]


@pytest.mark.few(1)
@pytest.mark.parametrize(("require", "parts", "holds"), SETS, ids=[repr(s[0]) for s in SETS])
@given(st.integers(0, 2**32).map(_drawn), st.booleans())
def test_groups_equal_those_of_the_definition(require, parts, holds, table, widest):
    salaries, rows = table["salary"], rows_of(table)
    asked = requirements(require, ["salary"])
    task = Task(code_table(frame(table), schema()), tuple(asked))

    def values(group):
        return [salaries[row] for row in group]

    def dealt(group):
        if holds(values(group), salaries):
            return [group]
        return splitting.round_robin(group, salaries, parts(values(group)))

    def admissible(group):
        return all(part and holds(values(part), salaries) for part in dealt(frozenset(group)))

    search = Joining(task, widest=widest)
    if not admissible(range(len(rows))):
        with pytest.raises(NotAchievable):
            search.run()
        return
    found = search.run().labels
    if widest:
        buckets = splitting.mondrian(rows, KINDS, 1, admissible=admissible)
    else:
        buckets = splitting.least_loss(rows, KINDS, admissible)
    wanted = {frozenset(part) for bucket in buckets for part in dealt(bucket)}
    assert {frozenset(np.flatnonzero(found == g).tolist()) for g in set(found.tolist())} == wanted


JOBS = {"low": ["a", "b"], "high": {"mid": ["c"], "top": ["d", "e"]}}


@pytest.mark.parametrize("hierarchies", [{}, {"job": JOBS}, {"job": JOBS, "age": "Bins(width=2)"}])
@given(st.integers(0, 2**32).map(_drawn), st.booleans(), st.integers(1, 5))
def test_halves_are_cut_as_the_kernel_cuts_them(hierarchies, table, widest, k):
    """Whatever the kernel can check, measuring finds the same groups, by nodes and weights too."""
    plain = shoal.Schema(
        quasi=schema().quasi, sensitive="salary", hierarchies=hierarchies, weights={"age": 3}
    )
    if len(table["age"]) < k:
        return
    asked = requirements(
        [shoal.principles.KAnonymity(k=k), shoal.principles.DistinctL(l=1)], ["salary"]
    )
    task = Task(code_table(frame(table), plain), tuple(asked))
    kernel = shoal.methods.Mondrian(split="widest" if widest else "least-loss").search(task).labels
    measured = Joining(task, widest=widest).run().labels
    pairs = set(zip(kernel.tolist(), measured.tolist(), strict=True))
    assert len(pairs) == len(set(kernel.tolist())) == len(set(measured.tolist()))


def people(rows: int = 3000) -> pl.DataFrame:
    random = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "age": random.integers(16, 90, rows),
            "zip": random.integers(100, 160, rows),
            "illness": random.choice(list("abcd"), rows),
            "salary": random.gamma(2, 20000, rows).astype(int),
        }
    )


BOTH = shoal.Schema(quasi=["age", "zip"], sensitive=["illness", "salary"])


@pytest.mark.parametrize(
    "require",
    [
        ["salary: EpsilonM(epsilon=3000, m=5)", "salary: TCloseness(t=0.2, ground='ordered')"],
        ["salary: EpsilonM(epsilon=3000, m=3)", "illness: TCloseness(t=0.3)"],
        ["salary: EpsilonM(epsilon=0.1, m=3, relative=True)", "illness: DistinctL(l=3)"],
        ["salary: DeltaL(delta=2000, l=4)", "illness: EntropyL(l=2)", "KAnonymity(k=8)"],
        ["salary: Window(width=2000, m=2)", "illness: EntropyL(l=2)"],
        [
            "salary: Dissimilarity(epsilon=0.02, delta=0.6, k=5)",
            "illness: BetaLikeness(beta=1)",
        ],
    ],
    ids=lambda texts: " ".join(text.split("(")[0] for text in texts),
)
def test_a_mixed_set_is_released_in_many_groups_that_all_hold(require: list[Require]) -> None:
    release = shoal.anonymize(people(), BOTH, require=require)
    assert release.manifest.method == "Mondrian()"
    assert (release.manifest.groups or 0) > 20
    assert release.audit().holds


def test_ties_are_not_divided_where_halves_are_measured():
    asked = requirements(["EpsilonM(epsilon=1, m=2)", "DistinctL(l=2)"], ["salary"])
    task = Task(code_table(frame(_drawn(1)), schema()), tuple(asked))
    with pytest.raises(UsageError, match=r"Use Mondrian\(\)"):
        shoal.methods.Mondrian(relaxed=True).check(task)
