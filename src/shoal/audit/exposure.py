"""How exposed a release leaves people: groups in breach over a grid of ε and δ, the worst groups.

A group is in breach of (ε,δ)-dissimilarity when some member is within ε of more than a share 1 - δ
of the others; a group of one is in breach wherever δ asks for anything. The vulnerability of a
release is the share of its groups in breach (XC, section VI and Figure 4). Of a release without
groups it is the share of the people for whom the published rows that match them, taken for a group,
are in breach; about a person whom no row matches nothing is said.

The risk of a group at ε is the largest share of its members whose value is within ε of one of them
(EM Definition 5); the δ that it keeps is one less the same share of the others (XC Definition 6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.guessing import promised_widths
from shoal.audit.matches import SPREAD, spread
from shoal.distances.counting import band_of_column, most_near
from shoal.distances.labels import Equality
from shoal.distances.numeric import Absolute
from shoal.distances.relation import equality, unsure
from shoal.exact import downward, percent, upward
from shoal.notation import exact
from shoal.principles.groups import Groups
from shoal.principles.unasked import near_by
from shoal.progress import Brief
from shoal.sampling import drawn_from, within
from shoal.table.coding import code_lenient, quantity
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover
    from shoal.audit.published import Published
    from shoal.distances.base import Distance
    from shoal.distances.relation import Relation
    from shoal.sampling import Sample
    from shoal.table.column import Column


SHARES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # of the spread of a numeric column
SCALED = (0.0, 0.02, 0.05, 0.08, 0.1, 0.15, 0.2, 0.25, 0.3)  # for a distance from 0 to 1
DELTAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
SHOWN = (0.2, 0.5, 0.8, 0.9)  # the δ that a terminal has room for, as near as the grid has them
ROOM = 6  # δ that need no choice
PAIRS = 2000  # of values, whose distances tell how far apart values are
ROWS = 2**20  # matching rows that are measured at a time


@dataclass(frozen=True, repr=False)
class Vulnerability(Brief):
    """The vulnerability of one release for one value: breaches[i][j] for epsilons[i], deltas[j].

    They count groups, or people of the sample where a release has no groups. `about` is the width
    that its sentence is about.
    """

    _brief = ("release", "column", "distance", "groups")

    release: str
    column: str
    distance: str
    groups: int | None
    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]
    breaches: tuple[tuple[int, ...], ...]
    sample: Sample | None = None
    about: float | None = None

    @property
    def shown(self) -> tuple[float, ...]:
        """The δ of the table in which the release is shown, those of its sentence among them."""
        if len(self.deltas) <= ROOM:
            return self.deltas
        near = (min((abs(delta - one), delta) for delta in self.deltas)[1] for one in SHOWN)
        return tuple(sorted(set(near)))

    def share(self, count: int) -> tuple[float, float | None]:
        """Return the share that a count is of all, and how far off it may be."""
        if self.sample is None:
            assert self.groups is not None
            return count / self.groups, None
        share = count / len(self.sample)
        return share, self.sample.share_error(share)

    def to_dict(self) -> dict[str, Any]:
        """Return the grid, a row for each pair, and the sentence about its middle."""
        grid = []
        for epsilon, row in zip(self.epsilons, self.breaches, strict=True):
            for delta, count in zip(self.deltas, row, strict=True):
                share, error = self.share(count)
                grid.append({"epsilon": epsilon, "delta": delta, "share": share, "error": error})
        return {
            "release": self.release,
            "column": self.column,
            "distance": self.distance,
            "groups": self.groups,
            "people": None if self.sample is None else len(self.sample),
            "people_in_all": None if self.sample is None else self.sample.whole,
            "shown": list(self.shown),
            "grid": grid,
            "sentence": self._sentence(),
            "drawn": "" if self.sample is None else drawn_from(self.sample, "people"),
        }

    def _sentence(self) -> str:
        delta = self.shown[len(self.shown) // 2]
        width = self.epsilons[len(self.epsilons) // 2] if self.about is None else self.about
        row = self.epsilons.index(width)
        share, error = self.share(self.breaches[row][self.deltas.index(delta)])
        near = f"within {width:,g} of that" if width else "the same as that"
        others = f"{float(100 * (1 - exact(delta))):.4g}% of the others"
        if self.sample is None:
            return (
                f"In {percent(share, 1)} of the groups of {self.release}, at least one person's "
                f"{self.column} is {near} of more than {others}."
            )
        return (
            f"For {percent(share, 1)}{within(error)} of people, at least one person's "
            f"{self.column} among "
            f"the rows of {self.release} that match them is {near} of more than {others}."
            f"{drawn_from(self.sample, 'people')}"
        )


def value_of(published: Published, distance: Distance | None, name: str) -> Sensitive:
    """Code one sensitive column, or all of them together where a distance was chosen."""
    if distance is None:
        return Sensitive.of((published.sensitive(name),))
    types, names = published.schema.types, published.schema.sensitive
    return Sensitive.of(
        tuple(
            code_lenient(
                published.table[name],
                kind=quantity(types.get(name)) if number else types.get(name),
            )
            for name, number in zip(names, distance.numbers_of(len(names)), strict=True)
        )
    )


def vulnerability(
    releases: Sequence[Published],
    *,
    distance: Distance | None = None,
    epsilons: Sequence[float] | None = None,
    deltas: Sequence[float] | None = None,
    covers: Sequence[CellCover] | None = None,
    sample: Sample | None = None,
) -> list[Vulnerability]:
    """Measure every release over the same grid.

    Without a distance every sensitive column is measured by itself, numbers by their difference
    and labels by whether they are equal; with one, all sensitive columns together. Widths that
    requirements of the releases bound are among those that are chosen. A release without groups is
    measured where `covers` say whom of a sample of people its rows match.
    """
    found: list[Vulnerability] = []
    names = releases[0].schema.sensitive[: 1 if distance else None]
    wanted = tuple(deltas or DELTAS)
    for name in names:
        first = value_of(releases[0], distance, name)
        promised = [] if distance or epsilons else promised_widths(releases, name)
        chosen = tuple(epsilons or sorted({*_widths(first, distance), *promised}))
        for place, published in enumerate(releases):
            if published.heterogeneous and covers is None:
                continue
            value = value_of(published, distance, name)
            metric = distance or (Absolute() if value.columns[0].numeric else Equality())
            reach = (0,) if isinstance(metric, Equality) else chosen
            cover = covers[place] if covers and published.heterogeneous else None
            found.append(
                Vulnerability(
                    published.name,
                    "+".join(column.name for column in value.columns),
                    repr(metric),
                    None if cover else len(published.groups),
                    reach,
                    wanted,
                    tuple(
                        _row(_parts(published, cover, sample, value), value, metric, one, wanted)
                        for one in reach
                    ),
                    sample if cover else None,
                    promised[-1] if promised and len(reach) > 1 else None,
                )
            )
    return found


def _widths(value: Sensitive, distance: Distance | None) -> Sequence[float]:
    """Return some widths in the units of a distance, the differences of one column by default."""
    if distance is None or isinstance(distance, Absolute):
        return widths(value.columns[0], SHARES)
    distance.check(value.known)
    # Whatever the order of the rows, the same values are compared.
    known = value.known
    codes = np.sort(known.codes).astype(np.int64)
    left, right = np.random.default_rng(0).choice(codes, (2, PAIRS))
    lengths = distance.between(known, left, right)
    if lengths.max() <= 1:
        return SCALED
    reach = float(np.quantile(lengths, SPREAD[1])) or float(lengths.max())
    some = [0.0, *(float(f"{share * reach:.2g}") for share in SHARES)]
    whole = bool((lengths == np.round(lengths)).all())
    return sorted({round(width) if whole else width for width in some})


def _parts(
    published: Published, cover: CellCover | None, sample: Sample | None, value: Sensitive
) -> Iterator[tuple[Groups, Sensitive]]:
    """Yield the groups of a release, or the rows that match people, so many at a time."""
    if cover is None or sample is None:
        yield published.groups, value
        return
    held: list[NDArray[np.int64]] = []
    for person in sample.places.tolist():
        rows = np.flatnonzero(cover.candidates(person))
        if len(rows):
            held.append(rows)
        if sum(map(len, held)) >= ROWS:
            yield _gathered(held, value)
            held = []
    if held:
        yield _gathered(held, value)


def _gathered(held: list[NDArray[np.int64]], value: Sensitive) -> tuple[Groups, Sensitive]:
    """Return rows as groups, one for each array of them; a row may be in several."""
    labels = np.repeat(np.arange(len(held)), [len(rows) for rows in held])
    return Groups(labels), replace(value, codes=value.codes[np.concatenate(held)])


def _row(
    parts: Iterator[tuple[Groups, Sensitive]],
    value: Sensitive,
    distance: Distance,
    epsilon: float,
    deltas: tuple[float, ...],
) -> tuple[int, ...]:
    """Count the groups in breach at one ε and every δ, in exact integers."""
    asked = near_by(distance, epsilon)
    relation = asked.relation(value)
    counts = np.zeros(len(deltas), np.int64)
    for groups, members in parts:
        measured = asked.measure_by(relation, groups, members)
        for place, delta in enumerate(deltas):
            allowed = 1 - exact(delta)
            over = measured.parts * allowed.denominator > measured.wholes * allowed.numerator
            counts[place] += np.count_nonzero(over)
    return tuple(counts.tolist())


NEAR_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)  # of the distance from the 5th to the 95th percentile
DIGITS = 2  # of a width that Shoal chooses
LIKELY = 0.5


@dataclass(frozen=True, eq=False)
class Nearness:
    """The risk of each group at one width."""

    epsilon: float
    counts: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def risks(self) -> NDArray[np.float64]:
        """The share of each group near to its most exposed member."""
        return self.counts / self.sizes

    def to_dict(self) -> dict[str, Any]:
        """Return what it says of the table: the worst group, and rows by their group's risk."""
        worst = int(np.argmax(self.risks))
        others = np.where(self.sizes == 1, 1, (self.counts - 1) / np.maximum(self.sizes - 1, 1))
        exposed = int(np.argmax(others))
        size = int(self.sizes[exposed])
        near = Fraction(int(self.counts[exposed]) - 1, size - 1) if size > 1 else Fraction(1)
        likely = self.sizes[self.risks >= LIKELY].sum()
        return {
            "epsilon": self.epsilon,
            "risk": upward(Fraction(int(self.counts[worst]), int(self.sizes[worst]))),
            "mean_risk": float(self.risks @ self.sizes / self.sizes.sum()),
            "delta": downward(1 - near),
            "likely_rows": float(likely / self.sizes.sum()),
        }


def widths(column: Column, shares: Sequence[float] = NEAR_SHARES) -> list[float]:
    """Return 0 and some widths for a column: shares of its spread, in two digits.

    The spread is the distance from the 5th to the 95th percentile, so that a few extreme values do
    not stretch it, or the range where those are equal. Labels have the width 0 alone.
    """
    if not column.numeric:
        return [0]
    numbers = column.numbers[column.codes[column.codes != column.gap]].astype(np.float64)
    reach = spread(numbers) or float(numbers.max() - numbers.min())
    whole = column.numbers.dtype == np.int64
    chosen = [0.0, *(float(f"{share * reach:.{DIGITS}g}") for share in shares)]
    return sorted({round(width) if whole else width for width in chosen})


def relation_of(value: Sensitive, epsilon: float) -> Relation:
    """Return who is within a width of whom; labels are near where they are equal.

    Missing values are near to all.
    """
    if not value.columns[0].numeric:
        return unsure(equality(value.distinct), value)
    reach = exact(epsilon)
    return unsure(band_of_column(value.column, reach, reach), value)


def nearness(groups: Groups, value: Sensitive, epsilons: Sequence[float]) -> list[Nearness]:
    """Measure how near values lie together at each width."""
    return [
        Nearness(epsilon, most_near(relation_of(value, epsilon), groups, value), groups.sizes)
        for epsilon in epsilons
    ]
