"""What every distance keeps; a new one inherits this and fills in its cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from shoal.distances.counting import neighbourhood_sizes
from shoal.distances.relation import Band, Bits, Points, Relation, Unsure, pack
from shoal.notation import parse
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive


def sensitive(*columns, kind=None):
    coded = (code_column(pl.Series(f"c{i}", list(c)), kind=kind) for i, c in enumerate(columns))
    return Sensitive.of(tuple(coded))


def near(relation: Relation, u: int, v: int) -> bool:
    """Say what a relation says, by the plain meaning of its form."""
    match relation:
        case Band():
            return bool(relation.first[v] <= u <= relation.last[v])
        case Bits():
            return bool(int(relation.rows[v, u // 64]) >> (u % 64) & 1)
        case Points():
            gaps = np.abs(relation.points[u] - relation.points[v])
            length = {1: gaps.sum(), 2: np.sqrt((gaps**2).sum()), 3: gaps.max(), 4: gaps.min()}
            return bool(length[relation.metric] <= relation.threshold)
        case Unsure():
            return u == relation.gap or (v < relation.gap and near(relation.values, u, v))


class DistanceContract:
    """What every distance keeps; a new one inherits this and fills in its cases."""

    distance: Any
    columns: tuple
    thresholds = (0, 0.1, 0.5, 1, 3)
    kind: str | None = None

    @property
    def value(self):
        return sensitive(*self.columns, kind=self.kind)

    def matrix(self):
        count = self.value.distinct
        left, right = np.array(list(product(range(count), repeat=2))).T
        return self.distance.between(self.value, left, right).reshape(count, count)

    def test_it_is_symmetric_nonnegative_and_zero_to_itself(self):
        matrix = self.matrix()
        assert (matrix >= 0).all()
        assert matrix == pytest.approx(matrix.T)
        assert (np.diag(matrix) == 0).all()

    def test_the_triangle_inequality_holds_exactly_where_it_says_so(self):
        matrix = self.matrix()
        detour = (matrix[:, :, None] + matrix[None, :, :]).min(axis=1)
        assert (matrix <= detour + 1e-9).all() or not self.distance.metric

    def test_its_relation_says_what_its_lengths_say(self):
        matrix = self.matrix()
        for threshold in self.thresholds:
            relation = self.distance.relation(self.value, Fraction(str(threshold)))
            for u, v in product(range(len(matrix)), repeat=2):
                if abs(matrix[u, v] - threshold) > 1e-6:
                    assert near(relation, u, v) == (matrix[u, v] <= threshold)
                elif abs(matrix[u, v] - threshold) < 1e-12:
                    assert near(relation, u, v)

    def test_kernels_count_what_the_relation_says(self):
        value = self.value
        for threshold in self.thresholds:
            relation = self.distance.relation(value, Fraction(str(threshold)))
            counts = np.bincount(value.codes)
            wanted = [
                sum(int(counts[u]) for u in range(value.distinct) if near(relation, u, v))
                for v in range(value.distinct)
            ]
            assert neighbourhood_sizes(relation, value).tolist() == wanted
            assert pack([relation]).forms.size == 1

    def test_it_reads_back_equal_to_itself(self):
        assert parse(repr(self.distance)) == self.distance
        assert hash(parse(repr(self.distance))) == hash(self.distance)
