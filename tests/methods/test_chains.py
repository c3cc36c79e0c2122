"""Chains of near values are kept by every method that serves them, by their definition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import proximity
from shoal.methods.base import Task
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.utility.least import least_loss
from tables import frame, schema, tables

METHODS = [
    *(
        shoal.methods.Exchange(),
        shoal.methods.Split(),
        shoal.methods.Split(partition="round-robin"),
    ),
    *(shoal.methods.XColor(), shoal.methods.Oblivious()),
]


def search(table, require, method):
    coded = code_table(frame(table), schema())
    return method.search(Task(coded, tuple(requirements(require, ["salary"]))))


def members_of(groups):
    return [np.flatnonzero(groups.labels == group).tolist() for group in range(len(groups))]


@settings(max_examples=examples(60))
@given(tables(most=30), st.integers(0, 6), st.integers(1, 5), st.sampled_from(METHODS))
def test_every_group_keeps_its_chains_short(table, epsilon, m, method):
    salaries = table["salary"]
    assume(proximity.generalizable(salaries, "chain", m, epsilon=epsilon))
    try:
        groups = search(table, shoal.principles.Chain(epsilon=epsilon, m=m), method)
    except shoal.NotAchievable:
        assert not isinstance(
            method, shoal.methods.Split
        )  # which finds groups wherever there are some
        return
    for members in members_of(groups):
        assert proximity.holds([salaries[r] for r in members], "chain", m, epsilon=epsilon)


@pytest.mark.parametrize("method", METHODS)
def test_many_rows_keep_their_chains_short(method):
    """Buckets that hold by counts of near members, and not by chains, come with some hundred."""
    chance = np.random.default_rng(7)
    table = {
        "age": chance.integers(16, 90, 1500).tolist(),
        "zip": chance.integers(0, 900, 1500).tolist(),
        "job": chance.choice([*"abcde"], 1500).tolist(),
        "salary": chance.lognormal(10.4, 0.7, 1500).astype(int).tolist(),
    }
    groups = search(table, shoal.principles.Chain(epsilon=1500, m=4), method)
    for members in members_of(groups):
        salaries = [table["salary"][row] for row in members]
        assert proximity.holds(salaries, "chain", 4, epsilon=1500)


@settings(max_examples=examples(60))
@given(tables(most=30), st.integers(0, 4), st.integers(1, 3), st.integers(3, 5))
def test_chains_are_kept_in_groups_that_let_three_and_more_be_one(table, epsilon, m, times):
    salaries, k = table["salary"], times * m
    assume(len(salaries) >= k)
    require = [shoal.principles.Chain(epsilon=epsilon, m=m), shoal.principles.KAnonymity(k=k)]
    try:
        groups = search(table, require, shoal.methods.Exchange())
    except shoal.NotAchievable:
        return
    for members in members_of(groups):
        assert len(members) >= k
        assert proximity.holds([salaries[r] for r in members], "chain", m, epsilon=epsilon)


@settings(max_examples=examples(60))
@given(tables(most=30), st.integers(0, 6), st.integers(1, 5), st.sampled_from(METHODS[:3]))
def test_groups_under_twice_m_are_those_of_epsilon_m(table, epsilon, m, method):
    assume(proximity.generalizable(table["salary"], "chain", m, epsilon=epsilon))
    asked = (
        shoal.principles.Chain(epsilon=epsilon, m=m),
        shoal.principles.EpsilonM(epsilon=epsilon, m=m),
    )
    try:
        chains, stars = (search(table, one, method) for one in asked)
    except shoal.NotAchievable:
        return
    if stars.sizes.max() < 2 * m:
        assert (chains.labels == stars.labels).all()


@settings(max_examples=examples(60))
@given(tables(most=30), st.integers(0, 6), st.integers(1, 3), st.integers(1, 5))
def test_the_least_loss_takes_chains_as_long_as_they_may_be(table, epsilon, m, times):
    """What may be near is more than what a search lets be, so the bound is that of stars."""
    coded = code_table(frame(table), schema())
    asked = (
        shoal.principles.Chain(epsilon=epsilon, m=m),
        shoal.principles.EpsilonM(epsilon=epsilon, m=m),
    )
    beside = shoal.principles.KAnonymity(k=times * m)
    chains, stars = (least_loss(coded, requirements([one, beside], ["salary"])) for one in asked)
    assert chains == stars


def test_people_with_several_values_are_refused():
    table = pl.DataFrame({"who": [*"aabbccdd"], "age": [1, 1, 2, 2, 3, 3, 4, 4]}).with_columns(
        salary=10 * pl.int_range(8)
    )
    several = shoal.Schema(quasi="age", sensitive="salary", person="who")
    with pytest.raises(shoal.UsageError, match="one value per person"):
        shoal.anonymize(table, several, require=shoal.principles.Chain(epsilon=1, m=2))


def test_a_spoiled_release_is_found_out(tmp_path):
    rows = 60
    table = pl.DataFrame({"age": range(rows), "salary": [10 * (r % 20) for r in range(rows)]})
    plain = shoal.Schema(quasi="age", sensitive="salary")
    release = shoal.anonymize(table, plain, require=shoal.principles.Chain(epsilon=10, m=4), seed=1)
    audit = release.audit()
    assert audit.holds
    groups = dict(release.table.group_by("group").agg("salary").iter_rows())
    for salaries in groups.values():
        assert proximity.holds(salaries, "chain", 4, epsilon=10)
    joined = release.table.with_columns(group=pl.lit(1), age=pl.lit("[0, 59]"))
    joined.write_csv(tmp_path / "joined.csv")
    found = shoal.audit(
        tmp_path / "joined.csv", schema=plain, require=shoal.principles.Chain(epsilon=10, m=4)
    )
    assert not found.holds
