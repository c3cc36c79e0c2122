"""Intersection: two releases of overlapping tables, and people who are in both.

A person's candidate values in a release are those of the published rows that match the person. The
true value of whoever is in both releases is a candidate in both, so only values that are candidates
in both remain. A person is given away when one value remains and it is the person's own. One value
that is not the person's own misleads: the person is missing from a release, and others match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.sampling import Sample, drawn_from, within
from shoal.schema.coding import QUANTITY, code_column

if TYPE_CHECKING:
    from shoal.audit.covers import Cover

Three = tuple[float, float, float]  # of the first release, of the second, of both


@dataclass(frozen=True)
class Intersection:
    """What remains of candidate values when two releases are read together.

    `sample` are the people who were looked at, `matched` those of them whom rows of both releases
    match; means and shares are over these.
    """

    releases: tuple[str, str]
    column: str
    sample: Sample
    matched: Sample
    values: Three  # mean number of candidate values
    values_error: tuple[float | None, float | None, float | None]
    pinned: Three  # share with one value, their own
    misled: Three  # share with one value, not their own

    @property
    def people(self) -> int:
        """How many people were looked at."""
        return len(self.sample)

    @property
    def in_both(self) -> int:
        """How many of them rows of both releases match."""
        return len(self.matched)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by release and together, and a sentence."""
        first, second = self.releases
        errors = [self.matched.share_error(share) for share in self.pinned]
        said = [f"{p:.1%}{within(e)}" for p, e in zip(self.pinned, errors, strict=True)]
        return {
            "releases": list(self.releases),
            "column": self.column,
            "people": self.people,
            "people_in_all": self.sample.whole,
            "in_both": self.in_both,
            "mean_values": _named(self.values),
            "mean_values_error": _named(self.values_error),
            "pinned": _named(self.pinned),
            "pinned_error": _named(errors),
            "misled": _named(self.misled),
            "misled_error": _named([self.matched.share_error(share) for share in self.misled]),
            "sentence": (
                f"Of {self.in_both:,} people with candidates in {first} and {second}, each "
                f"alone gives away the {self.column} of {said[0]} and {said[1]}, both together "
                f"that of {said[2]}; {self.values[2]:.3g} values remain on average, of "
                f"{self.values[0]:.3g} and {self.values[1]:.3g}."
                f"{self._misleading}{drawn_from(self.sample, 'people')}"
            ),
        }

    @property
    def _misleading(self) -> str:
        if not self.misled[2]:
            return ""
        share = f"{self.misled[2]:.1%}{within(self.matched.share_error(self.misled[2]))}"
        return f" For {share}, the one value that remains is not theirs."


def _named(three: Any) -> dict[str, Any]:
    return dict(zip(("first", "second", "both"), three, strict=True))


def intersect(
    first: Cover, second: Cover, original: pl.DataFrame, name: str, sample: Sample
) -> Intersection:
    """Intersect the candidate values of some people of the original."""
    releases = first.published, second.published
    numeric = all(one.sensitive(name).numeric for one in releases)
    texts = [table[name].cast(pl.String) for table in (original, *(r.table for r in releases))]
    column = code_column(
        pl.concat([text.alias(name) for text in texts]), kind=QUANTITY if numeric else "categorical"
    )
    ends = np.cumsum([len(text) for text in texts])[:-1]
    own, *carried = np.split(column.codes, ends)
    counts = np.zeros((len(sample), 3), np.int64)
    right = np.zeros((len(sample), 3), bool)
    marks = np.zeros((3, column.distinct), bool)
    for place, person in enumerate(sample.places.tolist()):
        marks[:] = False
        for mark, cover, codes in zip(marks, (first, second), carried, strict=False):
            mark[codes[cover.candidates(person)]] = True
        np.logical_and(marks[0], marks[1], out=marks[2])
        counts[place] = marks.sum(axis=1)
        right[place] = marks[:, own[person]]
    in_both = (counts[:, 0] > 0) & (counts[:, 1] > 0)
    counts, right = counts[in_both], right[in_both]
    matched = sample.only(in_both)
    return Intersection(
        (releases[0].name, releases[1].name),
        name,
        sample,
        matched,
        _means(counts),
        tuple(matched.mean_error(counts[:, which]) for which in range(3)),  # type: ignore[arg-type]
        _means((counts == 1) & right),
        _means((counts == 1) & ~right),
    )


def _means(rows: Any) -> Three:
    """Return the means of three columns, 0 where there are no rows."""
    first, second, both = rows.mean(axis=0) if len(rows) else (0, 0, 0)
    return float(first), float(second), float(both)
