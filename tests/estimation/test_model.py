"""The model: bases, chains that recover it, and starts that agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import shoal
from estimation.people import published, simulated
from reference.pooled import log_likelihood
from shoal.estimation.bases import independent, label_basis, number_basis, quasi_basis
from shoal.estimation.chains import Sampler, one_thread
from shoal.estimation.completing import Problem
from shoal.estimation.opening import open_release
from shoal.estimation.pooling import split_rhat


def moments(columns):
    assert columns.mean(0) == pytest.approx(np.zeros(columns.shape[1]), abs=1e-9)
    assert (columns**2).mean(0) == pytest.approx(np.ones(columns.shape[1]))


def test_functions_of_a_number_are_uncorrelated_and_follow_its_rank():
    values = np.random.default_rng(1).lognormal(size=500)
    basis = number_basis(values)
    moments(basis.functions)
    assert basis.functions.T @ basis.functions == pytest.approx(500 * np.eye(4), abs=1e-6)
    assert (np.diff(basis.functions[np.argsort(values), 0]) > 0).all()
    again = number_basis(np.exp(values) + 7)  # ranks alone decide
    assert again.functions == pytest.approx(basis.functions)


def test_a_value_that_many_rows_share_is_a_band_of_its_own():
    values = np.concatenate([np.zeros(80), np.random.default_rng(2).normal(50, 9, 420)])
    basis = number_basis(values)
    bands = basis.band[:80]
    assert len({*bands}) == 1
    assert basis.rows[bands[0]] == 80
    assert basis.functions.shape[1] == 5


def test_labels_have_an_indicator_each_and_rare_ones_none():
    codes = np.repeat([0, 1, 2, 3], [600, 200, 199, 1])
    basis = label_basis(codes)
    assert basis.functions.shape[1] == 2
    assert basis.first.all()
    assert basis.rows.tolist() == [600, 200, 199, 1]
    moments(basis.functions)


def test_what_others_make_up_is_left_out():
    one = np.random.default_rng(3).normal(size=(50, 1))
    assert independent(np.hstack([one, 2 * one, one**2])).shape == (50, 2)


def test_a_column_is_in_the_model_where_all_its_labels_are():
    random = np.random.default_rng(4)
    few, many = random.integers(0, 3, 2000), random.integers(0, 40, 2000)
    basis = quasi_basis({"age": random.normal(size=2000)}, {"few": few, "many": many})
    assert basis.plain == {"age", "few"}
    assert basis.crossed == {"age"}
    moments(basis.features)


def test_parameters_are_recovered_where_the_order_is_known():
    table = simulated(2500, 5)
    values = table["income"].to_numpy().astype(float)
    numbers = {name: table[name].to_numpy().astype(float) for name in ("age", "hours")}
    quasi = quasi_basis(numbers, {"sex": table["sex"].to_numpy()})
    basis = number_basis(values)
    everybody = np.arange(len(values) + 1)  # in a group of their own
    with one_thread():
        chain = Sampler(everybody, basis, quasi, 1)
        chain.advance(150)
        thetas = []
        for _ in range(60):
            chain.advance(1)
            thetas.append(chain.theta)
    assert (chain.order == np.arange(len(values))).all()
    # With normal errors of standard deviation s the slope of the score in the exponent is b / s²,
    # both measured in standard deviations of the log income.
    log = np.log(values)
    main = quasi.features[:, quasi.block == 0]
    design = np.column_stack([np.ones(len(log)), main])
    slopes = np.linalg.lstsq(design, (log - log.mean()) / log.std(), rcond=None)[0]
    rest = (log - log.mean()) / log.std() - design @ slopes
    expected = slopes[1:] / rest.var()
    assert np.mean(thetas, 0)[quasi.block == 0, 0] == pytest.approx(expected, rel=0.12)


def test_two_starts_agree():
    problem = Problem(open_release(published(simulated(1500, 6), 4000)), "income")
    log = np.log(problem.release.values["income"].numbers[problem.release.values["income"].codes])
    age = problem.quasi.features[:, 1]
    slopes = []
    with one_thread():
        for seed in (1, 2):
            chain = Sampler(problem.release.starts, problem.values, problem.quasi, seed)
            chain.advance(150)
            slopes.append([age @ log[order] for order in chain.advance(150, 50).orders])
    assert split_rhat(np.array(slopes)[:, :, None])[0] < 1.1


def test_estimates_are_those_of_the_likelihood_of_groups():
    """Of two labels the sum over all pairings can be computed, without draws."""
    random = np.random.default_rng(4)
    age, hours = random.integers(20, 70, 1000), random.integers(10, 60, 1000)
    chance = 1 / (1 + np.exp(0.4 - 0.08 * (age - 45) - 0.06 * (hours - 35)))
    state = np.where(random.random(1000) < chance, "ill", "well")
    table = pl.DataFrame({"age": age, "hours": hours, "state": state})
    schema = shoal.Schema(quasi=["age", "hours"], sensitive="state")
    options: Any = {"method": "Oblivious()", "form": "two-tables", "seed": 1}
    made = shoal.anonymize(table, schema, require="AlphaK(alpha=0.8, k=5)", **options)
    asked: Any = {"logit": True, "tables": 100, "seed": 1, "anyway": True}
    found = shoal.estimate(made, "state == 'ill' ~ age + hours", **asked).quantities
    people, values = made.table
    cases = dict(values.group_by("group").agg((pl.col("state") == "ill").sum()).rows())
    columns = people.select("group", pl.lit(1.0), pl.col("age", "hours") / 15 - 3)
    groups = [
        ([list(row) for row in part.drop("group").rows()], cases[group])
        for (group,), part in columns.group_by("group", maintain_order=True)
    ]
    best = minimize(lambda slopes: -log_likelihood(list(slopes), groups), [0, 0.5, 0.5])
    for one, exact in zip(found[1:], best.x[1:] / 15, strict=True):
        assert abs(one.naive) < exact / 5
        assert abs(one.estimate - exact) < one.se < exact / 2
