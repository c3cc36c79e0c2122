"""The fewest rows to leave out, by trying all subsets and all partitions of what is left."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

from reference.proximity import set_partitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def can_be_grouped(rows: Sequence[int], holds: Callable[[tuple[int, ...]], bool]) -> bool:
    """Say whether some partition of the rows has only groups that hold."""
    return any(all(map(holds, partition)) for partition in set_partitions(rows))


def fewest(n: int, holds: Callable[[tuple[int, ...]], bool]) -> int | None:
    """Return how few of n rows have to go until the rest can be grouped; None where none is left.

    ``holds`` judges one group, given as row numbers.
    """
    judged = cache(holds)
    for gone in range(n):
        for rows in combinations(range(n), n - gone):
            if can_be_grouped(rows, judged):
                return gone
    return None
