"""Every distance keeps the contract of its family, and has cases of its own."""

from __future__ import annotations

import inspect
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from contracts.distances import DistanceContract, sensitive
from shoal.distances.base import Distance
from shoal.errors import BadParameter, InputError, UsageError


class TestAbsolute(DistanceContract):
    distance = shoal.distances.Absolute()
    columns = ([3, 1, 1, 7, -2, 3],)


class TestManhattan(DistanceContract):
    distance = shoal.distances.Lp(p=1, weights=(0.4, 0.6))
    columns = ([3, 1, 1, 7, 0, 3], [0.5, 0.1, 0.1, 0.9, 0.2, 0.7])


class TestEuclid(DistanceContract):
    distance = shoal.distances.Lp(p=2, scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestLargest(DistanceContract):
    distance = shoal.distances.Lp(p="max", scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestCube(DistanceContract):
    distance = shoal.distances.Lp(p=3, scale="none")
    columns = ([3, 0, 1, 7, 0, 3], [4, 0, 1, 9, 2, 7])


class TestSmallestDifference(DistanceContract):
    distance = shoal.distances.SmallestDifference()
    columns = ([0.8, 0.6, 0.7, 1.0, 0.1], [0.0, 0.4, 0.1, 0.2, 0.9], [0.0, 0.4, 0.1, 0.2, 0.9])


class TestTotalVariation(DistanceContract):
    distance = shoal.distances.TotalVariation()
    columns = ([0.5, 0.2, 1.0, 0.2], [0.5, 0.8, 0.0, 0.7], [0.0, 0.0, 0.0, 0.1])


class TestEquality(DistanceContract):
    distance = shoal.distances.Equality()
    columns = (["a", "b", "a", "c"], ["x", "x", "x", "y"])


class TestEdit(DistanceContract):
    distance = shoal.distances.Edit()
    columns = (["kitten", "sitting", "mitten", "", "kit"],)
    thresholds = (0, 1, 2, 3, 6)


class TestHierarchical(DistanceContract):
    distance = shoal.distances.Hierarchical(
        levels=(("flu", "lung", "*"), ("cold", "lung", "*"), ("ulcer", "belly", "*"))
    )
    columns = (["flu", "cold", "ulcer", "flu"],)


class TestPrefix(DistanceContract):
    distance = shoal.distances.Hierarchical(shoal.hierarchies.Prefix())
    columns = (["E11.9", "E11.0", "E10", "I20", "I2", "E11.9"],)


class TestComposite(DistanceContract):
    distance = shoal.distances.Composite(
        (
            shoal.distances.Lp(),
            shoal.distances.Equality(),
            shoal.distances.Hierarchical(shoal.hierarchies.Prefix()),
        ),
        weights=(0.5, 1, 0.5),
    )
    columns = (
        [3, 1, 1, 7, 0, 3],
        ["a", "b", "b", "a", "c", "a"],
        ["E11", "E1", "E1", "I2", "E11", "I2"],
    )
    thresholds = (0, 0.1, 0.5, 1, 2)


class TestLookup(DistanceContract):
    distance = shoal.distances.Lookup(pairs=(("a", "b", 0.2), ("a", "c", 0.9), ("c", "b", 0.5)))
    columns = (["a", "b", "c", "a"],)


class TestGreatCircle(DistanceContract):
    distance = shoal.distances.GreatCircle()
    columns = ([52.52, 48.86, 40.71, -33.87, 52.52], [13.4, 2.35, -74.0, 151.2, 13.5])
    thresholds = (0, 10, 900, 6000, 30000)


class TestFunctionPerPair(DistanceContract):
    distance = shoal.distances.Function.of(lambda u, v: abs(len(u) - len(v)))
    columns = (["a", "bb", "ccc", "dd"],)


def vector_gap(u, v):
    return np.abs(u - v)


class TestFunctionVectorized(DistanceContract):
    distance = shoal.distances.Function.of(vector_gap, vectorized=True)
    columns = ([1, 5, 2, 2],)


def test_edits_are_counted_as_levenshtein_does():
    value = sensitive(["kitten", "sitting"])
    assert shoal.distances.Edit().between(value, np.array([0]), np.array([1])) == [3]


def test_berlin_is_878_kilometres_from_paris():
    value = sensitive([52.52, 48.8566], [13.405, 2.3522])
    found = shoal.distances.GreatCircle().between(value, np.array([0]), np.array([1]))
    assert found == pytest.approx([878], abs=1)


def test_the_hierarchical_distance_is_the_height_of_the_common_ancestor():
    value = TestHierarchical().value  # cold, flu, ulcer
    found = TestHierarchical.distance.between(value, np.array([0, 0]), np.array([1, 2]))
    assert found == pytest.approx([0.5, 1])


def test_a_hierarchy_file_in_the_form_of_arx_becomes_levels(tmp_path):
    (tmp_path / "h.csv").write_text("flu;lung;*\ncold;lung;*\n", "utf-8")
    distance = shoal.distances.Hierarchical(file=str(tmp_path / "h.csv"))
    assert distance.levels == (("flu", "lung", "*"), ("cold", "lung", "*"))
    assert str(tmp_path) not in repr(distance)


def test_a_table_of_distances_can_be_a_file_or_a_frame(tmp_path):
    frame = pl.DataFrame({"a": ["x"], "b": ["y"], "d": [0.5]})
    frame.write_csv(tmp_path / "d.csv")
    assert shoal.distances.Lookup(file=str(tmp_path / "d.csv")) == shoal.distances.Lookup.of(frame)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: shoal.distances.Lp(p=0.5), BadParameter),
        (lambda: shoal.distances.Lp(weights=(1, -1)), BadParameter),
        (lambda: shoal.distances.Lp(scale="half"), BadParameter),
        (lambda: shoal.distances.Lookup(pairs=(("a", "b", -1),)), InputError),
        (lambda: shoal.distances.Lookup(pairs=(("a", "b", float("nan")),)), InputError),
        (lambda: shoal.distances.Hierarchical(levels=(("a", "x", "*"), ("b", "*"))), InputError),
        (
            lambda: shoal.distances.Hierarchical(levels=(("a", "x", "*"), ("a", "y", "*"))),
            InputError,
        ),
        (
            lambda: shoal.distances.Hierarchical(
                levels=(("a", "x", "p", "*"), ("b", "x", "q", "*")),
            ),
            InputError,
        ),
        (lambda: shoal.distances.Hierarchical(file="no such file"), InputError),
    ],
)
def test_a_bad_distance_is_refused_when_it_is_made(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("distance", "columns", "words"),
    [
        (shoal.distances.Lp(weights=(1, 2)), ([1, 2],), "2 weights for 1"),
        (shoal.distances.Absolute(), ([1, 2], [3, 4]), "about 1 sensitive column"),
        (shoal.distances.TotalVariation(), ([0.5, 0.2], [0.5, 0.2]), "add up to 1"),
        (shoal.distances.GreatCircle(), ([1, 91], [3, 4]), "latitude"),
        (shoal.distances.Lookup(pairs=(("a", "b", 1),)), (["a", "b", "c"],), "lacks the pair"),
        (shoal.distances.Lookup(pairs=(("a", "b", 1), ("b", "a", 2))), (["a", "b"],), "symmetric"),
        (shoal.distances.Hierarchical(levels=(("a", "*"),)), (["a", "b"],), "lacks the label 'b'"),
        (shoal.distances.Edit(), (["a" * 65, "b"],), "short strings"),
        (shoal.distances.Function(name="nobody"), ([1, 2],), "not known"),
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
        shoal.distances.Function.of(function).relation(sensitive([1, 2, 3]), Fraction(1))


def test_a_matrix_that_would_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("shoal.distances.base.MATRIX_BYTES", 8)
    with pytest.raises(InputError, match=r"3 distinct values .* GiB"):
        shoal.distances.Edit().relation(sensitive(["a", "b", "c"]), Fraction(1))


def test_no_public_distance_is_without_its_contract():
    kept = {type(one.distance) for one in _members(DistanceContract)}
    public = {
        one
        for name in dir(shoal.distances)
        if inspect.isclass(one := getattr(shoal.distances, name)) and issubclass(one, Distance)
    }
    assert public == kept


def _members(contract: type) -> set[Any]:
    """Return everything that inherits a contract, at any distance."""
    found: set[Any] = set(contract.__subclasses__())
    return found.union(*map(_members, found))
