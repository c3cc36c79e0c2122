"""Groups of different values, drawn from buckets of equal ones (Xiao, Tao, VLDB 2006, Figure 3)."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.randomness import Randomness


def bucketize(codes: NDArray[np.int32], l: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return the group of every row: at least l members, no value twice.

    As long as l buckets have rows, a group takes one row of each of the l largest. What is left
    then is fewer than l rows with different values, each of which goes into a random group that
    lacks its value. Both always succeed when no value is carried by more than 1/l of the rows.
    Which row of a bucket is taken is chance, so groups know nothing of quasi-identifiers.
    """
    (order,) = randomness.permutations(len(codes))
    by_code = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    buckets = [(-int(count), code) for code, count in enumerate(counts) if count]
    heapify(buckets)
    groups = 0
    labels = np.empty(len(codes), np.int64)
    while len(buckets) >= l:
        for left, code in [heappop(buckets) for _ in range(l)]:
            labels[by_code[ends[code] + left]] = groups
            if left < -1:
                heappush(buckets, (left + 1, code))
        groups += 1
    _place_rest([by_code[ends[code] - 1] for _, code in buckets], labels, groups, codes, randomness)
    return labels


def _place_rest(
    rest: list[int],
    labels: NDArray[np.int64],
    groups: int,
    codes: NDArray[np.int32],
    randomness: Randomness,
) -> None:
    """Put each remaining row, the last of its value, into a random group that lacks the value."""
    lacking = []
    for row in rest:
        same = np.flatnonzero(codes == codes[row])
        lacking.append(np.setdiff1d(np.arange(groups), labels[same[same != row]]))
    places = randomness.below(*((len(some), 1) for some in lacking))
    for row, some, (place,) in zip(rest, lacking, places, strict=True):
        labels[row] = some[place]
