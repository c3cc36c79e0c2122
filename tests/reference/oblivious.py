"""Oblivious grouping by its definition, in plain Python, given the two secret orders."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Near = Callable[[Any, Any], bool]


def longest_run(values: Sequence[Any], near: Near) -> int:
    """Return the most values, in sorted order, whose first and last are near either way."""
    ranked = sorted(values)
    return max(
        j - i + 1
        for i in range(len(ranked))
        for j in range(i, len(ranked))
        if near(ranked[i], ranked[j]) or near(ranked[j], ranked[i])
    )


def looks_one_way(values: Sequence[Any], near: Near) -> bool:
    """Say whether only values above a value, or only values below, are near to it."""
    pairs = [(u, v) for u in values for v in values if near(u, v)]
    return all(u >= v for u, v in pairs) or all(u <= v for u, v in pairs)


def choices(
    values: Sequence[Any], near: Near, least: int, allowed: Callable[[int], int]
) -> list[tuple[int, int]]:
    """Return sizes of groups, each of which allows more, and how many ⌊N / size⌋ a run may be."""
    one_way = looks_one_way(values, near)
    found: list[tuple[int, int]] = []
    for size in range(least, max(len(values), least) + 1):
        width = allowed(size) if one_way else (allowed(size) + 1) // 2
        if all(width * known > best * size for known, best in found):
            found.append((size, width))
    return found


def cut(
    node: list[int], points: Sequence[Sequence[float]], low: int, high: int, cuts: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Cut at the place and in the column that lose least, ties in the order of `cuts`."""
    best: tuple[float, list[int], list[int]] | None = None
    for column in range(len(points[0])):
        order = sorted(node, key=lambda row: (points[row][column], cuts.index(row)))
        line = [points[row][column] for row in order]
        size = len(line)

        def along(b: int, line: list[float] = line, size: int = size) -> tuple[float, int, int]:
            loss = b * (line[b - 1] - line[0]) + (size - b) * (line[-1] - line[b])
            return loss, abs(size - 2 * b), b

        left = min(range(low, high + 1), key=along)
        edge, beyond = line[left - 1], line[left]
        first = [row for row in node if points[row][column] <= edge]
        second = [row for row in node if points[row][column] >= beyond]
        loss = 0.0
        for other in range(len(points[0])):
            for part, rows in ((left, first), (size - left, second)):
                spread = [points[row][other] for row in rows]
                loss += part * (max(spread) - min(spread))
        if best is None or loss < best[0]:
            best = loss, order[:left], order[left:]
    assert best is not None
    return best[1], best[2]


def nodes_of(
    node: list[int],
    points: Sequence[Sequence[float]],
    values: Sequence[Any],
    near: Near,
    sizes: list[tuple[int, int]],
    cuts: Sequence[int],
    blocks: int,
) -> list[list[int]]:
    """Cut into blocks, whatever they hold, and then while every cut would hold."""
    rows = len(node)
    if blocks > 1:
        first = blocks // 2
        left = first * (rows // blocks) + rows % blocks * first // blocks
        parts = cut(node, points, left, left, cuts)
        counts = [first, blocks - first]
    else:
        most = longest_run([values[row] for row in node], near)
        needs = [math.ceil(most / width) * size for size, width in sizes]
        needed = next((need for need in needs if 2 * need <= rows), None)
        if needed is None:
            return [node]
        needed = max(needed, math.ceil(rows / 4))
        parts = cut(node, points, needed, rows - needed, cuts)
        counts = [1, 1]
    return [
        found
        for part, count in zip(parts, counts, strict=True)
        for found in nodes_of(part, points, values, near, sizes, cuts, count)
    ]


def groups(
    points: Sequence[Sequence[float]],
    values: Sequence[Any],
    near: Near,
    sizes: list[tuple[int, int]],
    cuts: Sequence[int],
    ties: Sequence[int],
    blocks: int = 1,
) -> set[frozenset[int]]:
    """Return the groups: nodes dealt by rank, those that cannot be pooled by their size."""
    found: list[list[int]] = []
    pools: dict[int, list[int]] = {}
    everybody = list(range(len(values)))
    for node in nodes_of(everybody, points, values, near, sizes, cuts, blocks):
        most = longest_run([values[row] for row in node], near)
        counts = [(len(node) // size, width) for size, width in sizes]
        dealt = next((count for count, width in counts if count and most <= width * count), 0)
        if not dealt:
            pools.setdefault(len(node), []).extend(node)
            continue
        ranked = sorted(node, key=lambda row: (values[row], ties.index(row)))
        found += [ranked[first::dealt] for first in range(dealt)]
    return {frozenset(group) for group in (*found, *pools.values())}
