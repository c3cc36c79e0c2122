"""Singling out by predicates: descriptions that fit exactly one person (Cohen, Nissim. PNAS 2020).

From every published cell a reader takes these predicates, in this order: in the cell, and a column
at one of its published ends; or at the next step inside; or in a random share of 1/size of
everybody. A set of labels and a node have the first and the last label that they stand for as ends.
The least likely one by the first half of the controls is tried on the members: does it fit exactly
one? By chance, a predicate that fits x of the c controls in the other half fits exactly one of n
people drawn from them with the chance

    x · C(c − x, n − 1) / C(c, n),

which is n w (1 − w)^(n − 1) for a weight w = x/c where c is large, and right on average for any. It
takes c ≥ n. With fewer controls weights about 1/n cannot be told apart, but their mean over all
cells can be estimated. Up to w = 1/n the chance is concave in w, and it falls from there on; so the
mean chance is at most that of the mean weight, or of 1/n where that is less. Where
few controls find several predicates equally likely, those at an end come first, then those at the
next step; of either, the one that asks for the rarer value of its column.
"""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from math import exp, lgamma
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import interval_ends
from shoal.audit.compared import SINGLING, Compared, Rate
from shoal.audit.covers import BOTH_ENDS, ColumnCover, cover_column
from shoal.sampling import draw, wilson
from shoal.table.forms import TWO_TABLES
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.audit.controlled import Sides

CELLS = 2000  # that predicates are taken from, at most
NOBODY = -2  # the value that a predicate asks for and nobody has
MEMBER, CHOOSING, WEIGHING = range(3)  # what people are there for


def single_out(sides: Sides, seed: int | None) -> Compared | None:
    """Count the cells whose least likely predicate fits one member, and how many do by chance.

    None where there are no cells to take predicates from: without groups, and in two tables, where
    everybody's quasi values are published.
    """
    published = sides.cover.published
    if published.heterogeneous or published.form == TWO_TABLES:
        return None
    random = np.random.default_rng(seed)
    part = np.full(sides.everybody, MEMBER)
    controls = sides.members + random.permutation(sides.everybody - sides.members)
    part[controls[: len(controls) // 2]] = CHOOSING
    part[controls[len(controls) // 2 :]] = WEIGHING
    weighing = len(controls) - len(controls) // 2
    bounded = weighing < sides.members
    places = _places(sides)
    choosing = sides.candidates.whom.of_row(part) == CHOOSING
    known = [
        np.bincount(column.values[choosing] + 1, minlength=column.cover.domain.distinct + 1)[1:]
        for column in sides.cover.columns
    ]
    tried = np.argsort(sides.cover.rows)[draw(len(sides.cover.rows), CELLS, seed).places]
    sizes = np.bincount(sides.candidates.description, minlength=len(sides.cover.rows))
    fitting = np.array(
        [
            min(
                _predicates(sides, part, places, known, group, rows, sizes, random),
                key=lambda one: one[0],
            )[1]
            for group, rows in sides.cover.matched(tried.tolist())
        ]
    )
    if bounded:
        chance = at_most_one(int(fitting[:, WEIGHING].sum()), weighing * len(tried), sides.members)
    else:
        times = fitting[:, WEIGHING].tolist()
        chance = sum(exactly_one(one, weighing, sides.members) for one in times) / len(tried)
    return Compared(
        published.name,
        SINGLING,
        Rate(float(np.mean(fitting[:, MEMBER] == 1)), len(tried)),
        Rate(chance, len(tried)),
        bounded=bounded,
        enough=sides.enough,
        number=len(controls),
    )


def exactly_one(fitting: int, whole: int, drawn: int) -> float:
    """Return the chance that exactly one of some people drawn without repetition fits.

    Examples
    --------
    >>> round(exactly_one(1, 4, 2), 9), exactly_one(2, 4, 4), exactly_one(0, 4, 2)
    (0.5, 0.0, 0.0)
    """
    if not fitting or whole - fitting < drawn - 1:
        return 0.0
    logs = _choose(whole - fitting, drawn - 1) - _choose(whole, drawn)
    return min(1.0, fitting * exp(logs))


def at_most_one(fitting: int, tried: int, people: int) -> float:
    """Return the largest mean chance that predicates of some mean weight fit exactly one person.

    The mean weight is that of predicates which fit so often when tried so often, at most: the upper
    end of Wilson's interval.
    """
    weight = min(wilson(fitting / tried, tried)[1], 1 / people)
    return float(people * weight * (1 - weight) ** (people - 1))


def _choose(whole: int, some: int) -> float:
    return lgamma(whole + 1) - lgamma(some + 1) - lgamma(whole - some + 1)


def _predicates(
    sides: Sides,
    part: NDArray[np.int64],
    places: list[NDArray[np.int64]],
    known: list[NDArray[np.int64]],
    group: int,
    rows: NDArray[np.int64],
    sizes: NDArray[np.int64],
    random: np.random.Generator,
) -> Iterator[tuple[tuple[float, int, int], NDArray[np.int64]]]:
    """Yield how likely each predicate of a cell is, and how many people of each part it fits.

    How likely it is: how many of the choosing controls it fits, its kind, and how many of them have
    the value.
    """
    whom = sides.candidates.whom.labels[rows]
    for kind, which in enumerate((slice(0, 2), slice(2, 4))):  # the ends, the next steps inside
        for column, own, have in zip(sides.cover.columns, places, known, strict=True):
            cell = int(column.cells[sides.cover.rows[group]])
            values = column.values[rows]
            for value in dict.fromkeys(own[cell, which].tolist()) if own[cell, 0] != MANY else ():
                people = np.unique(whom[values == value])
                fitting = np.bincount(part[people], minlength=3)
                usual = 0 if value == NOBODY else int(have[value])
                yield (float(fitting[CHOOSING]), kind, usual), fitting
    inside = np.unique(whom)
    size = int(sizes[group])
    counts = np.bincount(part[inside], minlength=3)
    drawn = inside[random.random(len(inside)) < 1 / size]
    yield (counts[CHOOSING] / size, 2, 0), np.bincount(part[drawn], minlength=3)


MANY = -3  # stands at the place of an end where a cell names one value, which is no end


def _places(sides: Sides) -> list[NDArray[np.int64]]:
    """Return for every distinct cell of each column its two ends and the next steps, as ranks."""
    published = sides.cover.published
    found = []
    for name, column in zip(published.schema.quasi, sides.cover.columns, strict=True):
        cells = published.table[name].cast(pl.String).fill_null(MISSING_LABEL)
        texts = cells.unique().sort()
        kind = published.kinds.get(name)
        points = _points(texts, kind, published.schema.step.get(name))
        ranks = _listed(column)
        spans = [at for at, some in enumerate(points) if some is not None]
        if spans:
            asked = pl.Series([text or "" for at in spans for text in points[at] or ()])
            spelled = published.schema.types.get(name)
            # One cover of points: a point that somebody has is a run of one rank.
            seen = cover_column(
                asked, sides.table[name], kind=kind, type=spelled if kind else spelled or "numeric"
            )
            ends = seen.cover
            exact = np.where(ends.low == ends.high, ends.low, NOBODY)[seen.cells]
            exact[(asked == "").to_numpy()] = NOBODY
            ranks[spans] = exact.reshape(-1, 4)
            single = [at for at in spans if points[at][0] == points[at][1]]  # type: ignore[index]
            ranks[single] = MANY
        found.append(ranks)
    return found


def _listed(column: ColumnCover) -> NDArray[np.int64]:
    """Return the first, last, second and last but one value that each cell stands for."""
    cover = column.cover
    found = np.full((len(cover), 4), MANY)
    some = np.flatnonzero(column.sizes > 1)
    if cover.starts is None:
        low, high = cover.low[some], cover.high[some]
        found[some] = np.stack([low, high, low + 1, high - 1], axis=1)
    else:
        first, after = cover.starts[some], cover.starts[some + 1]
        found[some] = cover.ranks[np.stack([first, after - 1, first + 1, after - 2], axis=1)]
    return found


def _points(
    texts: pl.Series, kind: str | None, step: object
) -> list[tuple[str, str, str, str] | None]:
    """Return the ends and the next steps inside of every cell that is an interval, as texts.

    A step is what a manifest says, or one in the last digit of any end; of dates, a day.
    """
    if kind == "interval":
        low, high = (end.to_list() for end in interval_ends(texts))
    elif kind is None:
        read = [BOTH_ENDS.fullmatch(text.strip()) for text in texts]
        low, high = ([one and one[which] for one in read] for which in (2, 3))
    else:
        return [None] * len(texts)
    ends = [end for end in (*low, *high) if end is not None]
    digits = max((len(end.partition(".")[2]) for end in ends), default=0)
    width = Decimal(str(step)) if step is not None else Decimal(1).scaleb(-digits)
    return [
        None if a is None or b is None else (a, b, _moved(a, width), _moved(b, -width))
        for a, b in zip(low, high, strict=True)
    ]


def _moved(end: str, step: Decimal) -> str:
    """Return the point a step from an end, as text; nothing where it cannot be said."""
    try:
        return f"{Decimal(end) + step:f}"
    except InvalidOperation:
        pass
    try:
        return (date.fromisoformat(end) + timedelta(days=float(step))).isoformat()
    except (ValueError, OverflowError):
        return ""  # a moment: no step is known
