"""Heterogeneous generalization by definition, in plain Python and exact rationals.

Source: HK, sections II and III. A table is a list of rows; ``kinds`` says "interval" (numbers) or
"set" (labels) for each column. A graph is a list that gives for each recast record the originals it
covers. Published cells are texts as a release spells them.
"""

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

Graph = Sequence[Sequence[int]]
Rows = Sequence[Sequence[Any]]


def cell_loss(values: Sequence[Any], kind: str, whole: Sequence[Any]) -> Fraction:
    """Return the NCP of a cell that covers some values of a whole column."""
    if kind == "interval":
        span = Fraction(max(whole)) - Fraction(min(whole))
        return (Fraction(max(values)) - Fraction(min(values))) / span if span else Fraction(0)
    labels = len(set(whole))
    return Fraction(len(set(values)) - 1, labels - 1) if labels > 1 else Fraction(0)


def gcp(rows: Rows, kinds: Sequence[str], graph: Graph) -> Fraction:
    """Return the mean loss over recast records and columns (HK, equation 3)."""
    total = Fraction(0)
    for column, kind in enumerate(kinds):
        whole = [row[column] for row in rows]
        total += sum(cell_loss([whole[i] for i in covered], kind, whole) for covered in graph)
    return total / (len(rows) * len(kinds))


def is_regular(graph: Graph, k: int) -> bool:
    """Return whether every record covers k originals, itself first, and is covered k times."""
    times = [0] * len(graph)
    for record, covered in enumerate(graph):
        if len(covered) != k or len(set(covered)) != k or covered[0] != record:
            return False
        for original in covered:
            times[original] += 1
    return all(count == k for count in times)


def covers(cell: str, kind: str, value: str) -> bool:
    """Return whether a published cell covers an original one, both as text."""
    if kind == "interval":
        low, high = json.loads(cell) if cell.startswith("[") else (cell, cell)
        return Fraction(str(low)) <= Fraction(value) <= Fraction(str(high))
    if cell.startswith("["):
        return value in json.loads(cell)
    return value == cell


def matches(cells: Sequence[str], kinds: Sequence[str], original: Sequence[str]) -> bool:
    """Return whether every published cell of a row covers the original's."""
    return all(covers(*each) for each in zip(cells, kinds, original, strict=True))


def match_lists(published: Rows, kinds: Sequence[str], originals: Rows) -> list[list[int]]:
    """Return for each original the published rows that match it (HK, Definition 1)."""
    return [
        [place for place, cells in enumerate(published) if matches(cells, kinds, original)]
        for original in originals
    ]


def disjoint_assignments(lists: Graph, records: int, k: int) -> bool:
    """Return whether k assignments of originals to records exist that share no pair.

    `lists` gives for each original the records that match it.

    By König's theorem they do if every original can get k of its records and every record be given
    to k originals; units are placed one by one along augmenting paths.
    """
    if records != len(lists):
        return False
    taken: list[set[int]] = [set() for _ in range(records)]

    def place(original: int, seen: set[int]) -> bool:
        for record in lists[original]:
            if record in seen or original in taken[record]:
                continue
            seen.add(record)
            if len(taken[record]) < k:
                taken[record].add(original)
                return True
            for other in list(taken[record]):
                taken[record].discard(other)
                taken[record].add(original)
                if place(other, seen):
                    return True
                taken[record].discard(original)
                taken[record].add(other)
        return False

    return all(place(original, set()) for original in range(len(lists)) for _ in range(k))


def perfect_matchings(graph: Graph) -> list[tuple[int, ...]]:
    """Return every choice of one original a record in which no original comes twice."""
    return [choice for choice in product(*graph) if len(set(choice)) == len(graph)]


def least_total(weights: Sequence[Sequence[int | None]]) -> int:
    """Return the least total weight of an assignment over allowed pairs, by trying all."""

    def totals() -> Iterator[int]:
        for chosen in permutations(range(len(weights))):
            pairs = [weights[i][j] for i, j in enumerate(chosen)]
            if None not in pairs:
                yield sum(pair for pair in pairs if pair is not None)

    return min(totals())


def near_share(own: Fraction, candidates: Sequence[Fraction], width: Fraction) -> Fraction:
    """Return the share of candidate values within a width of a person's own."""
    return Fraction(sum(abs(value - own) <= width for value in candidates), len(candidates))
