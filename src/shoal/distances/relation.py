"""Who is proximate to whom, among the distinct values of a sensitive column or several.

Three forms serve every relation: a band of codes (ordered values), points with a threshold
(evaluated inside the kernels, never stored for all pairs), and a bit matrix over distinct values
(for labels and for a person's own function).

Private neighbourhoods of numeric values are compared exactly: integers are compared as integers.
Doubles come from decimals, so a distance that exceeds the limit by no more than 1e-9 of the size of
what is compared counts as a tie, and a tie is near: the private side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shoal.kernels.relations import Relations
    from shoal.table.sensitive import Sensitive

    Near = Callable[[NDArray, NDArray], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Band:
    """Which codes are near to which: u is proximate to v when first[v] <= u <= last[v].

    Both bounds are non-decreasing, as they are for every monotone private neighbourhood. The only
    form that need not be symmetric.
    """

    first: NDArray[np.int32]
    last: NDArray[np.int32]

    @property
    def symmetric(self) -> bool:
        """Whether every code is proximate to all that are proximate to it.

        Bounds are non-decreasing, so what holds for the ends of each range holds within it.
        """
        codes = np.arange(len(self.first))
        both = (self.last[self.first] >= codes) & (self.first[self.last] <= codes)
        return bool(both.all())

    @property
    def reach(self) -> NDArray[np.int32]:
        """The highest code that is proximate to each code in either direction.

        maxsize (EM Definition 11) is the longest run whose ends are proximate either way.
        """
        codes = np.arange(len(self.first))
        looks_down = np.searchsorted(self.first, codes, side="right") - 1
        return np.maximum(self.last, looks_down).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Points:
    """Values are near when the distance of their points is at most `threshold`.

    `metric` is one of the metrics of `shoal.kernels.relations`.
    """

    points: NDArray[np.float64]
    metric: int
    threshold: float


@dataclass(frozen=True, eq=False)
class Bits:
    """Bit u of row v says whether value u is near to value v; symmetric."""

    rows: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Unsure:
    """Values some of which are missing: these are proximate to every value.

    A missing value may be any, so whoever has one is near to everybody. To a missing value itself
    only missing ones are near: it is no value that anybody could guess. `values` says of all codes
    who is near, the last one, `gap`, being near to itself alone there.
    """

    values: Band | Points | Bits
    gap: int


@dataclass(frozen=True, eq=False)
class Several:
    """Members with several values each: near when some value of the one is near to some of v's.

    Member u has the values `codes[ends[u] : ends[u + 1]]`, ascending. Whoever has a value near to
    one of v's values is near to v, so a bound on those near to v bounds those near to each value.
    With several `parts`, kernels count those near to each part of v's values by themselves, as
    relations of their own; with a part for each value these are those near to each value.
    """

    values: Relation
    ends: NDArray[np.int64]
    codes: NDArray[np.int32]
    parts: int = 1

    @property
    def part_ends(self) -> NDArray[np.int64]:
        """Where each part of each member's values begins, and the end; parts may be empty."""
        counts = np.diff(self.ends)
        begins = self.ends[:-1, None] + counts[:, None] * np.arange(self.parts) // self.parts
        return np.append(begins.ravel(), self.ends[-1])

    def looked_up(self) -> dict[str, NDArray]:
        """Return what is near to each value of a band, and the bins of each part.

        Codes are put into bins that are about equally full: those of all values of a part's member,
        and those of all that is near to the part. Where the one and the other have no bin in
        common, no value is near.
        """
        band, codes, ends = self.values, self.codes, self.part_ends
        if isinstance(band, Unsure):
            band = band.values
        if not isinstance(band, Band) or not len(codes):
            none = np.zeros(len(ends), np.uint64)
            return {"lows": codes, "highs": codes, "own": none, "near": none}
        lows, highs = band.first[codes], band.last[codes]
        cuts = np.sort(codes)[np.arange(1, BINS) * len(codes) // BINS]
        bins = np.searchsorted(cuts, np.arange(len(band.first)), side="right").astype(np.uint64)
        least, most = bins[lows], bins[highs]
        near = (~np.uint64(0) >> (np.uint64(BINS - 1) - (most - least))) << least
        own = np.repeat(_united(np.uint64(1) << bins[codes], self.ends), self.parts)
        return {
            "lows": lows,
            "highs": highs,
            "own": np.append(own, np.uint64(0)),
            "near": np.append(_united(near, ends), np.uint64(0)),
        }


def _united(bits: NDArray[np.uint64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the bits of each range together; none of an empty one."""
    found = np.bitwise_or.reduceat(np.append(bits, np.uint64(0)), ends[:-1])
    return np.where(np.diff(ends) > 0, found, np.uint64(0))


BINS = 64  # as many as a word has bits

Relation = Band | Points | Bits | Unsure
BetweenMembers = Relation | Several


def near(relation: BetweenMembers, u: NDArray, v: NDArray) -> NDArray[np.bool_]:
    """Say for pairs of codes whether u is proximate to v, by the plain meaning of each form."""
    if isinstance(relation, Several):
        both = [_sets(relation, members) for members in np.broadcast_arrays(u, v)]
        pairs = [
            near(relation.values, own[None, :], others[:, None]).any()
            for own, others in zip(*both, strict=True)
        ]
        return np.array(pairs, np.bool_).reshape(np.broadcast_shapes(u.shape, v.shape))
    if isinstance(relation, Unsure):
        if not relation.gap:
            return np.broadcast_to(np.True_, np.broadcast_shapes(u.shape, v.shape))
        one, two = (np.minimum(some, relation.gap - 1) for some in (u, v))
        return (near(relation.values, one, two) & (v < relation.gap)) | (u == relation.gap)
    if isinstance(relation, Band):
        return (relation.first[v] <= u) & (u <= relation.last[v])
    if isinstance(relation, Bits):
        word = relation.rows[v, u >> 6] >> (u & 63).astype(np.uint64)
        return (word & np.uint64(1)).astype(np.bool_)
    gaps = np.abs(relation.points[u] - relation.points[v])
    lengths = {
        1: lambda: gaps.sum(axis=-1),
        2: lambda: np.sqrt((gaps**2).sum(axis=-1)),
        3: lambda: gaps.max(axis=-1),
        4: lambda: gaps.min(axis=-1),
    }
    return np.asarray(lengths[relation.metric]() <= relation.threshold)


def _sets(relation: Several, members: NDArray) -> list[NDArray[np.int32]]:
    """Return the values of members one after the other."""
    return [
        relation.codes[relation.ends[member] : relation.ends[member + 1]]
        for member in members.ravel()
    ]


def between_members(relation: Relation, sensitive: Sensitive, parts: int = 1) -> BetweenMembers:
    """Return the relation between members, by the numbers `Sensitive.members`.

    Where some have several values, these are divided into at most so many parts.
    """
    if not sensitive.several:
        return relation
    sets = sensitive.sets
    most = max(1, min(parts, int(np.diff(sets.ends).max(initial=1))))
    return Several(relation, sets.ends, sets.codes, most)


def parts_of(relation: BetweenMembers) -> int:
    """Return how many relations kernels make of one."""
    return relation.parts if isinstance(relation, Several) else 1


def unsure(relation: Relation, sensitive: Sensitive) -> Relation:
    """Return a relation of the values that are not missing with a place for those that are."""
    gap = sensitive.gap
    if gap is None:
        return relation
    alone = np.array([gap], np.int32)
    if isinstance(relation, Band):
        if len(relation.first) == gap:
            relation = Band(np.append(relation.first, alone), np.append(relation.last, alone))
        return Unsure(relation, gap)
    if isinstance(relation, Points):
        nowhere = np.full((1, relation.points.shape[1]), np.inf)  # near to no point, nor to itself
        return Unsure(replace(relation, points=np.vstack([relation.points, nowhere])), gap)
    assert isinstance(relation, Bits)
    rows = np.zeros((gap + 1, gap // 64 + 1), np.uint64)
    rows[:-1, : relation.rows.shape[1]] = relation.rows
    rows[gap, gap >> 6] = np.uint64(1) << np.uint64(gap & 63)
    return Unsure(Bits(rows), gap)


def equality(distinct: int) -> Band:
    """Return the relation in which every value is near to itself alone."""
    codes = np.arange(distinct, dtype=np.int32)
    return Band(codes, codes)


def pack(
    relations: Sequence[BetweenMembers], *, bounds: NDArray[np.int64] | None = None, least: int = 1
) -> Relations:
    """Lay relations out in the flat arrays that kernels take.

    `bounds[r, s]` is the largest count that relation r allows in a group of s members. Members with
    several values have a relation for each part of these.
    """
    from shoal.kernels.relations import BAND, MATRIX, VECTOR, Relations

    each = np.array([parts_of(relation) for relation in relations], np.int64)
    count = int(each.sum())
    forms, metrics = np.zeros(count, np.int8), np.zeros(count, np.int8)
    starts, widths = np.zeros(count, np.int64), np.zeros(count, np.int64)
    thresholds, symmetric = np.zeros(count), np.ones(count, np.bool_)
    sets, gaps = np.full((2, count), -1, np.int64)
    begins = np.cumsum(each) - each
    names = ("first", "last", "points", "bits", "ends", "codes", "lows", "highs", "own", "near")
    flat: dict[str, list[NDArray]] = {name: [] for name in names}

    def lay(name: str, array: NDArray) -> int:
        start = sum(known.size for known in flat[name])
        flat[name].append(array.ravel())
        return start

    for begin, given in zip(begins, relations, strict=True):
        relation, r = given, slice(begin, begin + parts_of(given))
        if isinstance(relation, Several):
            start = lay("codes", relation.codes)
            sets[r] = lay("ends", relation.part_ends + start)
            for name, laid in relation.looked_up().items():
                lay(name, laid)
            relation = relation.values
        if isinstance(relation, Unsure):
            gaps[r] = relation.gap
            relation = relation.values
        if isinstance(relation, Band):
            forms[r], starts[r] = BAND, lay("first", relation.first)
            lay("last", relation.last)
            symmetric[r] = relation.symmetric and parts_of(given) == 1
        elif isinstance(relation, Points):
            forms[r], starts[r] = VECTOR, lay("points", relation.points)
            widths[r], metrics[r] = relation.points.shape[1], relation.metric
            thresholds[r] = relation.threshold
            symmetric[r] = parts_of(given) == 1
        else:
            forms[r], starts[r] = MATRIX, lay("bits", relation.rows)
            widths[r] = relation.rows.shape[1]
            symmetric[r] = parts_of(given) == 1
        symmetric[r] &= gaps[r] < 0

    def join(name: str, kind: type) -> NDArray:
        return np.concatenate([np.zeros(0, kind), *flat[name]]).astype(kind)

    return Relations(
        forms=forms,
        starts=starts,
        widths=widths,
        first=join("first", np.int32),
        last=join("last", np.int32),
        points=join("points", np.float64),
        bits=join("bits", np.uint64),
        sets=sets,
        parts=np.repeat(each, each),
        part=np.arange(count) - np.repeat(begins, each),
        set_ends=join("ends", np.int64),
        set_codes=join("codes", np.int32),
        set_first=join("lows", np.int32),
        set_last=join("highs", np.int32),
        own_bits=join("own", np.uint64),
        near_bits=join("near", np.uint64),
        symmetric=symmetric,
        gaps=gaps,
        metrics=metrics,
        thresholds=thresholds,
        bounds=np.zeros((count, 1), np.int64) if bounds is None else bounds,
        least=np.array([least], np.int64),
    )
