"""A column as its distinct cells and how often each stands there; everything is asked of those.

Columns may tell one another, as copies, renamings, and functions of each other. Some rows, drawn at
random, rule out nearly every pair; what is left is confirmed on all rows. So whatever is said is so
on all rows, and the sample can only hide something: copies, about one time in 10,000, where their
share of equal cells is just the one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.sampling import draw
from shoal.table.coding import NUMBER, check_type
from shoal.table.column import INTEGER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


SAMPLE = 2_000  # rows
REPEATED = 0.2  # share of so many rows that repeat a value, without which it tells nothing
CONFIRMED = 200  # pairs that are tried on all rows
ALIKE = 0.9  # share of equal cells from which two columns are nearly copies
SURE = 4.0  # standard errors below it that a sample has to be to rule two columns out
VARIED = 10  # values that a column must have for equal cells to mean anything


@dataclass(frozen=True)
class Kinship:
    """Two columns of which the first tells the second: `copy`, `renaming` or `function`."""

    kind: str
    left: str
    right: str

    @property
    def text(self) -> str:
        """The sentence for people."""
        both = f"{self.left!r} and {self.right!r}"
        match self.kind:
            case "copy":
                return f"{both} are equal in nearly every row: treat them alike or leave one out."
            case "renaming":
                return f"{both} say the same in other words: treat them alike or leave one out."
        return f"{self.left!r} determines {self.right!r}: a reader who knows one knows both."


def kin(profiles: Sequence[Profile]) -> list[Kinship]:
    """Return the pairs of columns of which one tells the other."""
    varied = [profile for profile in profiles if profile.distinct > 1]
    if len(varied) < 2 or varied[0].rows < 20:
        return []
    rows = varied[0].rows
    picked = draw(rows, SAMPLE)
    sampled = [profile.column.gather(picked.places).cast(pl.String) for profile in varied]
    ranks = np.column_stack([column.rank("dense").fill_null(0).to_numpy() for column in sampled])
    texts = np.column_stack([column.hash().to_numpy() for column in sampled])
    known: dict[int, NDArray[np.int64]] = {}

    def codes(place: int) -> NDArray[np.int64]:
        if place not in known:
            known[place] = varied[place].codes()
        return known[place]

    copies = _copies(varied, texts)
    found = [Kinship("copy", varied[left].name, varied[right].name) for left, right in copies]
    told = [
        pair
        for pair in _candidates(varied, ranks)
        if pair not in copies and pair[::-1] not in copies
    ][:CONFIRMED]
    sure = {pair for pair in told if _tells(codes(pair[0]), codes(pair[1]))}
    for left, right in sorted(sure):
        if (right, left) not in sure:
            found.append(Kinship("function", varied[left].name, varied[right].name))
        elif left < right:
            found.append(Kinship("renaming", varied[left].name, varied[right].name))
    return found


def _copies(varied: Sequence[Profile], texts: NDArray[np.uint64]) -> set[tuple[int, int]]:
    found = set()
    least = ALIKE - SURE * np.sqrt(ALIKE * (1 - ALIKE) / len(texts))
    for left, profile in enumerate(varied):
        if profile.distinct <= VARIED or profile.mode_share > 0.5:
            continue
        equal = (texts[:, left : left + 1] == texts[:, left + 1 :]).mean(axis=0)
        for right in left + 1 + np.flatnonzero(equal >= least):
            other = varied[int(right)]
            same = profile.column.cast(pl.String).eq_missing(other.column.cast(pl.String)).mean()
            if other.distinct > VARIED and isinstance(same, float) and same >= ALIKE:
                found.add((left, int(right)))
    return found


def _candidates(varied: Sequence[Profile], ranks: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return pairs where, in the sample, equal cells on the left go with equal on the right."""
    found = []
    for left, profile in enumerate(varied):
        if profile.distinct > profile.rows / VARIED:
            continue
        if repeating(profile, len(ranks)) < REPEATED:
            continue
        order = np.argsort(ranks[:, left], kind="stable")
        ordered = ranks[order]
        same = ordered[1:, left] == ordered[:-1, left]
        broken = ((ordered[1:] != ordered[:-1]) & same[:, None]).any(axis=0)
        found += [(left, int(right)) for right in np.flatnonzero(~broken) if right != left]
    return found


def repeating(profile: Profile, drawn: int) -> float:
    """Return which share of rows drawn at random is expected to repeat the value of another.

    A value of c rows is among the drawn ones, a share p of all, with the probability 1 - (1 - p)^c,
    nearly; what is expected depends on how often values occur, not on which rows are drawn.
    """
    counts = np.append(profile.counts, profile.missing)
    values = float((1 - (1 - drawn / profile.rows) ** counts).sum())
    return 1 - values / drawn


def _tells(left: NDArray[np.int64], right: NDArray[np.int64]) -> bool:
    """Whether rows that agree on the left agree on the right."""
    carried = np.full(left.max() + 2, -1, np.int64)
    carried[left] = right  # place -1, the last, is that of missing cells
    return bool((carried[left] == right).all())


FIRST = 50  # distinct cells that mostly tell whether all are alike


@dataclass(frozen=True, eq=False)
class Profile:
    """The distinct cells of a column as text, without missing ones, and their counts."""

    column: pl.Series
    cells: pl.Series
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, column: pl.Series) -> Profile:
        """Count the cells of a column."""
        if column.dtype.is_float():
            column = column.fill_nan(None)
        known = column.drop_nulls().value_counts(name="#count" if column.name != "#count" else "#")
        cells, counts = known.get_columns()
        spelled = cells.cast(pl.String)
        # Some kinds of cells are spelled alike though they differ, as timestamps of two zones.
        if column.dtype != pl.String and spelled.n_unique() < len(spelled):
            merged = (
                pl.DataFrame({"cell": spelled, "count": counts})
                .group_by("cell")
                .agg(pl.col("count").sum())
            )
            spelled, counts = merged["cell"], merged["count"]
        return cls(column, spelled, counts.to_numpy().astype(np.int64))

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.column)

    @property
    def distinct(self) -> int:
        """How many distinct values there are."""
        return len(self.cells)

    @property
    def filled(self) -> int:
        """How many cells have a value."""
        return int(self.counts.sum())

    @property
    def missing(self) -> int:
        """How many cells have none."""
        return self.rows - self.filled

    @property
    def mode_share(self) -> float:
        """The share of the most frequent value among the cells that have one."""
        return float(self.counts.max()) / self.filled if self.distinct else 0.0

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        """Which distinct cells are numbers."""
        if self.column.dtype.is_numeric():
            return np.ones(self.distinct, bool)
        return self.matching(NUMBER)

    @cached_property
    def all_numbers(self) -> bool:
        """Whether every cell is a number, and there are cells."""
        if not self.distinct:
            return False
        return self.column.dtype.is_numeric() or self.all_match(NUMBER)

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The numbers that the distinct cells are, where all are."""
        if not self.all_numbers:
            return None
        return self.cells.cast(pl.Float64, strict=False).fill_null(np.inf).to_numpy()

    @cached_property
    def whole(self) -> bool:
        """Whether every cell is a whole number."""
        return bool(self.distinct) and self.all_match(INTEGER)

    def matching(self, pattern: str) -> NDArray[np.bool_]:
        """Return which distinct cells match a pattern."""
        return self.cells.str.contains(pattern).to_numpy()

    def all_match(self, pattern: str) -> bool:
        """Whether every cell matches a pattern; the first ones mostly tell."""
        first = self.cells.head(FIRST).str.contains(pattern).all()
        return bool(first) and bool(self.matching(pattern).all())

    def mostly(self, pattern: str) -> bool:
        """Whether at least half of the cells match a pattern; a sample rules most columns out.

        Rows are drawn at random, so a cell that stands there often is drawn often: that less than a
        quarter of the sample matches where half of the rows do has a chance of 10^-100.
        """
        if self.distinct > 2 * SAMPLE:
            rows = draw(self.filled, SAMPLE).places
            picked = np.searchsorted(np.cumsum(self.counts), rows, side="right")
            matched = self.cells.gather(picked).str.contains(pattern)
            if 4 * int(matched.sum()) < SAMPLE:
                return False
        return 2 * self.count(self.matching(pattern)) >= self.filled

    def count(self, which: NDArray[np.bool_]) -> int:
        """Return how many cells are among some distinct ones."""
        return int(self.counts[which].sum())

    def first_row(self, which: NDArray[np.bool_]) -> int:
        """Return the first data row, counted from 1, with a cell among some distinct ones."""
        wanted = self.cells.filter(pl.Series(which))
        found = self.column.cast(pl.String).is_in(wanted.implode()).arg_max()
        return 1 + int(found or 0)

    def most_frequent(self, count: int) -> list[tuple[str, int]]:
        """Return the most frequent cells, with how often each stands there."""
        order = np.lexsort((self.cells.rank("ordinal").to_numpy(), -self.counts))[:count]
        return [(self.cells[int(place)], int(self.counts[place])) for place in order]

    def codes(self) -> NDArray[np.int64]:
        """Return for each row which distinct cell it has, -1 where it has none."""
        physical = self.column.cast(pl.String).cast(pl.Enum(self.cells)).to_physical()
        return physical.cast(pl.Int64).fill_null(-1).to_numpy()


def usable(column: pl.Series) -> str | None:
    """Return what is wrong with a column that can have no role at all, None for others."""
    try:
        check_type(column)
    except InputError:
        return f"it holds {column.dtype}: turn it into text, numbers or dates first"
    return None
