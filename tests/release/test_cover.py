"""What cells cover, against sets of Python; alike cells are found exactly, whatever the chances."""

import numpy as np
import polars as pl
import pytest

from shoal.principles.groups import Groups
from shoal.release import cover as module
from shoal.release.cover import Cover
from shoal.table.coding import code_column


def case(seed: int, rows: int, distinct: int, groups: int):
    random = np.random.default_rng(seed)
    labels = [f"label {number}" for number in random.integers(distinct, size=rows)]
    column = code_column(pl.Series("label", labels))
    return column, Groups.of(random.integers(groups, size=rows))


def covered_sets(column, groups):
    found: list[set[int]] = [set() for _ in range(len(groups))]
    for rank, group in zip(column.codes.tolist(), groups.labels.tolist(), strict=True):
        found[group].add(rank)
    return [sorted(one) for one in found]


def listed(covered):
    return [part.tolist() for part in np.split(covered.ranks, covered.starts[1:-1])]


CASES = [(1, 1, 1, 1), (2, 40, 1, 9), (3, 60, 4, 30), (4, 200, 3, 2), (5, 300, 50, 90)]


@pytest.mark.parametrize("run", [1, 7, 2**20])
@pytest.mark.parametrize("given", CASES)
def test_cells_list_the_labels_of_their_rows(monkeypatch, run, given):
    monkeypatch.setattr(module, "RUN", run)
    column, groups = case(*given)
    expected = covered_sets(column, groups)
    found = Cover.of(column, groups)
    assert listed(found) == expected
    assert found.low.tolist() == [one[0] for one in expected]
    assert found.high.tolist() == [one[-1] for one in expected]


@pytest.mark.parametrize("run", [1, 7, 2**20])
@pytest.mark.parametrize("given", CASES)
def test_kinds_are_the_different_cells(monkeypatch, run, given):
    monkeypatch.setattr(module, "RUN", run)
    column, groups = case(*given)
    expected = covered_sets(column, groups)
    found = Cover.of(column, groups).distinct()
    different = listed(found)
    assert [different[one] for one in found.borne] == expected
    assert len(different) == len({tuple(one) for one in expected})


@pytest.mark.parametrize("weight", [0, 1])
def test_sets_of_one_sum_are_told_apart(monkeypatch, weight):
    """Weights that tell nothing, or only how many labels a set has, are drawn anew."""
    column, groups = case(6, 80, 6, 40)
    real, tried = np.random.default_rng, []

    class Blind:
        def integers(self, _high, *, size, dtype):
            return np.full(size, weight, dtype)

    def draw(chance):
        tried.append(chance)
        return Blind() if chance < 2 else real(chance)

    monkeypatch.setattr(np.random, "default_rng", draw)
    found = Cover.of(column, groups).distinct()
    different = listed(found)
    assert [different[one] for one in found.borne] == covered_sets(column, groups)
    assert tried == [0, 1, 2]


def test_equal_rows_are_joined_beyond_64_bits():
    """More codes than a product of 64 bits can hold are renumbered on the way."""
    random = np.random.default_rng(7)
    codes = random.integers(2, size=(9, 50))
    found = Groups.alike(50, [(one, 2**20) for one in codes])
    rows = [tuple(row) for row in codes.T.tolist()]
    numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
    assert found.labels.tolist() == [numbers[row] for row in rows]
