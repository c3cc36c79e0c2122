"""The contract of every distance, and its own cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.distances.relation import Band, Bits, Points, Relation, neighbourhood_sizes, pack
from shoal.errors import BadParameter, InputError, UsageError
from shoal.notation import parse
from shoal.table.coded import Sensitive
from shoal.table.coding import code_column


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


class Contract:
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


class TestAbsolute(Contract):
    distance = shoal.Absolute()
    columns = ([3, 1, 1, 7, -2, 3],)


class TestManhattan(Contract):
    distance = shoal.Lp(p=1, weights=(0.4, 0.6))
    columns = ([3, 1, 1, 7, 0, 3], [0.5, 0.1, 0.1, 0.9, 0.2, 0.7])


class TestEuclid(Contract):
    distance = shoal.Lp(p=2, scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestLargest(Contract):
    distance = shoal.Lp(p="max", scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestCube(Contract):
    distance = shoal.Lp(p=3, scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestSmallestDifference(Contract):
    distance = shoal.SmallestDifference()
    columns = ([0.8, 0.6, 0.7, 1.0, 0.1], [0.0, 0.4, 0.1, 0.2, 0.9], [0.0, 0.4, 0.1, 0.2, 0.9])


class TestTotalVariation(Contract):
    distance = shoal.TotalVariation()
    columns = ([0.5, 0.2, 1.0, 0.2], [0.5, 0.8, 0.0, 0.7], [0.0, 0.0, 0.0, 0.1])


class TestEquality(Contract):
    distance = shoal.Equality()
    columns = (["a", "b", "a", "c"], ["x", "x", "x", "y"])


class TestEdit(Contract):
    distance = shoal.Edit()
    columns = (["kitten", "sitting", "mitten", "", "kit"],)
    thresholds = (0, 1, 2, 3, 6)


class TestHierarchical(Contract):
    distance = shoal.Hierarchical(
        levels=(("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "belly", "*"))
    )
    columns = (["flu", "cold", "ulcer", "flu"],)


class TestPrefix(Contract):
    distance = shoal.Hierarchical(shoal.Prefix())
    columns = (["E11.9", "E11.0", "E10", "I20", "I2", "E11.9"],)


class TestComposite(Contract):
    distance = shoal.Composite(
        (shoal.Lp(), shoal.Equality(), shoal.Hierarchical(shoal.Prefix())), weights=(0.5, 1, 0.5)
    )
    columns = (
        [3, 1, 1, 7, 0, 3],
        ["a", "b", "b", "a", "c", "a"],
        ["E11", "E1", "E1", "I2", "E11", "I2"],
    )
    thresholds = (0, 0.1, 0.5, 1, 2)


class TestLookup(Contract):
    distance = shoal.Lookup(pairs=(("a", "b", 0.2), ("a", "c", 0.9), ("c", "b", 0.5)))
    columns = (["a", "b", "c", "a"],)


class TestGreatCircle(Contract):
    distance = shoal.GreatCircle()
    columns = ([52.52, 48.86, 40.71, -33.87, 52.52], [13.4, 2.35, -74.0, 151.2, 13.5])
    thresholds = (0, 10, 900, 6000, 30000)


class TestFunctionPerPair(Contract):
    distance = shoal.Function.of(lambda u, v: abs(len(u) - len(v)))
    columns = (["a", "bb", "ccc", "dd"],)


def vector_gap(u, v):
    return np.abs(u - v)


class TestFunctionVectorized(Contract):
    distance = shoal.Function.of(vector_gap, vectorized=True)
    columns = ([1, 5, 2, 2],)


def test_edits_are_counted_as_levenshtein_does():
    value = sensitive(["kitten", "sitting"])
    assert shoal.Edit().between(value, np.array([0]), np.array([1])) == [3]


def test_berlin_is_878_kilometres_from_paris():
    value = sensitive([52.52, 48.8566], [13.405, 2.3522])
    found = shoal.GreatCircle().between(value, np.array([0]), np.array([1]))
    assert found == pytest.approx([878], abs=1)


def test_the_hierarchical_distance_is_the_height_of_the_common_ancestor():
    value = TestHierarchical().value  # cold, flu, ulcer
    found = TestHierarchical.distance.between(value, np.array([0, 0]), np.array([1, 2]))
    assert found == pytest.approx([0.5, 1])


def test_a_hierarchy_file_in_the_form_of_arx_becomes_levels(tmp_path):
    (tmp_path / "h.csv").write_text("flu;lung;*\ncold;lung;*\n", "utf-8")
    distance = shoal.Hierarchical(file=str(tmp_path / "h.csv"))
    assert distance.levels == (("flu", "lung", "*"), ("cold", "lung", "*"))
    assert str(tmp_path) not in repr(distance)


def test_a_table_of_distances_can_be_a_file_or_a_frame(tmp_path):
    frame = pl.DataFrame({"a": ["x"], "b": ["y"], "d": [0.5]})
    frame.write_csv(tmp_path / "d.csv")
    assert shoal.Lookup(file=str(tmp_path / "d.csv")) == shoal.Lookup.of(frame)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: shoal.Lp(p=0.5), BadParameter),
        (lambda: shoal.Lp(weights=(1, -1)), BadParameter),
        (lambda: shoal.Lp(scale="half"), BadParameter),
        (lambda: shoal.Lookup(pairs=(("a", "b", -1),)), InputError),
        (lambda: shoal.Lookup(pairs=(("a", "b", float("nan")),)), InputError),
        (lambda: shoal.Hierarchical(levels=(("a", "x", "*"), ("b", "*"))), InputError),
        (lambda: shoal.Hierarchical(levels=(("a", "x", "*"), ("a", "y", "*"))), InputError),
        (
            lambda: shoal.Hierarchical(
                levels=(("a", "x", "p", "*"), ("b", "x", "q", "*")),
            ),
            InputError,
        ),
        (lambda: shoal.Hierarchical(file="no such file"), InputError),
    ],
)
def test_a_bad_distance_is_refused_when_it_is_made(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("distance", "columns", "words"),
    [
        (shoal.Lp(weights=(1, 2)), ([1, 2],), "2 weights for 1"),
        (shoal.Absolute(), ([1, 2], [3, 4]), "about 1 sensitive column"),
        (shoal.TotalVariation(), ([0.5, 0.2], [0.5, 0.2]), "add up to 1"),
        (shoal.GreatCircle(), ([1, 91], [3, 4]), "latitude"),
        (shoal.Lookup(pairs=(("a", "b", 1),)), (["a", "b", "c"],), "lacks the pair"),
        (shoal.Lookup(pairs=(("a", "b", 1), ("b", "a", 2))), (["a", "b"],), "symmetric"),
        (shoal.Hierarchical(levels=(("a", "*"),)), (["a", "b"],), "lacks the label 'b'"),
        (shoal.Edit(), (["a" * 65, "b"],), "short strings"),
        (shoal.Function(name="nobody"), ([1, 2],), "not known"),
    ],
)
def test_a_distance_that_does_not_fit_the_table_is_refused(distance, columns, words):
    with pytest.raises((InputError, UsageError), match=words):
        distance.relation(sensitive(*columns), Fraction(1, 2))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda u, v: u - v, "negative"),
        (lambda u, v: float("nan"), "not a number"),
        (lambda u, v: 1.0, "not 0"),
        (lambda u, v: float(u != v) * (1 + (u > v)), "not symmetric"),
        (lambda u, v: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_function_that_is_no_distance_is_refused_with_the_pair(function, words):
    with pytest.raises(InputError, match=words):
        shoal.Function.of(function).relation(sensitive([1, 2, 3]), Fraction(1))


def test_a_matrix_that_would_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("shoal.distances.base.MATRIX_BYTES", 8)
    with pytest.raises(InputError, match=r"3 distinct values .* GiB"):
        shoal.Edit().relation(sensitive(["a", "b", "c"]), Fraction(1))
