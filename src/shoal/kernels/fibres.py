"""Counting rows within a threshold of each point, fibre by fibre.

Points that agree in all coordinates but one lie on a fibre. On a fibre whatever is near to a given
point is an interval of that one coordinate, found by bisection. Columns of a few labels beside one
of many values give few fibres, so nobody is compared with everybody.
"""

import numpy as np

from shoal.kernels.lean import inner, lean
from shoal.kernels.relations import EUCLID, LARGEST, MANHATTAN, SMALLEST


@inner
def lower_place(values, begin, end, limit):
    """Return the first place in begin..end whose value is at least `limit` (IN: values ascend)."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] < limit:
            begin = middle + 1
        else:
            end = middle
    return begin


@inner
def upper_place(values, begin, end, limit):
    """Return the first place in begin..end whose value is above `limit` (IN: values ascend)."""
    while begin < end:
        middle = (begin + end) // 2
        if values[middle] <= limit:
            begin = middle + 1
        else:
            end = middle
    return begin


@lean
def count_near(points, along, fibres, starts, values, below, metric, threshold, begin, end, sizes):
    """Count the rows within the threshold of points begin..end, itself included.

    IN: points (D, q) and the coordinate `along` the fibres; fibres (F, q), starts (F + 1), values
    ascending in each fibre, below (rows before each place of `values`). OUT: sizes.
    """
    for point in range(begin, end):
        near = 0
        here = points[point, along]
        for fibre in range(starts.size - 1):
            across = np.inf if metric == SMALLEST else 0.0
            for column in range(points.shape[1]):
                if column == along:
                    continue
                gap = abs(points[point, column] - fibres[fibre, column])
                if metric == MANHATTAN:
                    across += gap
                elif metric == EUCLID:
                    across += gap * gap
                elif metric == LARGEST:
                    across = max(across, gap)
                else:
                    across = min(across, gap)
            first, last = starts[fibre], starts[fibre + 1]
            if metric == SMALLEST and across <= threshold:
                near += below[last] - below[first]
                continue
            reach = threshold
            if metric == MANHATTAN:
                reach = threshold - across
            elif metric == EUCLID:
                reach = np.sqrt(max(threshold * threshold - across, 0.0))
                if across > threshold * threshold:
                    continue
            elif metric == LARGEST and across > threshold:
                continue
            if reach < 0.0:
                continue
            low = lower_place(values, first, last, here - reach)
            high = upper_place(values, low, last, here + reach)
            near += below[high] - below[low]
        sizes[point] = near
