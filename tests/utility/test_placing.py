"""Means: which row of a group lies where is learned from all groups, and never from nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference.pairing import learned, placed_count
from shoal.audit.published import plain_text
from shoal.release.cover import Cover
from shoal.table.coding import code_column
from shoal.utility import pairing
from shoal.utility.columns import Exact, Intervals
from shoal.utility.expression import read_condition
from shoal.utility.placing import CellPlaces
from shoal.utility.queries import BoxTable, Rows
from shoal.utility.selectivity import answers_of
from shoal.utility.tilted import Tilted, tilt_below

SCHEMA = shoal.Schema(quasi=["age", "year"], sensitive="pay")


def made(rows: int, seed: int, *, tells: bool) -> pl.DataFrame:
    """Return people whose pay goes with age and year or with nothing."""
    chance = np.random.default_rng(seed)
    age, year = chance.integers(18, 90, rows), chance.integers(1900, 2000, rows)
    usual = np.where(tells, 40 * age + 4 * (year - 1900), 2500)
    pay = usual + chance.integers(0, 600 if tells else 3000, rows) + chance.exponential(200, rows)
    return pl.DataFrame({"age": age, "year": year, "pay": pay.astype(np.int64)})


def published(frame: pl.DataFrame, m: int = 5, form: str = "means", **said: Any) -> shoal.Release:
    return shoal.anonymize(
        frame, SCHEMA, require=f"EpsilonM(epsilon=150, m={m})", form=form, seed=1, **said
    )


def boxes(release: shoal.Release) -> BoxTable:
    answers = release.answers()
    assert isinstance(answers, BoxTable)
    return answers


@pytest.mark.long
@pytest.mark.few(1)
@pytest.mark.parametrize("m", [5, 7])
@pytest.mark.parametrize("seed", range(2))
def test_means_are_ahead_of_intervals_where_values_go_with_places(m, seed):
    frame = made(5000, seed, tells=True)
    release = published(frame, m)
    plain = replace(boxes(release))
    object.__setattr__(plain, "placed", None)
    for quasi in (1, 2):
        asked = shoal.measures.Workload(quasi=quasi, queries=150).draw(frame, SCHEMA, seed=seed)
        found = asked.error(release).mean
        assert found < 0.8 * asked.error(release.as_form("intervals")).mean
        assert found < 0.8 * asked.compare(plain).mean


@pytest.mark.long
def test_means_of_three_are_ahead_of_intervals_on_the_whole():
    """Of three rows all is known but which is which: one table of 150 queries decides little."""
    ratios = []
    for seed in range(4):
        frame = made(5000, seed, tells=True)
        release = published(frame, 3)
        for quasi in (1, 2):
            asked = shoal.measures.Workload(quasi=quasi, queries=150).draw(frame, SCHEMA, seed=seed)
            behind = asked.error(release.as_form("intervals")).mean
            ratios.append(asked.error(release).mean / behind)
    assert np.mean(ratios) < 0.9
    assert max(ratios) < 1.05


@pytest.mark.parametrize("seed", range(4))
def test_what_groups_do_not_tell_is_not_learned(seed):
    assert boxes(published(made(4000, seed, tells=False))).placed is None


def test_counts_add_up_to_what_is_published():
    release = published(made(1500, 3, tells=True))
    table = boxes(release)
    assert table.placed is not None
    assert "age" in table.placed.columns
    for young in ("age <= 35", "age <= 35 and year > 1960"):
        for rich in ("pay > 3000", "2000 <= pay < 2200", "pay != 2500"):
            both = release.count(f"{young} and {rich}")
            assert 0 <= both <= min(release.count(young), release.count(rich)) + 1e-3
            parts = both + release.count(f"{young} and not ({rich})")
            assert parts == pytest.approx(release.count(young), rel=1e-5)
            parts = both + release.count(f"not ({young}) and {rich}")
            assert parts == pytest.approx(release.count(rich), rel=1e-5)
    everybody = release.count("age <= 200 and pay > 3000")
    assert everybody == pytest.approx(release.count("pay > 3000"), rel=1e-5)
    object.__setattr__(table, "placed", None)  # one column is counted as it was before
    for alone in ("age <= 35", "year > 1960", "20 <= age < 30 or age == 80"):
        assert shoal.count(table, alone) == pytest.approx(release.count(alone))


def test_answers_do_not_depend_on_the_order_of_rows():
    frame = made(1500, 5, tells=True)
    release = published(frame)
    mixed = plain_text(release).sample(fraction=1, shuffle=True, seed=8)
    others = BoxTable.of(mixed, release.manifest, release.schema), answers_of(release)
    asked = shoal.measures.Workload(quasi=2, queries=20).draw(frame, SCHEMA, seed=1)
    expected = asked.error(release).estimates
    for other in others:
        assert isinstance(other, BoxTable)
        assert other.placed is not None
        assert asked.compare(other).estimates == pytest.approx(expected, rel=1e-4, abs=1e-4)


@pytest.mark.long
def test_some_groups_are_enough_to_learn_from(monkeypatch):
    frame = made(1500, 5, tells=True)
    release = published(frame)
    asked = shoal.measures.Workload(quasi=1, queries=100).draw(frame, SCHEMA, seed=1)
    every = asked.compare(replace(boxes(release))).mean
    monkeypatch.setattr(pairing, "LEARNED", 1500)
    some = replace(boxes(release))
    assert some.placed is not None
    object.__setattr__(plain := replace(some), "placed", None)
    assert every < asked.compare(plain).mean
    assert asked.compare(some).mean < 0.95 * asked.compare(plain).mean


@pytest.mark.long
def test_weights_of_a_survey_go_with_where_rows_lie():
    frame = made(3000, 6, tells=True).with_columns(w=pl.lit(2.5))
    schema = shoal.Schema(quasi=["age", "year"], sensitive="pay", survey_weight="w")
    release = shoal.anonymize(
        frame, schema, require="EpsilonM(epsilon=150, m=5)", form="means", seed=1
    )
    table = boxes(release)
    assert table.placed is not None
    found = read_condition("age <= 35 and pay > 2500", table.columns)
    rows = sum(factor * table.count(dict(query)) for query, factor in found.items())
    assert release.count("age <= 35 and pay > 2500") == pytest.approx(2.5 * rows)


cells = st.lists(st.integers(0, 30), min_size=1, max_size=9)


def tilted(groups: list[list[int]]) -> Tilted:
    """Return ends, mean (two decimals) and number of some rows, group by group."""
    told = [(min(one), max(one), round(sum(one) / len(one), 2), len(one)) for one in groups]
    return Tilted.of(*np.array(told, float).T)


@settings(deadline=None, max_examples=examples(200))
@given(
    st.lists(cells, min_size=1, max_size=6), st.lists(st.integers(0, 31), min_size=4, max_size=4)
)
def test_places_together_are_what_the_mean_says(groups, ends):
    told = tilted(groups)
    every = np.arange(len(groups))[::-1].copy()
    places = CellPlaces.of(told, every)
    first, last, other, end = sorted(ends)
    runs = np.array([first, other + 1.0]), np.array([last, end + 1.0])
    marks = places.marks(*runs)
    assert (marks >= -1e-12).all()
    assert (marks <= 1 + 1e-9).all()
    inside = np.add.reduceat(places.weights * marks, places.starts[:-1])
    assert inside == pytest.approx(told.shares(*runs)[every], abs=1e-9)
    assert np.add.reduceat(places.weights, places.starts[:-1]) == pytest.approx(np.ones(len(every)))
    for cell, spot, begin, end in zip(
        places.cells, places.spots, places.begins, places.ends, strict=True
    ):
        low, high = told.lows[cell], told.highs[cell]
        assert low <= spot <= high
        if begin >= 0 and told.rows[cell] > 3 and low < high:
            size, rate = np.array([high - low + 1]), told.rates[[cell]]
            before, until = (tilt_below(size, rate, spot - low + one)[0] for one in (0, 1))
            assert before - 1e-9 <= (begin + end) / 2 <= until + 1e-9


@settings(deadline=None, max_examples=examples(40))
@given(
    st.lists(
        st.lists(
            st.tuples(st.integers(0, 9), st.integers(0, 6), st.integers(0, 3)),
            min_size=1,
            max_size=6,
        ),
        min_size=4,
        max_size=9,
    )
)
@example([[(0, 0, 0), (9, 6, 3), (1, 1, 0)]] * 4 + [[(5, 3, 1)] * 4])
def test_counts_are_those_of_the_definition(groups):
    rows = [(number, *row) for number, group in enumerate(groups) for row in group]
    frame = pl.DataFrame(rows, schema=["number", *SCHEMA.published], orient="row")
    table = box_table(groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairing, "LEAST", 1)
        patch.setattr(pairing, "MORE", 0.0)
        placed = table.placed
    if placed is None:
        return
    values = sorted(frame["pay"].unique())
    own = [[values.index(pay) for *_, pay in group] for group in groups]
    asked = [[pay >= 1 for *_, pay in group] for group in groups]
    columns = []
    for name, least, most in (("age", 2, 5), ("year", 0, 3)):
        column = table.quasi[name]
        assert isinstance(column, Intervals)
        assert column.tilted is not None
        places = CellPlaces.of(column.tilted, np.arange(len(groups)))
        ranks = {spot: rank for rank, spot in enumerate(np.unique(places.spots))}
        if len(ranks) > len(rows):
            return  # bands of several units are looked at elsewhere
        bands = [ranks[spot] for spot in places.spots]
        marks = places.marks(np.array([least]) - column.steps.origin, np.array([most * 1.0]))
        spans = [slice(*ends) for ends in pairwise(places.starts)]
        by_group = [(bands[at], places.weights[at].tolist(), marks[at].tolist()) for at in spans]
        told = [([(b,) for b in one[0]], s, one[1]) for one, s in zip(by_group, own, strict=True)]
        keys = [(0, b, s) for b in range(len(ranks)) for s in range(len(values))]
        likings = learned(told, keys, pairing.TURNS, pairing.ROUNDS, pairing.PRIOR)
        if name not in placed.columns:
            likings = dict.fromkeys(keys, 1.0)
        columns.append((likings, by_group))
    found = shoal.count(table, "2 <= age <= 5 and year <= 3 and pay >= 1")
    expected = placed_count([([], s) for s in own], columns, asked, pairing.LAST)
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-5)


def box_table(groups: list[list[tuple[int, int, int]]]) -> BoxTable:
    """Return what means of groups tell, in two columns."""
    quasi: dict[str, Any] = {}
    for place, name in enumerate(("age", "year")):
        own = [[row[place] for row in group] for group in groups]
        told = tilted(own)
        column = code_column(pl.Series(name, range(10)))
        cover = Cover(column, told.lows.astype(np.int32), told.highs.astype(np.int32))
        quasi[name] = replace(Intervals.of(cover), tilted=told)
    starts = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    pays = pl.Series("pay", [pay for group in groups for *_, pay in group])
    exact = Rows({"pay": Exact.of(pays)}, len(pays))
    every = np.arange(len(groups), dtype=np.int32)
    return BoxTable(quasi, np.array([every, every]), starts, exact, ("pay",))
