"""Which columns of a table tell one another: copies, renamings, and functions of each other.

Some rows, drawn at random, rule out nearly every pair; what is left is confirmed on all rows. So
whatever is said is so on all rows, and the sample can only hide something: copies, about one time
in 10,000, where their share of equal cells is just the one that counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.sampling import draw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.inspection.profile import Profile

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
        return f"{self.left!r} determines {self.right!r}: whoever knows it knows both."


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
