"""Which of a group's values a person of it is likely to have, by what all groups tell together.

Two tables say who is in a group and which values are in it, not who has which. Where groups of the
young have small incomes, the one young member of a group is likely to have its small one. So people
and values are put into bands, and for each quasi column c a liking is learned between each band of
people and each band of values, such that a person with the bands b has a value in band s with

    a chance in proportion to  (share of s among all values) · product of likings[c, b_c, s].

In turn, the values of each group are shared out among its people by these chances, so that all are
given away and everybody has as many; and likings are changed so that they alone give the people of
every band the values that they were found with (expectation and maximization, each by iterative
proportional fitting). A column counts if its bands differ by more than they would if every group
had the values of another one; where none does, everybody has an equal share of their group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.pairing import expect_pairs, learn_pairs, pair_all, paired_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.utility.queries import Query, Rows

    Ints = NDArray[np.int32]
    LongInts = NDArray[np.int64]
    Reals = NDArray[np.float64]
    Starts = tuple[LongInts, LongInts]

PEOPLE = 64  # bands of a quasi column at most
LEAST = 100  # people in a band on average
VALUES = 16  # bands of values at most
LEARNED = 50_000  # people from whose groups likings are learned
TURNS = 15
ROUNDS = 5  # of sharing out in each turn
LAST = 200  # the same, at the end
PRIOR = 5.0  # values that every band of people is taken to have had before, spread as all are
SHIFTS = 4  # times that groups are given the values of others, to see what chance tells
MORE = 2.0  # times what chance tells, from which on a column counts


@dataclass(frozen=True, eq=False)
class Slots:
    """The bands of values that groups have.

    Those of group g are `starts[g]` … `starts[g + 1] - 1`; `held` is which band each is, `filled`
    how many values of the group are in it, and `of` in which of its group's each value is.
    """

    starts: LongInts
    held: Ints
    filled: LongInts
    of: Ints

    @classmethod
    def holding(cls, rows: Rows, names: Sequence[str], starts: LongInts) -> Slots:
        """Take the values of some columns together, and where those of each group begin."""
        return cls.among(several_in_bands([_coded(rows, name) for name in names]), starts)

    @classmethod
    def among(cls, bands: Ints, starts: LongInts) -> Slots:
        """Take the band of each value, and where the values of each group begin."""
        groups = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        width = int(bands.max()) + 1
        keys, slot, filled = np.unique(
            groups * width + bands, return_inverse=True, return_counts=True
        )
        begins = np.searchsorted(keys, np.arange(len(starts)) * width).astype(np.int64)
        own = (slot - begins[groups]).astype(np.int32)
        return cls(begins, (keys % width).astype(np.int32), filled.astype(np.int64), own)


@dataclass(frozen=True, eq=False)
class SharedOut:
    """How the values of every group are shared out among its people.

    `shares` has, group by group and person by person, how many values of each of the group's slots
    are theirs.
    """

    slots: Slots
    shares: NDArray[np.float32]

    @classmethod
    def of(cls, people: Rows, values: Rows, starts: Starts) -> SharedOut | None:
        """Learn from two tables whose groups begin at `starts`; None where they tell nothing."""
        most = most_bands(len(people))
        bands = np.array([in_bands(*_coded(people, name), most) for name in people.columns])
        slots = Slots.holding(values, [*values.columns], starts[1])
        # Groups stand in an order of chance.
        groups = np.arange(0, len(starts[0]) - 1, one_in(len(people)))
        alike = np.ones(len(people))
        bands = bands[telling(groups, starts[0], slots, bands, alike)]
        if not len(bands):
            return None
        likings = learn(groups, starts[0], slots, bands, alike)
        return cls(slots, share_out(starts[0], slots, bands, alike, likings))

    def count(
        self, people: Rows, values: Rows, starts: Starts, query: Query, weights: Reals
    ) -> float:
        """Return the expected number of values that a query asks for, weighed by group."""
        slots = self.slots
        marks = (np.empty((2, len(rows)), np.uint8) for rows in (people, values))
        asked = np.empty(int(np.diff(slots.starts).max()))
        return paired_count(
            starts[0], *people.asked(query), starts[1], *values.asked(query),
            slots.starts, slots.filled, slots.of, self.shares, weights, *marks, asked,
        )  # fmt: skip


def most_bands(people: int) -> int:
    """Return into how many bands a quasi column is put at most."""
    return min(PEOPLE, people // LEAST)


def one_in(people: int) -> int:
    """Return of how many groups one is enough to learn from."""
    return max(1, -(-people // LEARNED))


def telling(
    groups: LongInts, starts: LongInts, slots: Slots, bands: Ints, weights: Reals
) -> NDArray[np.bool_]:
    """Return which columns' bands are found with other values than chance would give them.

    Chance gives every group the values of another one, so groups come in an order of chance.
    """
    likings = _alike(slots, bands)
    found, scratch = np.empty_like(likings), _scratch(starts, slots)
    told = []
    for part in range(SHIFTS + 1):
        shift = len(groups) * part // (SHIFTS + 1)
        learn_pairs(
            groups, shift, starts, slots.starts, bands, weights, slots.held, slots.filled,
            likings, 1, scratch, found,
        )  # fmt: skip
        told.append(differences(found))
    return told[0] > MORE * np.mean(told[1:], 0)


def differences(found: Reals) -> Reals:
    """Return for each column by how much its bands differ in their values: Pearson's χ²."""
    expected = found.sum(2, keepdims=True) * found.sum(1, keepdims=True)
    expected /= found.sum((1, 2), keepdims=True)
    parts = np.divide(
        (found - expected) ** 2, expected, out=np.zeros_like(found), where=expected > 0
    )
    return parts.sum((1, 2))


def learn(groups: LongInts, starts: LongInts, slots: Slots, bands: Ints, weights: Reals) -> Reals:
    """Return the likings, by quasi column, band of people and band of values."""
    values = np.bincount(slots.held, weights=slots.filled)
    usual = values / values.sum()
    likings = _alike(slots, bands)
    found, expected = np.empty_like(likings), np.empty_like(likings)
    scratch, chances = _scratch(starts, slots), np.empty(len(usual))
    prior = PRIOR * usual
    for turn in range(TURNS):
        learn_pairs(
            groups, 0, starts, slots.starts, bands, weights, slots.held, slots.filled, likings,
            ROUNDS, scratch, found,
        )  # fmt: skip
        expect_pairs(
            groups, starts, slots.starts, slots.filled, bands, weights, likings, usual, chances,
            expected,
        )  # fmt: skip
        # All columns at once explain too much together; at first there is nothing to explain.
        power = 1 / len(bands) if turn else 1.0
        likings *= ((found + prior) / (expected + prior)) ** power
    return likings


def share_out(
    starts: LongInts, slots: Slots, bands: Ints, weights: Reals, likings: Reals
) -> NDArray[np.float32]:
    """Return how many values of each slot of their group people have."""
    shares = np.empty(int((np.diff(starts) * np.diff(slots.starts)).sum()), np.float32)
    pair_all(
        starts, slots.starts, bands, weights, slots.held, slots.filled, likings, LAST,
        _scratch(starts, slots), shares,
    )  # fmt: skip
    return shares


def _alike(slots: Slots, bands: Ints) -> Reals:
    return np.ones((len(bands), int(bands.max()) + 1, int(slots.held.max()) + 1))


def _scratch(starts: LongInts, slots: Slots) -> Reals:
    return np.empty(int(np.diff(starts).max() * np.diff(slots.starts).max()))


def _coded(rows: Rows, name: str) -> tuple[NDArray[np.int32], bool]:
    column = rows.columns[name]
    return column.codes if rows.order is None else column.codes[rows.order], column.numeric


def in_bands(
    codes: NDArray,
    numeric: bool,  # noqa: FBT001
    most: int,
    weights: Reals | None = None,
) -> Ints:
    """Put ranks into so many bands: those of numbers equally large, the rarer labels together."""
    counts = np.bincount(codes, weights)
    place = np.zeros(len(counts))
    if most < 2:
        return place.astype(np.int32)[codes]
    if not numeric:
        place[np.argsort(-counts, kind="stable")] = np.minimum(np.arange(len(counts)), most - 1)
    elif np.count_nonzero(counts) <= most:
        place[:] = np.cumsum(counts > 0) - 1
    else:
        middles = (np.cumsum(counts) - counts / 2) / counts.sum()
        place[:] = np.minimum(np.floor(middles * most), most - 1)
    return place.astype(np.int32)[codes]


def several_in_bands(columns: Sequence[tuple[NDArray[np.int32], bool]]) -> Ints:
    """Put values of one or several columns into bands, all together no more than `VALUES`."""
    most = int(VALUES ** (1 / len(columns)) + 1e-9)
    found = np.zeros(len(columns[0][0]), np.int64)
    for codes, numeric in columns:
        found = found * most + in_bands(codes, numeric, most)
    return np.unique(found, return_inverse=True)[1].astype(np.int32)
