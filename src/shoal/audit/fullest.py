"""Where most of some weighed members have a value, apart, so that it can be tested alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray


def fullest(
    codes: NDArray[np.int64],
    members: NDArray[np.int64],
    weights: NDArray[np.int64],
    first: NDArray,
    last: NDArray,
) -> tuple[int, int]:
    """Return the largest weight of members with a code near one of the codes, and that code.

    The codes from `first` to `last` are near to each; both ascend. A member counts once.
    """
    if not len(codes):
        return 0, 0
    if len(np.unique(members)) == len(members):
        kinds, which = np.unique(codes, return_inverse=True)
        sums = np.zeros(len(kinds) + 1, np.int64)
        np.add.at(sums, which + 1, weights[members])
        sums = np.cumsum(sums)
        begin = np.searchsorted(kinds, first[kinds])
        near = sums[np.searchsorted(kinds, last[kinds], "right")] - sums[begin]
        best = int(np.argmax(near))
        return int(near[best]), int(kinds[best])
    order = np.argsort(codes, kind="stable")
    ascending, whose = codes[order].tolist(), members[order].tolist()
    inside = dict.fromkeys(set(whose), 0)
    weight, left, right, best, at = 0, 0, 0, -1, -1
    for code in dict.fromkeys(ascending):
        while right < len(ascending) and ascending[right] <= last[code]:
            weight += int(weights[whose[right]]) * (inside[whose[right]] == 0)
            inside[whose[right]] += 1
            right += 1
        while ascending[left] < first[code]:
            inside[whose[left]] -= 1
            weight -= int(weights[whose[left]]) * (inside[whose[left]] == 0)
            left += 1
        if weight > best:
            best, at = weight, code
    return best, at


def whole_weights(shares: Sequence[Fraction]) -> NDArray[np.int64]:
    """Return whole numbers in the ratios of some shares."""
    bottom = int(np.lcm.reduce([one.denominator for one in shares] or [1]))
    return np.array([int(one * bottom) for one in shares], np.int64)
