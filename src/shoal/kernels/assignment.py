"""Cheapest assignment of few rows to few columns, inside kernels; of its own, as one algorithm."""

import numpy as np

from shoal.kernels.compiling import LongInts, Reals, compiled

FORBIDDEN = np.inf


@compiled("void(float64[:,::1], int64, int64, int64[::1])")
def cheapest_assignment(costs: Reals, rows: int, columns: int, chosen: LongInts) -> None:
    """Choose for each row a column of its own so that the sum of costs is least.

    Shortest augmenting paths with potentials (Jonker and Volgenant), O(rows * columns**2). The
    caller vouches that a perfect assignment over finite costs exists. IN: costs[:rows, :columns],
    rows <= columns; OUT: chosen[row].
    """
    row_price = np.zeros(rows + 1)
    column_price = np.zeros(columns + 1)
    owner = np.full(columns + 1, rows, np.int64)  # the last column is a stand-in for "no column"
    came_from = np.empty(columns + 1, np.int64)
    for row in range(rows):
        owner[columns] = row
        column = columns
        slack = np.full(columns + 1, np.inf)
        visited = np.zeros(columns + 1, np.bool_)
        while owner[column] != rows:
            visited[column] = True
            here = owner[column]
            step, following = np.inf, columns
            for other in range(columns):
                if visited[other]:
                    continue
                reduced = costs[here, other] - row_price[here] - column_price[other]
                if reduced < slack[other]:
                    slack[other] = reduced
                    came_from[other] = column
                if slack[other] < step:
                    step, following = slack[other], other
            for other in range(columns + 1):
                if visited[other]:
                    row_price[owner[other]] += step
                    column_price[other] -= step
                else:
                    slack[other] -= step
            column = following
        while column != columns:
            before = came_from[column]
            owner[column] = owner[before]
            column = before
    for column in range(columns):
        if owner[column] < rows:
            chosen[owner[column]] = column
