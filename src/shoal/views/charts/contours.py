"""Lines of equal height over a grid: marching squares with linear interpolation.

Each cell of the grid is cut where its edges cross the height; pieces that meet on an edge are
joined into lines. A value at the height counts as above it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

Point = tuple[float, float]
Edge = tuple[int, int, int, int]  # from the grid point (i, j) to the grid point (k, l)


def contour(
    xs: Sequence[float], ys: Sequence[float], heights: Sequence[Sequence[float]], level: float
) -> list[list[Point]]:
    """Return the lines along which the heights, heights[i][j] at xs[i], ys[j], cross a level.

    Examples
    --------
    >>> [sorted(line) for line in contour([0, 1], [0, 1], [[0, 0], [1, 1]], 0.5)]
    [[(0.5, 0.0), (0.5, 1.0)]]
    """
    pieces: dict[Edge, list[Edge]] = {}
    for i in range(len(xs) - 1):
        for j in range(len(ys) - 1):
            for one, other in _crossings(i, j, heights, level):
                pieces.setdefault(one, []).append(other)
                pieces.setdefault(other, []).append(one)
    ends = [edge for edge, others in pieces.items() if len(others) == 1]
    lines = (_follow(start, pieces) for start in [*ends, *pieces] if pieces[start])
    return [[_place(edge, xs, ys, heights, level) for edge in line] for line in lines]


def _crossings(
    i: int, j: int, heights: Sequence[Sequence[float]], level: float
) -> list[tuple[Edge, Edge]]:
    """Return the pieces that cross one cell, as pairs of its edges.

    Where opposite corners are above and the others are not, the mean says which of them join.
    """
    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
    above = [heights[a][b] >= level for a, b in corners]
    edges = [
        _edge(corners[side], corners[(side + 1) % 4])
        for side in range(4)
        if above[side] != above[(side + 1) % 4]
    ]
    if len(edges) < 4:
        return [(edges[0], edges[1])] if edges else []
    joined = sum(heights[a][b] for a, b in corners) / 4 >= level
    first = 0 if joined == above[0] else 1  # the corners that stay apart are cut off, one by one
    return [(edges[first], edges[first + 1]), (edges[first + 2], edges[(first + 3) % 4])]


def _edge(one: tuple[int, int], other: tuple[int, int]) -> Edge:
    return (*min(one, other), *max(one, other))


def _place(
    edge: Edge,
    xs: Sequence[float],
    ys: Sequence[float],
    heights: Sequence[Sequence[float]],
    level: float,
) -> Point:
    """Return where the level lies on an edge."""
    i, j, k, l = edge
    low, high = heights[i][j], heights[k][l]
    share = (level - low) / (high - low)
    return xs[i] + share * (xs[k] - xs[i]), ys[j] + share * (ys[l] - ys[j])


def _follow(start: Edge, pieces: dict[Edge, list[Edge]]) -> list[Edge]:
    """Take pieces away one after the other, from edge to edge, as far as they go."""
    line = [start]
    while pieces[line[-1]]:
        following = pieces[line[-1]].pop()
        pieces[following].remove(line[-1])
        line.append(following)
    return line
