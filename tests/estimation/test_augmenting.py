"""Estimates from releases of one table: quasi values are drawn inside the cells of their groups."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2

import shoal
from estimation.people import QUASI, TRUTH, published, simulated
from shoal.estimation import judging
from shoal.estimation.augmenting import DrawnMembers, GroupCells, Shapes, grid_column
from shoal.estimation.bases import label_basis, quasi_basis
from shoal.estimation.chains import Sampler
from shoal.estimation.completing import Problem
from shoal.estimation.judging import inside_cells
from shoal.estimation.opening import Analysable, numbers_of, open_release
from shoal.release.manifest import NoConclusion, check_drawable
from shoal.release.stated import StatedColumn
from stated import stated

FORMULA = "log(income) ~ age + hours + C(sex)"
ONE_TABLE = ["intervals", "bounds", "means"]


@cache
def mild(form: str) -> shoal.Release:
    """Return a release with narrow cells."""
    return published(simulated(1500, 3), 800, form=form)


@cache
def drawn(form: str) -> Analysable:
    """Return it as estimates read it."""
    return open_release(mild(form), check_drawable)


def moved(release: Analysable, turns: int) -> tuple[DrawnMembers, Shapes]:
    """Return the members after some moves, with a model that is not flat."""
    problem = Problem(release, "income")
    chain = problem.sampler(1)
    chain.advance(turns)
    assert chain.members is not None
    assert problem.shapes is not None
    return chain.members, problem.shapes


def test_slopes_are_right_where_naive_ones_are_not():
    table = simulated(3000, 7)
    found = shoal.estimate(published(table, 2500, form="intervals"), FORMULA, seed=1)
    assert found.status == "approximate"
    assert "exact quasi-identifiers" in found.reason
    assert [one.name for one in found.quantities] == list(TRUTH)
    for one in found.quantities:
        assert abs(one.estimate - TRUTH[one.name]) < 3.5 * one.se
    own = shoal.estimate(published(table, 1), FORMULA, seed=1)["hours"].estimate
    hours = found["hours"]
    assert abs(hours.estimate - own) < abs(hours.naive - own) / 2
    assert abs(hours.naive - TRUTH["hours"]) > 2 * hours.se


@pytest.mark.parametrize("form", ONE_TABLE)
def test_a_mild_release_answers_and_its_directory_the_same(form, tmp_path):
    mild(form).write(tmp_path / "published")
    one = shoal.estimate(mild(form), FORMULA, seed=3)
    assert one.status == "approximate"
    assert len(one.quantities) == len(TRUTH)
    assert shoal.estimate(tmp_path / "published", FORMULA, seed=3) == one


@pytest.mark.parametrize("form", ONE_TABLE)
def test_draws_keep_to_what_the_cells_say(form):
    release = drawn(form)
    members, shapes = moved(release, 60)
    begun = np.column_stack([one.codes for one in release.quasi.values()])
    assert (members.codes != begun).any()
    assert members.features == pytest.approx(shapes.of(members.codes))
    for place, cells in enumerate(release.cells.values()):
        for group, (first, last) in enumerate(
            zip(release.starts, release.starts[1:], strict=False)
        ):
            mine = members.codes[first:last, place]
            if cells.sets is None:
                assert (mine.min(), mine.max()) == (cells.low[group], cells.high[group])
            else:
                begin, listed = cells.sets
                assert set(mine) == set(listed[begin[group] : begin[group + 1]])


def test_cells_hold_the_published_rows_and_values_stay_in_their_groups():
    release, table = drawn("intervals"), simulated(1500, 3)
    for name in QUASI:
        assert set(numbers_of(release.quasi[name])) <= set(range(81))
    income = np.sort(numbers_of(release.value(None)))
    assert income.tolist() == table["income"].sort().to_list()


def test_draws_keep_near_the_published_means():
    table = simulated(1500, 3)
    wide = published(table, 4000, form="means")
    off = {}
    for kept in (True, False):
        release = open_release(wide, check_drawable)
        cells = release.cells["hours"]
        assert cells.means is not None
        if not kept:
            bare = GroupCells(cells.domain, cells.low, cells.high)
            release = Analysable(
                release.manifest,
                release.starts,
                release.quasi,
                release.values,
                cells={**release.cells, "hours": bare},
            )
        members, _ = moved(release, 60)
        place = list(release.quasi).index("hours")
        numbers = np.asarray(cells.domain.numbers)[members.codes[:, place]]
        sizes = np.diff(release.starts)
        means = np.add.reduceat(numbers, release.starts[:-1]) / sizes
        off[kept] = np.abs(means - cells.means).mean()
    assert off[True] < off[False] / 2


def test_shapes_are_the_features_of_the_model():
    table = simulated(400, 5)
    numbers = {name: table[name].to_numpy().astype(float) for name in ("age", "hours")}
    labels = {"sex": table["sex"].to_numpy()}
    basis = quasi_basis(numbers, labels)
    assert len(basis.columns) == basis.features.shape[1]
    release = drawn("intervals")
    problem = Problem(release, "income")
    codes = np.column_stack([one.codes for one in release.quasi.values()])
    assert problem.shapes is not None
    assert problem.shapes.of(codes) == pytest.approx(problem.quasi.features)


def test_moves_reach_all_that_a_cell_allows_as_often_as_it_is_likely():
    groups, size = 6000, 3
    random = np.random.default_rng(2)
    chances = np.array([0.4, 0.2, 0.1, 0.3])
    truth = random.choice(4, (groups, size), p=chances)
    least, most = truth.min(1).astype(np.int32), truth.max(1).astype(np.int32)
    cells = {"age": GroupCells(grid_column("age", least * 1.0, most * 1.0)[0], least, most)}
    starts = np.arange(groups + 1) * size
    begun = Analysable(stated(), starts, {}, {}, cells=cells)
    release = begun.filled(cells["age"].fill(starts, random)[:, None])
    basis = quasi_basis({"age": numbers_of(release.quasi["age"]) * 1.0}, {})
    shapes = Shapes(basis, release.quasi)
    flat = Sampler(starts, label_basis(np.arange(groups * size) % 2), basis, 1)  # says nothing
    members = DrawnMembers(cells, shapes, starts, random)
    for _ in range(40):
        members.move(flat)
    found = np.bincount(members.codes[:, 0], minlength=4) / (groups * size)
    assert found == pytest.approx(chances, abs=0.02)
    widest = members.codes.reshape(groups, size)[(least == 0) & (most == 3)]
    allowed = [one for one in product(range(4), repeat=size) if min(one) == 0 and max(one) == 3]
    expected = np.array([found[list(one)].prod() for one in allowed])
    expected *= len(widest) / expected.sum()
    seen = np.array([(widest == one).all(1).sum() for one in allowed])
    assert seen.sum() == len(widest)
    assert ((seen - expected) ** 2 / expected).sum() < chi2.ppf(0.9999, len(allowed))


@pytest.mark.parametrize("form", ONE_TABLE)
def test_wide_cells_are_refused_with_a_sentence(form):
    wide = published(simulated(600, 1), 9000, form=form)
    every: list[dict[str, Any]] = [{"formula": FORMULA}, {"correlation": True}]
    for asked in [*every, {"mean": "income", "by": "age < 40"}]:
        found = shoal.estimate(wide, **asked, seed=1)
        assert (found.status, found.quantities) == ("refused", ())
        assert "lies inside the cells of groups (limit 10%)" in found.reason
        assert "two-tables" in found.reason
    assert shoal.estimate(wide, mean="income").status == "valid"


def test_how_much_of_a_column_lies_inside_cells_is_counted():
    release = drawn("intervals")
    found = inside_cells(release)
    age, cells = numbers_of(release.quasi["age"]), release.cells["age"]
    width = (
        np.asarray(cells.domain.numbers)[cells.high] - np.asarray(cells.domain.numbers)[cells.low]
    )
    each = np.repeat(width, np.diff(release.starts))
    assert found["age"] == pytest.approx((each**2).mean() / 12 / age.var())
    assert found["sex"] < 0.05


def test_groups_that_follow_values_are_refused_where_much_is_missing(monkeypatch):
    made = published(simulated(600, 1), 500, form="intervals", method="Split()")
    assert shoal.estimate(made, FORMULA, seed=1).status == "approximate"
    monkeypatch.setattr(judging, "NEAR", 0.0)
    found = shoal.estimate(made, FORMULA, seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert "Split() looked at values when it formed the groups" in found.reason


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cells": "regions"}, "cells that are regions"),
        ({"columns": [StatedColumn("zip", "quasi", kind="node")]}, "nodes of a hierarchy in zip"),
        (
            {"columns": [StatedColumn("age", "quasi", kind="interval", domain=[1, 2, None])]},
            "missing numbers in age",
        ),
    ],
)
def test_cells_that_the_model_cannot_draw_from_are_refused(changed, said):
    with pytest.raises(NoConclusion, match=said):
        check_drawable(mild("intervals").manifest.but(**changed))


def test_single_values_of_what_is_published_as_ranges_are_refused():
    found = shoal.estimate(mild("intervals"), "log(income) ~ C(hours)", seed=1)
    assert (found.status, found.quantities) == ("refused", ())
    assert "single values of a quasi-identifier" in found.reason


def test_labels_are_drawn_from_their_sets():
    busy = (pl.col("hours") > 35).cast(int) + (pl.col("hours") > 45).cast(int)
    table = simulated(1500, 4).with_columns(region=pl.format("r{}", busy))
    schema = shoal.Schema(quasi=["age", "region"], sensitive="income")
    made = published(table, 1000, schema=schema, form="intervals")
    release = open_release(made, check_drawable)
    assert release.cells["region"].sets is not None
    found = shoal.estimate(made, "log(income) ~ age", seed=1)
    assert found.status == "approximate"
    assert abs(found["age"].estimate - TRUTH["age"]) < 3.5 * found["age"].se
