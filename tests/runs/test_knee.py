"""The knee of a curve, on curves whose knee is known, and what grids are read from."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from shoal.principles.requirement import requirements
from shoal.runs.knees import knee
from shoal.runs.tune import grid_of


def _grid(vary: str | None, *require: str):
    found = grid_of(requirements(require, ("pay",)), vary)
    return found.place, found.parameter, found.values


def test_a_corner_is_the_knee():
    losses = [0, 1, 2, 3, 13, 23, 33]  # flat, then steep from the fourth point on
    found = knee(range(7), losses)
    assert found is not None
    assert (found.place, found.rises) == (3, True)
    # at half of the way 3/33 of the loss is paid
    assert found.distance == pytest.approx(0.5 - 3 / 33)


def test_a_curve_that_flattens_has_its_knee_on_the_other_side():
    found = knee([1, 2, 3, 4, 5], [0, 10, 11, 12, 13])
    assert found is not None
    assert (found.place, found.rises) == (1, False)


def test_a_hyperbola_bends_where_its_slope_is_that_of_the_chord():
    x = np.linspace(1, 100, 100)
    found = knee(x, 1 / x)  # x = 10: there -1/x² is the slope from (1, 1) to (100, 1/100)
    assert found is not None
    assert x[found.place] == 10
    assert found.rises  # read from the right, where protection grows, loss rises late


def test_mirroring_and_units_do_not_move_the_knee():
    x, y = np.arange(9.0), np.arange(9.0) ** 3
    plain, mirrored = knee(x, y), knee(x, y[::-1])
    scaled = knee(1000 * x + 7, y / 512)
    assert plain is not None
    assert mirrored is not None
    assert scaled is not None
    assert plain.place == scaled.place == 8 - mirrored.place
    assert plain.rises
    assert mirrored.rises
    assert plain.distance == pytest.approx(mirrored.distance) == pytest.approx(scaled.distance)


@pytest.mark.parametrize(
    ("values", "losses"),
    [
        ([], []),
        ([1, 2], [0, 5]),
        ([1, 2, 3], [4, 4, 4]),
        ([1, 2, 3, 4], [2, 4, 6, 8]),
        ([0, 1, 2], [0, 0.52, 1]),  # nearer to the chord than what counts as straight
    ],
)
def test_straight_and_short_curves_have_none(values, losses):
    assert knee(values, losses) is None


def test_lists_and_ranges_are_read():
    epsilon = "EpsilonM(epsilon=4000, m=5)"
    assert _grid("epsilon=9000,1000, 1000", epsilon) == (0, "epsilon", (1000, 9000))
    assert _grid("m=2..6:3", epsilon) == (0, "m", (2, 4, 6))
    place, name, values = _grid("t=0.1..0.3:3", epsilon, "TCloseness(t=0.2)")
    assert (place, name) == (1, "t")
    assert values == (0.1, 0.2, 0.3)


def test_without_a_word_the_first_parameter_is_varied_around_what_is_asked():
    _, name, values = _grid(None, "EpsilonM(epsilon=4000, m=5)")
    assert (name, values[0], values[3], values[-1]) == ("epsilon", 1000, 4000, 8000)
    assert _grid(None, "KAnonymity(k=3)")[2] == tuple(range(2, 10))
    assert max(_grid("delta", "Dissimilarity(epsilon=0.1, delta=0.8, k=5)")[2]) == 1
    assert all(isinstance(k, int) for k in _grid("k", "KAnonymity(k=10)")[2])


@pytest.mark.parametrize(
    ("vary", "why"),
    [
        ("k=3", "no parameter|has a parameter"),
        ("epsilon=", "Cannot read"),
        ("=3", "Cannot read"),
        ("epsilon=a,b", "not a number"),
        ("epsilon=9..3", "smaller to a larger"),
        ("epsilon=1..9:1", "smaller to a larger"),
        ("epsilon=nan", "not a number"),
        ("epsilon=1,,2", "not a number"),
        ("relative", "has a parameter"),
    ],
)
def test_what_cannot_be_varied_is_refused(vary, why):
    with pytest.raises(shoal.UsageError, match=why):
        _grid(vary, "EpsilonM(epsilon=4000, m=5)")


def test_nothing_is_tried_around_zero_and_a_shared_name_is_not_guessed():
    with pytest.raises(shoal.UsageError, match="cannot choose values around"):
        _grid(None, "EpsilonM(epsilon=0, m=5)")
    with pytest.raises(shoal.UsageError, match="2 requirements"):
        _grid("l", "FrequencyL(l=2)", "DistinctL(l=3)")
