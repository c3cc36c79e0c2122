"""Linking people who have several rows each: by what their rows say, and by how many there are.

The attacker has all rows of everybody in the original. A person of the release with c rows may be
the one who is looked for where the description of c rows, or more, of the one in question fits: as
many were published. Fewer may have been published than there are, so of all who fit those with the
most rows are the candidates; all are taken for equally likely. The guess is the window of width 2ε
in which the most candidates have a value, each counted once, and it is right where the person has a
value there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.linking import Link, code_both, windows
from shoal.table.people import by_person

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.covers import CellCover
    from shoal.sampling import Sample

KNOWING = "the quasi values of people, and how many rows each has,"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Who of a release may be whom of the original."""

    cover: CellCover
    order: NDArray[np.int64]  # rows of the original by person
    starts: NDArray[np.int64]
    description: NDArray[np.int64]  # of each person of the release
    rows: NDArray[np.int64]  # how many each has there

    @classmethod
    def of(
        cls, cover: CellCover, whom: NDArray[np.int64], published: NDArray[np.int64]
    ) -> Candidates:
        """Lay out both sides by person."""
        order, starts = by_person(published)
        return cls(
            cover,
            *by_person(whom),
            cover.published.by_cells.labels[order[starts[:-1]]],
            np.diff(starts),
        )

    def own(self, person: int) -> NDArray[np.int64]:
        """Return the rows of a person of the original."""
        return self.order[self.starts[person] : self.starts[person + 1]]

    def find(self, person: int) -> NDArray[np.int64]:
        """Return the people of the release who may be this one."""
        rows = self.own(person)
        cells = np.stack([column.values[rows] for column in self.cover.columns])
        _, first, times = np.unique(cells, axis=1, return_index=True, return_counts=True)
        fitting = np.zeros(len(self.cover.rows), np.int64)
        for row, count in zip(rows[first].tolist(), times.tolist(), strict=True):
            fitting += self.cover.matching(row) * count
        found = np.flatnonzero(fitting[self.description] >= self.rows)
        return found[self.rows[found] == self.rows[found].max()] if len(found) else found


def link_people(
    candidates: Candidates,
    original: pl.DataFrame,
    published: NDArray[np.int64],
    name: str,
    epsilons: Sequence[float],
    sample: Sample,
) -> list[Link]:
    """Guess a value of some people of the original from one release, to within each ε.

    `published` has the person of each row of the release. Nobody to match is a miss.
    """
    release = candidates.cover.published
    numeric = release.sensitive(name).numeric
    column, count = code_both(original[name], release.table[name], numeric=numeric)
    own, carried = column.codes[:count], column.codes[count:]
    everybody = len(candidates.starts) - 1
    whom = np.empty(count, np.int64)
    whom[candidates.order] = np.repeat(np.arange(everybody), np.diff(candidates.starts))
    lasts = [windows(column, epsilon) for epsilon in epsilons]
    order, starts = by_person(published)
    hits = np.zeros(len(epsilons), np.int64)
    found = np.zeros(len(sample), np.int64)
    for place, person in enumerate(sample.places.tolist()):
        some = candidates.find(person)
        found[place] = len(some)
        if not len(some):
            continue
        counts = np.diff(starts)[some]
        rows = order[
            np.repeat(starts[some] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        ]
        members = np.repeat(np.arange(len(some)), counts)
        mine = own[candidates.own(person)]
        for width, last in enumerate(lasts):
            low, high = _fullest(carried[rows], members, last)
            hits[width] += bool(((low <= mine) & (mine <= high)).any())
    priors = []
    for last in lasts:
        low, high = _fullest(own, whom, last)
        inside = (low <= own) & (own <= high)
        priors.append(len(np.unique(whom[inside])) / everybody)
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
            KNOWING,
        )
        for epsilon, hit, prior in zip(epsilons, hits, priors, strict=True)
    ]


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
