"""In how many ways rows can have the values of a cell, with what is known of them, and without.

Of all ways some share p remains. That tells as much as a cell that is 1 - p^(1/rows) narrower.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import factorial, inf, log

import numpy as np

FEW = 150  # rows of a group whose ways are counted one run after the other
VALUES = 300  # runs of a cell that are, and values where rows tie


@dataclass(frozen=True)
class Room:
    """Where the rows of a group can lie in a column, and what is known of it.

    The values of the cell stand in runs, in their order: how many each has, and how many rows lie
    in it at least and at most. How many rows lie in the first runs together is never one of
    `avoided`, from the first to the last.
    """

    rows: int
    runs: tuple[int, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    avoided: tuple[int, int] = (1, 0)

    @property
    def values(self) -> int:
        """How many values the cell has."""
        return sum(self.runs)

    @property
    def named(self) -> int:
        """How many values of rows are known: those that have to lie in a run of one value."""
        most, least = sum(self.most), sum(self.least)
        return sum(
            max(low, self.rows - (most - high))
            for run, low, high in zip(self.runs, self.least, self.most, strict=True)
            if run == 1 and least <= self.rows
        )

    @classmethod
    def between(cls, rows: int, values: int, first: int = 0, last: int = 0) -> Room:
        """Return a line of values: somebody lies in the `first` of them, somebody in the `last`.

        0 of them says nothing.
        """
        if first + last > values:
            first, last = (first, 0) if first <= last else (0, last)
        runs = (first, values - first - last, last)
        least = (int(first > 0), 0, int(last > 0))
        some = [place for place in range(3) if runs[place]]
        return cls(
            rows,
            tuple(runs[place] for place in some),
            tuple(least[place] for place in some),
            (rows,) * len(some),
        )

    def tied(self, first: int, last: int) -> Room:
        """Return it where no number of rows from the first to the last lies below any cut."""
        if first > last or self.rows > FEW or self.values > VALUES:
            return self
        least = [low for run, low in zip(self.runs, self.least, strict=True) for _ in range(run)]
        kept = replace(self, runs=(1,) * self.values, most=(self.rows,) * self.values)
        known = [0] * self.values  # somebody in a run of several values says nothing of one
        place = 0
        for run in self.runs:
            known[place] = least[place] if run == 1 else 0
            place += run
        return replace(kept, least=tuple(known), avoided=(first, last))


@cache
def possible(room: Room) -> float:
    """Return the logarithm of the share of all ways to lie in a cell that remain.

    Examples
    --------
    >>> bool(np.isclose(possible(Room.between(2, 3, 1, 1)), log(2 / 9)))
    True
    >>> bool(np.isclose(possible(Room(3, (1, 1), (0, 0), (2, 2))), log(6 / 8)))
    True
    """
    rows, values = room.rows, room.values
    if rows <= FEW and len(room.runs) <= VALUES:
        ways = np.zeros(rows + 1)
        ways[0] = 1.0
        for run, least, most in zip(room.runs, room.least, room.most, strict=True):
            own = [(run / values) ** n / factorial(n) for n in range(rows + 1)]
            own = [one * (least <= n <= most) for n, one in enumerate(own)]
            ways = np.convolve(ways, own)[: rows + 1]
            ways[room.avoided[0] : room.avoided[1] + 1] = 0.0
        left = ways[rows] * factorial(rows)
        return min(0.0, log(left)) if left > 0 else -inf
    some = [run for run, least in zip(room.runs, room.least, strict=True) if least]
    if len(some) > 2:  # all labels of a large group: what they exclude is next to nothing
        return 0.0
    found = sum(
        (-1) ** len(out) * (values - sum(out)) ** rows
        for out in ([], *([one] for one in some), some)[: 2 ** len(some)]
    )
    alone = [run for run, most in zip(room.runs, room.most, strict=True) if most < rows]
    found -= sum(run**rows for run in alone)
    return min(0.0, log(found) - rows * log(values)) if found > 0 else -inf
