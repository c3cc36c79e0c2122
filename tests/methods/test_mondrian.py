"""Mondrian against the oracle: the same groups, whatever principles it is asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from reference import distribution, proximity, splitting
from shoal.errors import BadParameter, NotAchievable, UsageError
from shoal.methods.base import Task
from shoal.principles.requirement import Require, requirements
from shoal.table.coded import code_table
from tables import KINDS, drawn, frame, large, rows_of, schema, tables

PATHS = [[str(v), "odd" if v % 2 else "even", "*"] for v in range(-50, 200)]
TREE = shoal.distances.Hierarchical(levels=tuple(map(tuple, PATHS)))


def shares(group: list, table: list) -> tuple[list[Fraction], list[Fraction]]:
    domain = sorted(set(table))
    return distribution.shares(group, domain), distribution.shares(table, domain)


def tree_distance(group, table):
    paths = [PATHS[value + 50] for value in sorted(set(table))]
    return distribution.tree_distance(*shares(group, table), paths)


DEFINITIONS = [
    (shoal.principles.DistinctL(l=3), lambda g, _: distribution.distinct(g) >= 3),
    (shoal.principles.EntropyL(l=2), lambda g, _: distribution.entropy_at_least(g, Fraction(2))),
    (
        shoal.principles.EntropyL(l=2.5),
        lambda g, _: distribution.entropy_at_least(g, Fraction(5, 2)),
    ),
    (
        shoal.principles.RecursiveCL(c=2, l=2),
        lambda g, _: distribution.recursive(g, Fraction(2), 2),
    ),
    (
        shoal.principles.RecursiveCL(c=1.5, l=3),
        lambda g, _: distribution.recursive(g, Fraction(3, 2), 3),
    ),
    (
        shoal.principles.TCloseness(t=0.5),
        lambda g, t: distribution.equal_distance(*shares(g, t)) <= Fraction(1, 2),
    ),
    (
        shoal.principles.TCloseness(t=0.25, ground="ordered"),
        lambda g, t: distribution.ordered_distance(*shares(g, t)) <= Fraction(1, 4),
    ),
    (
        shoal.principles.TCloseness(t=0.4, ground=TREE),
        lambda g, t: tree_distance(g, t) <= Fraction(2, 5),
    ),
    (
        shoal.principles.KE(k=2, e=3),
        lambda g, _: len(set(g)) >= 2 and distribution.range_of(g) >= 3,
    ),
    (
        shoal.principles.Variance(at_least=2.25),
        lambda g, _: distribution.variance(g) >= Fraction(9, 4),
    ),
    (
        shoal.principles.DeltaDisclosure(delta=0.9),
        lambda g, t: distribution.delta_disclosure(*shares(g, t), delta="0.9"),
    ),
    (
        shoal.principles.BetaLikeness(beta=1),
        lambda g, t: distribution.beta_likeness(*shares(g, t), beta="1", enhanced=False),
    ),
    (
        shoal.principles.BetaLikeness(beta=1.5, enhanced=True),
        lambda g, t: distribution.beta_likeness(*shares(g, t), beta="1.5", enhanced=True),
    ),
    (
        shoal.principles.Window(width=1, m=2),
        lambda g, _: proximity.holds(g, "window", 2, width=1),
    ),
    (shoal.principles.FrequencyL(l=2), lambda g, _: proximity.holds(g, "equality", 2)),
]
CASES = pytest.mark.parametrize(
    ("principle", "definition"), DEFINITIONS, ids=[repr(p)[:30] for p, _ in DEFINITIONS]
)


def task_of(table, require):
    plain = schema()
    coded = code_table(frame(table), plain)
    if "Hier" in repr(require):
        plain = shoal.Schema(quasi=plain.quasi, sensitive="salary", types={"salary": "categorical"})
        coded = code_table(frame(table), plain)
    return Task(coded, tuple(requirements(require, ["salary"])))


def as_sets(groups):
    return {frozenset(np.flatnonzero(groups.labels == g).tolist()) for g in range(len(groups))}


def _drawn(seed: int) -> dict[str, list]:
    return drawn(seed, least=2, most=8)


few_values = st.integers(0, 2**32).map(_drawn)  # large enough for several cuts, with many ties


@pytest.mark.few(3)
@CASES
@given(few_values, st.booleans())
def test_groups_equal_those_of_the_definition(principle, definition, table, widest):
    salaries = table["salary"]

    def admissible(group):
        return definition([salaries[row] for row in group], salaries)

    task = task_of(table, principle)
    if not admissible(range(len(salaries))):
        with pytest.raises(NotAchievable):
            shoal.methods.Mondrian().search(task)
    elif widest:
        wanted = splitting.mondrian(rows_of(table), KINDS, 1, admissible=admissible)
        assert as_sets(shoal.methods.Mondrian().search(task)) == set(wanted)
    else:
        wanted = splitting.least_loss(rows_of(table), KINDS, admissible)
        assert as_sets(shoal.methods.Mondrian(split="least-loss").search(task)) == set(wanted)


@pytest.mark.few(5)
@CASES
@given(few_values)
def test_relaxed_groups_hold(principle, definition, table):
    salaries = table["salary"]
    task = task_of(table, principle)
    if not definition(salaries, salaries):
        return
    for split in ("widest", "least-loss"):
        for group in as_sets(shoal.methods.Mondrian(split=split, relaxed=True).search(task)):
            assert definition([salaries[row] for row in group], salaries)


@given(tables(most=60), st.integers(1, 6))
def test_relaxed_cuts_every_group_that_is_large_enough(table, k):
    assume(len(table["age"]) >= k)
    task = task_of(table, shoal.principles.KAnonymity(k=k))
    rows = rows_of(table)
    for group in as_sets(shoal.methods.Mondrian(relaxed=True).search(task)):
        assert len(group) >= k
        assert len(group) < 2 * k or len({tuple(rows[row]) for row in group}) == 1


@given(tables(most=60), st.integers(1, 3), st.integers(0, 5))
def test_several_principles_on_several_columns(table, k, seed):
    random = np.random.default_rng(seed)
    rows = len(table["age"])
    people = frame(table).with_columns(
        pl.Series("illness", random.choice(list("abcdef"), rows)),
        pl.Series("children", random.integers(0, 3, rows)),
    )
    plain = shoal.Schema(quasi=schema().quasi, sensitive=["salary", "illness", "children"])
    require: list[Require] = [
        shoal.principles.KAnonymity(k=k),
        shoal.principles.TCloseness(t=0.4, ground="ordered").on("salary"),
        shoal.principles.EntropyL(l=1.5).on("illness"),
        shoal.principles.DistinctL(l=2).on("illness", "children"),
        shoal.principles.FrequencyL(l=1).on("children"),
    ]
    asked = requirements(require, plain.sensitive)
    task = Task(code_table(people, plain), tuple(asked))
    illness, children = people["illness"].to_list(), people["children"].to_list()
    salaries = table["salary"]

    def admissible(group):
        return (
            distribution.ordered_distance(*shares([salaries[r] for r in group], salaries))
            <= Fraction(2, 5)
            and distribution.entropy_at_least([illness[r] for r in group], Fraction(3, 2))
            and len({(illness[r], children[r]) for r in group}) >= 2
        )

    if rows >= k and admissible(range(rows)):
        wanted = splitting.mondrian(rows_of(table), KINDS, k, admissible=admissible)
        assert as_sets(shoal.methods.Mondrian().search(task)) == set(wanted)
    else:
        with pytest.raises(NotAchievable):
            shoal.methods.Mondrian().search(task)


@pytest.mark.parametrize("domain", [5, 100_000])
def test_codes_beside_the_first_are_sorted_whether_dense_or_sparse(domain):
    random = np.random.default_rng(4)
    people = pl.DataFrame(
        {
            "age": random.integers(0, 90, 3000),
            "illness": random.choice(list("abcdefgh"), 3000),
            "salary": random.integers(0, domain, 3000),
        }
    )
    plain = shoal.Schema(quasi="age", sensitive=["illness", "salary"])
    require = ["illness: DistinctL(l=2)", "salary: TCloseness(t=0.2, ground='ordered')"]
    release = shoal.anonymize(people, plain, require=require)
    assert release.manifest.method == "Mondrian()"
    assert release.audit().holds
    assert release.table["group"].n_unique() > 5


def test_the_same_column_through_threads_and_in_one_piece(monkeypatch):
    table = large(30_000, seed=2)
    task = task_of(table, shoal.principles.TCloseness(t=0.2, ground="ordered"))
    many = shoal.methods.Mondrian().search(task).labels
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert (shoal.methods.Mondrian().search(task).labels == many).all()


@pytest.mark.parametrize("make", [{"split": "best"}, {"relaxed": 1}])
def test_parameters_are_checked(make):
    with pytest.raises(BadParameter):
        shoal.methods.Mondrian(**make)


def test_what_does_not_survive_unions_is_refused():
    table = {"age": [1, 2], "zip": [1, 2], "job": ["a", "b"], "salary": [1, 2]}
    task = task_of(table, shoal.principles.MUniqueness(m=2))
    with pytest.raises(UsageError):
        shoal.methods.Mondrian().check(task)
    task = task_of(table, shoal.principles.DistinctL(l=2))
    for method in (shoal.methods.Split(), shoal.methods.Exchange()):
        with pytest.raises(UsageError, match=r"Use Mondrian\(\)"):
            method.check(task)


def test_exchange_finds_groups_of_different_values():
    people = pl.DataFrame({"age": list(range(40)), "illness": list("abcdefgh") * 5})
    plain = shoal.Schema(quasi="age", sensitive="illness")
    release = shoal.anonymize(people, plain, require=shoal.principles.MUniqueness(m=3))
    assert release.audit().holds
