"""Squared error by its definition: numbers standardized, labels as columns of 0 and 1."""

from __future__ import annotations

from itertools import combinations


def columns(values, weights):
    """Return every column as lists of numbers whose variances add up to its weight."""
    made = []
    for column, weight in zip(values, weights, strict=True):
        labels = sorted(set(column)) if isinstance(column[0], str) else None
        parts = (
            [[float(v) for v in column]]
            if labels is None
            else [[float(v == one) for v in column] for one in labels]
        )
        variance = sum(sum((v - sum(p) / len(p)) ** 2 for v in p) / len(p) for p in parts)
        scale = (weight / variance) ** 0.5 if variance else 0.0
        made += [[v * scale for v in part] for part in parts]
    return made


def error(parts, groups):
    """Return the sum over groups and columns of squared differences from the mean."""
    total = 0.0
    for rows in groups:
        for part in parts:
            mean = sum(part[r] for r in rows) / len(rows)
            total += sum((part[r] - mean) ** 2 for r in rows)
    return total


def share(values, groups, weights=None):
    """Return SSE / SST."""
    weights = weights or [1.0] * len(values)
    weights = [one * len(weights) / sum(weights) for one in weights]
    return error(columns(values, weights), groups) / (len(values[0]) * len(values))


def least(numbers, size):
    """Return the least squared error of any groups of at least `size`, by looking at all."""

    def best(left):
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        found = [
            error([numbers], [[first, *others]]) + best([r for r in rest if r not in others])
            for taken in range(size - 1, len(left))
            for others in combinations(rest, taken)
            if len(left) - taken - 1 == 0 or len(left) - taken - 1 >= size
        ]
        return min(found, default=float("inf"))

    return best(list(range(len(numbers))))


def least_of_runs(numbers, size):
    """Return the least squared error of runs of at least `size` neighbours, by looking at each."""
    ranked = sorted(numbers)
    best = [0.0] + [float("inf")] * len(ranked)
    for end in range(size, len(ranked) + 1):
        best[end] = min(
            best[begin] + error([ranked], [range(begin, end)]) for begin in range(end - size + 1)
        )
    return best[-1]
