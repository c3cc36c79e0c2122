"""Attacks against their definitions, on random releases."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import attacks
from shoal.audit.covers import CellCover
from shoal.audit.learning import learn
from shoal.audit.linking import best_window, windows
from shoal.audit.published import open_published
from shoal.table.coding import code_column

SCHEMA = shoal.Schema(quasi=["q"], sensitive="s")
EPSILONS, DELTAS = (0, 0.5, 1, 3), (0, 0.25, 0.5, 0.75, 0.9, 1)

partitions = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=9), min_size=1, max_size=5)


@given(partitions)
def test_vulnerability(groups):
    rows = [(g, value) for g, group in enumerate(groups) for value in group]
    release = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    (found,) = shoal.attack([release], SCHEMA, epsilons=EPSILONS, deltas=DELTAS).vulnerability
    assert found.breaches == tuple(
        tuple(attacks.breaches(groups, str(epsilon), str(delta)) for delta in DELTAS)
        for epsilon in EPSILONS
    )


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.sampled_from(EPSILONS))
def test_the_best_guess(values, epsilon):
    column = code_column(pl.Series("s", values))
    low, high = best_window(column.codes, windows(column, epsilon))
    held = int(((low <= column.codes) & (column.codes <= high)).sum())
    assert held == attacks.most_within(values, str(epsilon))
    assert column.numbers[high] - column.numbers[low] <= 2 * epsilon


boxes = st.lists(
    st.tuples(st.tuples(st.integers(0, 4), st.integers(0, 4)).map(sorted).map(tuple),
              st.sampled_from("xyz")),
    min_size=1, max_size=15,
)  # fmt: skip


@given(boxes, st.lists(st.sampled_from("xyz"), min_size=5, max_size=5))
def test_naive_bayes(release, truths):
    """The original has the values 0 … 4, so that every box covers some of them."""
    table = pl.DataFrame(
        {"q": [f"[{low}, {high}]" for (low, high), _ in release], "s": [s for _, s in release]}
    )
    original = pl.DataFrame({"q": range(5), "s": truths})
    found = learn(CellCover(open_published(table, SCHEMA), original), original, "s")
    classes = sorted({s for _, s in release})
    sure = possible = 0
    for value, truth in enumerate(truths):
        scores = attacks.bayes(release, range(5), value, classes)
        best = [s for s, score in zip(classes, scores, strict=True) if score == max(scores)]
        sure += best == [truth]
        possible += truth in best
    assert sure / 5 <= found.accuracy + 1e-9
    assert found.accuracy <= possible / 5 + 1e-9


def test_linking_is_right_as_often_as_the_fullest_window():
    """Ten people share a description; four of them lie within 2ε of one another."""
    values = [0, 10, 20, 25, 100, 200, 300, 400, 500, 600]
    release = pl.DataFrame({"q": ["0-9"] * 10, "s": values})
    original = pl.DataFrame({"q": np.arange(10), "s": values})
    found = shoal.attack([release], SCHEMA, original=original, epsilons=[12, 13]).links
    assert [one.hits for one in found] == pytest.approx([0.3, 0.4])
    assert [one.candidates for one in found] == [10, 10]
