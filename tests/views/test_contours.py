"""Lines of equal height: they cross every edge with ends on either side once, and no other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.views.charts.attack import contour


@st.composite
def grids(draw):
    xs = sorted(draw(st.sets(st.integers(0, 30), min_size=2, max_size=6)))
    ys = sorted(draw(st.sets(st.integers(0, 30), min_size=2, max_size=6)))
    row = st.lists(st.integers(0, 4), min_size=len(ys), max_size=len(ys))
    return xs, ys, draw(st.lists(row, min_size=len(xs), max_size=len(xs)))


@given(grids(), st.sampled_from([0.5, 1.25, 2.5, 3.9]))
def test_lines_cross_the_edges_that_they_should(grid, level):
    xs, ys, heights = grid
    wanted = []
    for i in range(len(xs)):
        for j in range(len(ys)):
            for k, l in ((i + 1, j), (i, j + 1)):
                if k == len(xs) or l == len(ys):
                    continue
                low, high = heights[i][j], heights[k][l]
                if (low >= level) != (high >= level):
                    share = (level - low) / (high - low)
                    x, y = xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[l] - ys[j])
                    wanted.append((x, y))
    lines = contour(xs, ys, heights, level)
    # A closed line comes back to its first point.
    closed = [line[:-1] if line[0] == line[-1] and len(line) > 2 else line for line in lines]
    assert Counter(point for line in closed for point in line) == Counter(wanted)
    for line in lines:  # from one edge of a cell to another edge of the same cell
        for (x, y), (u, v) in pairwise(line):
            assert any(
                a <= min(x, u) and max(x, u) <= b and c <= min(y, v) and max(y, v) <= d
                for a, b in pairwise(xs)
                for c, d in pairwise(ys)
            )


def test_a_hill_is_ringed_and_a_slope_is_crossed():
    (ring,) = contour([0, 1, 2], [0, 1, 2], [[0, 0, 0], [0, 1, 0], [0, 0, 0]], 0.5)
    assert ring[0] == ring[-1]
    assert set(ring) == {(0.5, 1), (1, 0.5), (1.5, 1), (1, 1.5)}
    (slope,) = contour([0, 1], [0, 2], [[0, 1], [0, 1]], 0.25)
    assert sorted(slope) == [(0, 0.5), (1, 0.5)]
    assert contour([0, 1], [0, 1], [[0, 0], [0, 0]], 0.5) == []


@pytest.mark.parametrize(("high", "apart"), [(1, True), (9, False)])
def test_at_a_saddle_the_mean_decides(high, apart):
    """Two corners above: low ones are cut off one by one, high ones are joined."""
    lines = contour([0, 1], [0, 1], [[high, 0], [0, high]], 0.9)
    share = round(1 - 0.9 / high, 9)
    found = [{(round(x, 9), round(y, 9)) for x, y in line} for line in lines]
    assert len(found) == 2
    assert ({(share, 0), (0, share)} in found) == apart
    assert ({(share, 0), (1, round(1 - share, 9))} in found) != apart
