"""Linking people whose quasi values are known to a release.

The attacker has the quasi values of everybody in the original table, takes the published rows that
match a person for equally likely, and guesses where most of their values lie: for numbers, the
window of width 2ε with the most candidates, whose middle is within ε of all of them; for labels,
the most frequent one. Or the attacker guesses a value that is listed: the one with the most
candidates within ε. A requirement bounds both where the group is known (`guessing`); here several
groups may match. Whoever sees no release but knows how values are distributed guesses the best
window of the whole table: what the prior alone gives.

People with several rows each are linked by what their rows say, and by how many there are. The
attacker has all rows of everybody in the original. A person of the release with c rows may be the
one who is looked for where the description of c rows, or more, of the one in question fits: as many
were published. Fewer may have been published than there are, so of all who fit those with the most
rows are the candidates; all are taken for equally likely. The guess is the window of width 2ε in
which the most candidates have a value, each counted once, and it is right where the person has a
value there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.guessing import how_near
from shoal.distances.counting import band_of_column
from shoal.exact import percent
from shoal.notation import exact
from shoal.sampling import Sample, drawn_from, within
from shoal.table.coding import QUANTITY, code_lenient

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover
    from shoal.table.column import Column
    from shoal.table.partition import PersonOf

NAMED = 4  # columns at most that a sentence names


@dataclass(frozen=True)
class Link:
    """How often the best guess was right, against the guess from the prior alone.

    `people` are those whom guesses were made about, of `people_in_all`; where they are a sample,
    `hits` and `candidates` may be off by their errors. The prior is that of all people. `listed`
    is how often the best value that is listed was right, and `several` the share of people whom
    several groups match; None where people have several rows.
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
    knowing: str
    listed: float | None = None
    several: float | None = None

    @property
    def people(self) -> int:
        """How many people guesses were made about."""
        return len(self.sample)

    @property
    def error(self) -> float | None:
        """How far off the rate of hits may be, at 95% confidence; None where all were guessed."""
        return self.sample.share_error(self.hits)

    def to_dict(self) -> dict[str, Any]:
        """Return the rates, their difference, and a sentence."""
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
            "listed": self.listed,
            "listed_error": None if self.listed is None else self.sample.share_error(self.listed),
            "several": self.several,
            "prior": self.prior,
            "gain": self.hits - self.prior,
            "sentence": self._sentence(),
            "drawn": drawn_from(self.sample, "people"),
        }

    def _sentence(self) -> str:
        hits = f"{percent(self.hits, 1)}{within(self.error)}"
        said = (
            f"An attacker who knows {self.knowing} guesses {self.column} in {self.release} "
            f"{how_near(self.epsilon)} for "
        )
        if self.listed is None or not self.epsilon:
            said += f"{hits} of them"
        else:
            listed = f"{percent(self.listed, 1)}{within(self.sample.share_error(self.listed))}"
            said += f"{listed} of them by the best listed value, and for {hits} by the best number"
        said += f"; without the release, for {percent(self.prior, 1)}."
        if self.several:
            said += (
                f" For {percent(self.several, 1)} of them, several groups match, so the attacker "
                "does not know which one is theirs."
            )
        return f"{said}{drawn_from(self.sample, 'people')}"


def known_of_people(names: Sequence[str]) -> str:
    """Say which columns an attacker knows of people, the first few by name.

    Examples
    --------
    >>> known_of_people(["age"]), known_of_people(["age", "sex", "zip"])
    ('the age of people', 'the age, sex and zip of people')
    >>> known_of_people(["a", "b", "c", "d", "e", "f"])
    'the a, b, c and 3 more columns of people'
    """
    shown = [*names]
    if len(shown) > NAMED:
        shown[NAMED - 1 :] = [f"{len(names) - NAMED + 1} more columns"]
    *others, last = shown
    return f"the {', '.join(others)} and {last} of people" if others else f"the {last} of people"


def code_both(known: pl.Series, carried: pl.Series, *, numeric: bool) -> tuple[Column, int]:
    """Code the values of the original and of a release alike; the original's stand first."""
    texts = pl.concat([known.cast(pl.String), carried.cast(pl.String).alias(known.name)])
    return code_lenient(texts, kind=QUANTITY if numeric else "categorical"), len(known)


def windows(column: Column, epsilon: float) -> NDArray[np.int64]:
    """Return the last code of the window of width 2ε that begins at each code."""
    if not column.numeric:
        return np.arange(column.distinct)
    return band_of_column(column, exact(0), 2 * exact(epsilon)).last.astype(np.int64)


def best_listed(codes: NDArray, first: NDArray, last: NDArray) -> tuple[int, int]:
    """Return the first and last code near to the one, among some codes, that most are near to."""
    counts = np.bincount(codes, minlength=len(last))
    sums = np.concatenate([[0], np.cumsum(counts)])
    best = int(np.argmax(np.where(counts > 0, sums[last + 1] - sums[first], 0)))
    return int(first[best]), int(last[best])


def best_window(codes: NDArray, last: NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last code of the window that holds the most of some codes."""
    sums = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(last)))])
    first = int(np.argmax(sums[last + 1] - sums[:-1]))
    return first, int(last[first])


def link(
    cover: CellCover, original: pl.DataFrame, name: str, epsilons: Sequence[float], sample: Sample
) -> list[Link]:
    """Guess the value of some people of the original from one release, to within each ε.

    Nobody to match is a miss: about a person whose row was left out, the release says nothing.
    """
    published = cover.published
    numeric = published.sensitive(name).numeric
    column, count = code_both(original[name], published.table[name], numeric=numeric)
    own, carried = column.codes[:count], column.codes[count:]
    lasts = [windows(column, epsilon) for epsilon in epsilons]
    bands = [_band(column, epsilon) for epsilon in epsilons]
    hits, listed = np.zeros((2, len(epsilons)), np.int64)
    candidates = np.zeros(len(sample), np.int64)
    several, groups = 0, published.groups.labels
    for place, person in enumerate(sample.places.tolist()):
        matching = cover.matching(person)
        rows = matching[published.by_cells.labels]
        several += int(np.ptp(groups[rows]) > 0) if rows.any() else 0  # of groups, not of cells
        values = carried[rows]
        candidates[place] = len(values)
        if len(values):
            hits += [_within(best_window(values, last), own[person]) for last in lasts]
            listed += [_within(best_listed(values, *band), own[person]) for band in bands]
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
            known_of_people(published.schema.quasi),
            int(right) / len(sample),
            None if published.heterogeneous else several / len(sample),
        )
        for epsilon, hit, right, last in zip(epsilons, hits, listed, lasts, strict=True)
    ]


def _band(column: Column, epsilon: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last code within ε of each; labels are near where they are equal."""
    if not column.numeric:
        return np.arange(column.distinct), np.arange(column.distinct)
    band = band_of_column(column, exact(epsilon), exact(epsilon))
    return band.first.astype(np.int64), band.last.astype(np.int64)


def _within(window: tuple[int, int], codes: Any) -> Any:
    """Return whether codes lie in a window."""
    return (window[0] <= codes) & (codes <= window[1])


@dataclass(frozen=True, eq=False)
class Candidates:
    """Who of a release may be whom of the original."""

    cover: CellCover
    whom: PersonOf  # of the original
    there: PersonOf  # of the release

    @cached_property
    def description(self) -> NDArray[np.int64]:
        """The description of each person of the release."""
        return self.there.of_part(self.cover.published.by_cells.labels)

    def find(self, person: int) -> NDArray[np.int64]:
        """Return the people of the release who may be this one."""
        rows, counts = self.whom.rows(person), self.there.sizes
        cells = np.stack([column.values[rows] for column in self.cover.columns])
        _, first, times = np.unique(cells, axis=1, return_index=True, return_counts=True)
        fitting = np.zeros(len(self.cover.rows), np.int64)
        for row, count in zip(rows[first].tolist(), times.tolist(), strict=True):
            fitting += self.cover.matching(row) * count
        found = np.flatnonzero(fitting[self.description] >= counts)
        return found[counts[found] == counts[found].max()] if len(found) else found


def link_people(
    candidates: Candidates,
    original: pl.DataFrame,
    name: str,
    epsilons: Sequence[float],
    sample: Sample,
) -> list[Link]:
    """Guess a value of some people of the original from one release, to within each ε.

    Nobody to match is a miss.
    """
    release = candidates.cover.published
    numeric = release.sensitive(name).numeric
    column, count = code_both(original[name], release.table[name], numeric=numeric)
    own = column.codes[:count]
    whom = candidates.whom.labels
    lasts = [windows(column, epsilon) for epsilon in epsilons]
    found, right = guess_people(candidates, column.codes, count, lasts, sample.places)
    hits = right.sum(axis=0)
    priors = []
    for last in lasts:
        low, high = _fullest(own, whom, last)
        inside = (low <= own) & (own <= high)
        priors.append(len(np.unique(whom[inside])) / len(candidates.whom))
    return [
        Link(
            release.name,
            name,
            epsilon,
            sample,
            int(np.count_nonzero(found == 0)),
            float(found.mean()),
            sample.mean_error(found),
            int(hit) / len(sample),
            prior,
            f"{known_of_people(release.schema.quasi)}, and how many rows each person has,",
        )
        for epsilon, hit, prior in zip(epsilons, hits, priors, strict=True)
    ]


def guess_people(
    candidates: Candidates,
    codes: NDArray[np.int32],
    count: int,
    lasts: Sequence[NDArray[np.int64]],
    people: NDArray[np.int64],
    *,
    otherwise: bool = False,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Guess a value of some people, and return how many may be each, and which guesses are right.

    `codes` are those of the original, `count` of them, and then those of the release; `lasts` are
    the windows of each width. Of somebody whom nothing matches the guess is wrong, or `otherwise`
    the best one of the whole release.
    """
    own, carried, there = codes[:count], codes[count:], candidates.there
    usual = [_fullest(carried, there.labels, last) for last in lasts] if otherwise else None
    found = np.zeros(len(people), np.int64)
    right = np.zeros((len(people), len(lasts)), bool)
    for place, person in enumerate(people.tolist()):
        some = candidates.find(person)
        found[place] = len(some)
        mine = own[candidates.whom.rows(person)]
        if len(some):
            rows, members = there.rows_of(some)
            guesses = [_fullest(carried[rows], members, last) for last in lasts]
        elif usual is not None:
            guesses = usual
        else:
            continue
        right[place] = [_within(guess, mine).any() for guess in guesses]
    return found, right


def _fullest(
    codes: NDArray[np.int32], members: NDArray[np.int64], last: NDArray[np.int64]
) -> tuple[int, int]:
    """Return the first and last code of the window in which the most members have a value."""
    from shoal.kernels.windows import fullest_window

    order = np.argsort(codes, kind="stable")
    inside = np.zeros(int(members.max()) + 1, np.int64)
    sorted_codes = np.ascontiguousarray(codes[order], np.int32)
    first = fullest_window(sorted_codes, members[order].astype(np.int32), last, inside)
    return int(first), int(last[first])
