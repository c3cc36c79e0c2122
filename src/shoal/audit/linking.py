"""Linking: guessing the sensitive value of people whose quasi values are known.

The attacker has the quasi values of everybody in the original table, takes the published rows that
match a person for equally likely, and guesses where most of their values lie: for numbers, the
window of width 2ε with the most candidates, whose middle is within ε of all of them; for labels,
the most frequent one. Whoever sees no release but knows how values are distributed guesses the
best window of the whole table: what the prior alone gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.notation import exact
from shoal.relations.bands import band_of_column
from shoal.sampling import Sample, drawn_from, within
from shoal.schema.coding import QUANTITY, Column, code_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.audit.covers import Cover


@dataclass(frozen=True)
class Link:
    """How often the best guess was right, against the guess from the prior alone.

    `people` are those whom guesses were made about, of `people_in_all`; where they are a sample,
    `hits` and `candidates` may be off by their errors. The prior is that of all people.
    """

    release: str
    column: str
    epsilon: float
    sample: Sample
    unmatched: int
    candidates: float
    candidates_error: float | None
    hits: float
    prior: float

    @property
    def people(self) -> int:
        """How many people guesses were made about."""
        return len(self.sample)

    @property
    def error(self) -> float | None:
        """How far off the rate of hits may be, at 95 % confidence; None where all were guessed."""
        return self.sample.share_error(self.hits)

    def to_dict(self) -> dict[str, Any]:
        """Return the rates, their difference, and a sentence."""
        near = "exactly" if self.epsilon == 0 else f"to within {self.epsilon:,g}"
        return {
            "release": self.release,
            "column": self.column,
            "epsilon": self.epsilon,
            "people": self.people,
            "people_in_all": self.sample.whole,
            "unmatched": self.unmatched,
            "mean_candidates": self.candidates,
            "mean_candidates_error": self.candidates_error,
            "hits": self.hits,
            "error": self.error,
            "prior": self.prior,
            "gain": self.hits - self.prior,
            "sentence": (
                f"Whoever knows the quasi values of people in {self.release} guesses their "
                f"{self.column} {near} for {self.hits:.1%}{within(self.error)} of them; without "
                f"the release, for {self.prior:.1%}.{drawn_from(self.sample, 'people')}"
            ),
        }


def code_both(known: pl.Series, carried: pl.Series, *, numeric: bool) -> tuple[Column, int]:
    """Code the values of the original and of a release alike; the original's stand first."""
    texts = pl.concat([known.cast(pl.String), carried.cast(pl.String).alias(known.name)])
    return code_column(texts, kind=QUANTITY if numeric else "categorical"), len(known)


def windows(column: Column, epsilon: float) -> NDArray[np.int64]:
    """Return the last code of the window of width 2ε that begins at each code."""
    if not column.numeric:
        return np.arange(column.distinct)
    return band_of_column(column, exact(0), 2 * exact(epsilon)).last.astype(np.int64)


def best_window(codes: NDArray, last: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last code of the window that holds the most of some codes."""
    sums = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(last)))])
    first = int(np.argmax(sums[last + 1] - sums[:-1]))
    return first, int(last[first])


def link(
    cover: Cover, original: pl.DataFrame, name: str, epsilons: Sequence[float], sample: Sample
) -> list[Link]:
    """Guess the value of some people of the original from one release, to within each ε.

    Nobody to match is a miss: about a person whose row was left out, the release says nothing.
    """
    published = cover.published
    numeric = published.sensitive(name).numeric
    column, count = code_both(original[name], published.table[name], numeric=numeric)
    own, carried = column.codes[:count], column.codes[count:]
    lasts = [windows(column, epsilon) for epsilon in epsilons]
    hits = np.zeros(len(epsilons), np.int64)
    candidates = np.zeros(len(sample), np.int64)
    for place, person in enumerate(sample.places.tolist()):
        values = carried[cover.candidates(person)]
        candidates[place] = len(values)
        if len(values):
            hits += [_within(best_window(values, last), own[person]) for last in lasts]
    return [
        Link(
            published.name,
            name,
            epsilon,
            sample,
            int(np.count_nonzero(candidates == 0)),
            float(candidates.mean()),
            sample.mean_error(candidates),
            int(hit) / len(sample),
            float(np.mean(_within(best_window(own, last), own))),
        )
        for epsilon, hit, last in zip(epsilons, hits, lasts, strict=True)
    ]


def _within(window: tuple[int, int], codes: Any) -> Any:
    """Return whether codes lie in a window."""
    return (window[0] <= codes) & (codes <= window[1])
