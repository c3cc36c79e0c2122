"""What needs a model, and what the model has: decided by the analysis, not by a few draws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import shoal
from estimation.people import published, release, simulated
from shoal.estimation import analyses
from shoal.estimation.bases import quasi_basis
from shoal.estimation.opening import Analysable
from shoal.estimation.spanning import followed
from shoal.table.coding import code_lenient
from stated import stated

GROUP = 3


def small(seed: int, groups: int = 2) -> Analysable:
    """Return groups of which some have one quasi value, and some one sensitive value."""
    random = np.random.default_rng(seed)
    age = np.concatenate(
        [random.integers(1, 1 + random.integers(1, 4), GROUP) for _ in range(groups)]
    )
    pay = np.concatenate(
        [random.integers(1, 1 + random.integers(1, 5), GROUP) for _ in range(groups)]
    )
    column = {n: code_lenient(pl.Series(n, one)) for n, one in (("age", age), ("pay", pay))}
    starts = np.arange(groups + 1) * GROUP
    return Analysable(stated(), starts, {"age": column["age"]}, {"pay": column["pay"]})


ASKED = {
    "regression": lambda one: analyses.regression(one, "pay ~ age", logit=False),
    "mixed": lambda one: analyses.regression(one, "I(pay * age) ~ 1", logit=False),
    "mean": lambda one: analyses.means(one, "pay", "age < 2"),
    "share": lambda one: analyses.shares(one, "pay > 1", "age < 2"),
    "quantile": lambda one: analyses.quantiles(one, 0.5, "pay", "age < 2"),
    "whole": lambda one: analyses.quantiles(one, 0.5, "pay", None),
    "correlation": lambda one: analyses.correlations(one, "pay"),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_is_settled_is_the_same_for_every_pairing(what, monkeypatch):
    monkeypatch.setattr(analyses, "FEWEST", 1)
    tried = set()
    for seed in range(80):
        one = small(seed)
        try:
            analysis = ASKED[what](one)
        except shoal.UsageError:  # one age alone
            continue
        inside = list(permutations(range(GROUP)))
        orders = np.array([[*a, *(GROUP + np.array(b))] for a in inside for b in inside], np.int32)
        with np.errstate(all="ignore"):
            found = np.array([analysis.fit(order) for order in orders])
        same = np.isclose(found, found[0], equal_nan=True).all()
        assert same or not analysis.settled
        tried.add(analysis.settled)
    assert tried == ({True} if what == "whole" else {True, False})


def days(rows: int = 1200) -> pl.DataFrame:
    """Return people with whole numbers of days, of which the young have fewer."""
    random = np.random.default_rng(3)
    age, hours = random.integers(18, 75, rows), random.integers(10, 60, rows)
    few = np.round(10 + (age - 45) * 0.12 + random.normal(0, 3, rows)).clip(0, 40).astype(int)
    return pl.DataFrame({"age": age, "hours": hours, "days": few})


def test_a_quantile_that_random_pairings_agree_on_is_not_taken_for_settled():
    table = days()
    schema = shoal.Schema(quasi=["age", "hours"], sensitive="days")
    made = published(table, 1.5, schema=schema)
    found = shoal.estimate(made, quantile=0.5, by="age < 30", seed=1)
    assert found.status == "refused"
    anyway = shoal.estimate(made, quantile=0.5, by="age < 30", seed=1, anyway=True)
    young = anyway["quantile(days, 0.5)[age < 30=1]"]
    own = table.filter(pl.col("age") < 30)["days"].median()
    assert young.naive != own
    assert "no model is needed" not in young.reason


def test_an_error_of_0_is_not_called_valid():
    found = shoal.estimate(release(), share="income > 900000000", seed=1)
    assert found.quantities[0].se == 0
    assert found.status == "approximate"
    assert "too small" in found.reason


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"formula": "log(income) ~ C(age)"}, "C(age)"),
        ({"mean": "income", "by": "age == 40"}, "[age == 40=0]"),
        ({"share": "income == 30000", "by": "age + hours < 85"}, "income == 30000"),
        ({"quantile": 0.999, "by": "age < 40"}, "quantile(income, 0.999)"),
    ],
)
def test_steps_that_the_model_does_not_follow_make_answers_approximate(asked, said):
    table = simulated(900, 1).with_columns(
        income=pl.when(pl.int_range(900) % 40 == 0).then(30_000).otherwise("income")
    )
    found = shoal.estimate(published(table, 800), **asked, seed=1)
    assert found.status == "approximate"
    assert f"steps as fine as {said}" in found.reason


def test_smooth_terms_halves_and_products_are_followed():
    random = np.random.default_rng(1)
    age, hours = random.integers(18, 75, 1000), random.normal(40, 9, 1000)
    features = quasi_basis({"age": age.astype(float), "hours": hours}, {}).features
    for column in (age**2, np.log(age), age < 30, hours > 50, age * hours, np.ones(1000)):
        assert followed(features, column)
    for column in (age == 40, age % 2, np.sin(age)):
        assert not followed(features, column)


@pytest.mark.parametrize("levels", [3, 4, 5])
def test_a_number_of_few_values_may_go_with_anything(levels):
    column = np.random.default_rng(levels).integers(0, levels, 900).astype(float)
    features = quasi_basis({"class": column}, {}).features
    for level in range(levels):
        design = np.column_stack([np.ones(900), features])
        wanted = (column == level).astype(float)
        rest = wanted - design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
        assert rest @ rest < 1e-12


def test_a_middle_class_that_differs_is_estimated():
    random = np.random.default_rng(1)
    age, kind = random.integers(18, 75, 1500), random.integers(1, 4, 1500)
    mean = 8 + 0.03 * age + 0.5 * (kind == 2)
    pay = np.round(np.exp(mean + random.normal(0, 0.3, 1500))).astype(int)
    table = pl.DataFrame({"age": age, "kind": kind, "pay": pay})
    schema = shoal.Schema(quasi=["age", "kind"], sensitive="pay")
    made = published(table, 2500, schema=schema)
    middle = shoal.estimate(made, "log(pay) ~ age + C(kind)", seed=1, anyway=True)["C(kind)[T.2]"]
    assert abs(middle.estimate - 0.5) < 4 * middle.se
    assert abs(middle.estimate - 0.5) < abs(middle.naive - 0.5) / 3
