"""Nesting: whether a coarser release was made by joining the groups of a finer one.

Group numbers are fresh, so which groups were joined is found from what is published: every finer
group goes to one coarser group whose cells cover its own and that has all of its rows, so that no
row of a coarser group is left over. Most finer groups fit one coarser group alone; where several
fit, they are tried. At last the cells of each coarser group have to be those of its groups
together. That is filling large multisets with small ones, so that each small one is used and
nothing is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import alike, read_cover
from shoal.audit.standing import stand_ins
from shoal.errors import InputError
from shoal.principles.groups import Groups
from shoal.release.cells import cells
from shoal.release.cover import Cover
from shoal.table.coded import persons_of
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import PERSON
from shoal.table.settling import weights_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.stated import StatedColumn
    from shoal.table.coded import Coded


STEPS = 2_000_000  # looks at small ones that several large ones could take

Trail = list[tuple[int, int]]  # what was done, to be undone: given away, or (-1 - it) ruled out


class Filling:
    """Small multisets, large ones, and into which large ones each small one would fit."""

    def __init__(
        self, small: list[Counter[int]], large: list[Counter[int]], fits: list[set[int]]
    ) -> None:
        self.small, self.large, self.fits = small, large, fits
        self.owner = [-1] * len(small)
        self.wanted: dict[int, list[int]] = {}
        for place, some in enumerate(fits):
            for where in some:
                self.wanted.setdefault(where, []).append(place)

    def run(self, accept: Callable[[list[int]], bool]) -> list[int] | None:
        """Return the large one of each small one, None where there is no way that is accepted.

        Whoever fits one place alone goes there; where several are left, one is tried after the
        other. Raises `TimeoutError` where that takes too long.
        """
        steps = STEPS
        stack: list[tuple[int, Iterator[int], Trail]] = []
        good = self._settle(list(range(len(self.small))), [])
        while True:
            left = [place for place, where in enumerate(self.owner) if where < 0]
            if good and not left:
                steps -= len(self.small)
                if not any(self.large) and accept(self.owner):
                    return self.owner
                good = False
            if good:
                steps -= len(left)
                place = min(left, key=lambda one: len(self.fits[one]))
                stack.append((place, iter(sorted(self.fits[place])), []))
            if steps < 0:
                raise TimeoutError
            if not self._next(stack):
                return None
            good = self._settle([stack[-1][0]], stack[-1][2])

    def _next(self, stack: list[tuple[int, Iterator[int], Trail]]) -> bool:
        """Try the next place for the last one that was tried, or for one before; False: none."""
        while stack:
            place, rest, trail = stack.pop()
            self._undo(trail)
            where = next(rest, None)
            if where is not None:
                trail = [(-1 - place, other) for other in self.fits[place] if other != where]
                self.fits[place] = {where}
                stack.append((place, rest, trail))
                return True
        return False

    def _settle(self, queue: list[int], trail: Trail) -> bool:
        """Give away whoever fits one place alone; return False where somebody fits none."""
        while queue:
            place = queue.pop()
            if self.owner[place] >= 0 or len(self.fits[place]) > 1:
                continue
            if not self.fits[place]:
                return False
            (where,) = self.fits[place]
            if not self.small[place] <= self.large[where]:
                return False
            self.owner[place] = where
            self.large[where] = self.large[where] - self.small[place]
            trail.append((place, where))
            queue += self._rule_out(where, trail)
        return True

    def _rule_out(self, where: int, trail: Trail) -> list[int]:
        """Rule a place out for all that fit no more; return them."""
        gone = [
            other
            for other in self.wanted[where]
            if self.owner[other] < 0
            and where in self.fits[other]
            and not self.small[other] <= self.large[where]
        ]
        for other in gone:
            self.fits[other].discard(where)
            trail.append((-1 - other, where))
        return gone

    def _undo(self, trail: Trail) -> None:
        for place, where in reversed(trail):
            if place < 0:
                self.fits[-1 - place].add(where)
            else:
                self.owner[place] = -1
                self.large[where] = self.large[where] + self.small[place]
        trail.clear()


CLOSE = 1e-9  # survey weights are means, computed in another order


def _weights(side: Published) -> NDArray[np.float64]:
    """Return the survey weight of each row."""
    name = str(side.schema.survey_weight)
    return weights_of(side.schema.read_numbers(side.table, "other")[name]).to_numpy()


def _cells(side: Published, name: str) -> pl.Series:
    """Return the published cell of each group."""
    return side.table[name].gather(side.first_rows).cast(pl.String).fill_null(MISSING_LABEL)


def not_nested(finer: Published, coarser: Published) -> tuple[list[str], list[str]]:
    """Return what shows that one was not made from the other, and what was not found out."""
    if _columns(finer) != _columns(coarser) or finer.table.height != coarser.table.height:
        return ["The coarser release has other columns or rows than the finer one."], []
    try:
        coded = stand_ins(finer.table, finer.stated, finer.schema, finer.groups)
    except InputError as problem:
        return [str(problem)], []
    union = _Union(finer, coarser, coded)
    wrong = ["The groups of the coarser release are not unions of those of the finer one."]

    def fits(owner: list[int]) -> bool:
        wrong[:] = union.wrong(owner)
        return not wrong

    try:
        found = _fill(finer, coarser, fits)
    except TimeoutError:
        return [], [
            "Shoal could not find out whether the groups of the releases nest, because too "
            "many of them fit."
        ]
    return [] if found else wrong, []


def _columns(side: Published) -> list[tuple[str, str]]:
    return [(column.name, column.role) for column in side.stated.columns]


def _fill(finer: Published, coarser: Published, accept: Callable[[list[int]], bool]) -> bool:
    """Return whether every finer group can be given to a coarser one in a way that is accepted."""
    one, two = _values(finer, coarser)
    small = [Counter(part.tolist()) for part in np.split(one[finer.groups.order], _ends(finer))]
    large = [Counter(part.tolist()) for part in np.split(two[coarser.groups.order], _ends(coarser))]
    having: dict[int, set[int]] = {}
    for place, values in enumerate(large):
        for value in values:
            having.setdefault(value, set()).add(place)
    covers = _covers(finer, coarser)
    fits = []
    for place, values in enumerate(small):
        sets = sorted((having.get(value, set()) for value in values), key=len)
        both = set.intersection(*sets) if sets else set()
        fits.append({where for where in both if values <= large[where] and covers(place, where)})
    return Filling(small, large, fits).run(accept) is not None


def _ends(side: Published) -> NDArray[np.int64]:
    return side.groups.starts[1:-1]


def _values(finer: Published, coarser: Published) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a number for what each row carries beside its quasi cells, the same in both."""
    weight = finer.schema.survey_weight  # a mean, which is another in the union
    names = [name for name, role in _columns(finer) if role != "quasi" and name != weight]
    both = pl.concat(
        [side.table.select(pl.col(names).cast(pl.String)) for side in (finer, coarser)]
    )
    labels = alike(both, names).labels
    height = finer.table.height
    if finer.stated.people is None:
        return labels[:height], labels[height:]
    known: dict[tuple[int, ...], int] = {}
    return (
        _of_people(finer, labels[:height], known),
        _of_people(coarser, labels[height:], known),
    )


def _of_people(
    side: Published, labels: NDArray[np.int64], known: dict[tuple[int, ...], int]
) -> NDArray[np.int64]:
    """Return a number for what all rows of each row's person carry: they stay together."""
    whom = persons_of(side.table, PERSON)
    sets = (tuple(sorted(labels[rows].tolist())) for rows in whom.parts())
    numbers = np.array([known.setdefault(one, len(known)) for one in sets], np.int64)
    return whom.of_row(numbers)


Fits = Callable[[int, int], bool]


def _covers(finer: Published, coarser: Published) -> Fits:
    """Return whether the cells of a coarser group cover those of a finer one, by their places."""
    every = [
        _cover(said, _cells(finer, said.name), _cells(coarser, said.name))
        for said in finer.stated.columns
        if said.quasi
    ]
    return lambda place, where: all(one(place, where) for one in every)


def _cover(said: StatedColumn, small: pl.Series, large: pl.Series) -> Fits:
    """Return the same for one column."""
    count = len(small)
    cover, outside = read_cover(pl.concat([small, large]), said)
    bad, gaps, alone = outside.tolist(), cover.gaps.tolist(), cover.alone.tolist()
    low, top = cover.low.tolist(), cover.top.tolist()
    if cover.starts is not None:
        held = [frozenset(some.tolist()) for some in np.split(cover.ranks, cover.starts[1:-1])]
        return lambda p, w: not bad[p] | bad[count + w] and held[p] <= held[count + w]
    return lambda p, w: bool(
        not bad[p] | bad[w + count]
        and gaps[p] <= gaps[w + count]
        and (alone[p] or (low[w + count] <= low[p] and top[p] <= top[w + count]))
    )


@dataclass(frozen=True, eq=False)
class _Union:
    """Two releases, and what the finer one stands for: what unions of its groups would publish."""

    finer: Published
    coarser: Published
    coded: Coded

    def wrong(self, owner: list[int]) -> list[str]:
        """Return sentences where a coarser release has something else than these unions."""
        joined = Groups(np.array(owner, np.int64)[self.finer.groups.labels])
        wrong = np.zeros(len(joined), bool)
        for column in self.coded.quasi:
            expected = cells(Cover.of(column, joined))
            wrong |= (expected != _cells(self.coarser, column.name)).to_numpy()
        found = [
            f"{int(wrong.sum()):,} of {len(joined):,} groups of the coarser release have other "
            "cells than the groups that were joined."
        ]
        return found * bool(wrong.any()) + self._wrong_weights(joined)

    def _wrong_weights(self, joined: Groups) -> list[str]:
        """Return a sentence where survey weights are not the means of the joined groups."""
        if self.finer.schema.survey_weight is None:
            return []
        rows, groups = _weights(self.finer), _weights(self.coarser)[self.coarser.first_rows]
        means = np.bincount(joined.labels, weights=rows) / joined.sizes
        wrong = int((~np.isclose(groups, means, rtol=CLOSE, atol=0.0)).sum())
        if not wrong:
            return []
        return [
            f"{wrong:,} of {len(joined):,} groups of the coarser release have another survey "
            "weight than the mean of the rows that were joined."
        ]
