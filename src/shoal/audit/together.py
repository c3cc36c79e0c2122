"""Two releases and more, read together: what remains of candidates, and what differs.

Intersection: a person's candidate values in a release are those of the published rows that match
the person. The true value of a person is a candidate in every release that the person is in, so
only values that are candidates in all of them remain. A person is given away when one value remains
and it is the person's own. One value that is not the person's own misleads: the person is missing
from a release, and others match. Difference: where a group is published again
and rows have gone or come, these are the values of whoever left or joined, and one row alone is
the value of one person.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.exact import percent
from shoal.sampling import Sample, drawn_from, within
from shoal.table.coding import QUANTITY, code_lenient
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.audit.covers import CellCover
    from shoal.audit.published import Published


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
        said = [f"{percent(p, 1)}{within(e)}" for p, e in zip(self.pinned, errors, strict=True)]
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
                f"release alone reveals the {self.column} of {said[0]} and {said[1]}, both "
                f"together that of {said[2]}; {self.values[2]:.3g} values remain on average, of "
                f"{self.values[0]:.3g} and {self.values[1]:.3g}."
                f"{self._misleading}{drawn_from(self.sample, 'people')}"
            ),
            "drawn": drawn_from(self.sample, "people"),
        }

    @property
    def _misleading(self) -> str:
        if not self.misled[2]:
            return ""
        share = f"{percent(self.misled[2], 1)}{within(self.matched.share_error(self.misled[2]))}"
        return f" For {share}, the one value that remains is not theirs."


def _named(three: Any) -> dict[str, Any]:
    return dict(zip(("first", "second", "both"), three, strict=True))


def intersect(
    first: CellCover, second: CellCover, original: pl.DataFrame, name: str, sample: Sample
) -> Intersection:
    """Intersect the candidate values of some people of the original."""
    releases = first.published, second.published
    numeric = all(one.sensitive(name).numeric for one in releases)
    texts = [table[name].cast(pl.String) for table in (original, *(r.table for r in releases))]
    column = code_lenient(
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


@dataclass(frozen=True)
class Together:
    """What remains of candidate values when all releases are read together.

    `sample` are the people who were looked at, `matched` those of them whom rows of two releases
    match at least; means and shares are over these.
    """

    releases: tuple[str, ...]
    column: str
    sample: Sample
    matched: Sample
    values: float  # mean number of candidate values that remain
    pinned: float  # share with one value, their own
    misled: float  # share with one value, not their own

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, and a sentence."""
        error = self.matched.share_error(self.pinned)
        return {
            "releases": list(self.releases),
            "column": self.column,
            "people": len(self.sample),
            "people_in_all": self.sample.whole,
            "in_several": len(self.matched),
            "mean_values": self.values,
            "pinned": self.pinned,
            "pinned_error": error,
            "misled": self.misled,
            "sentence": (
                f"Of {len(self.matched):,} people with candidates in at least two of the "
                f"{len(self.releases)} releases, all together reveal the {self.column} of "
                f"{percent(self.pinned, 1)}{within(error)}; {self.values:.3g} values "
                f"remain on average."
                f"{drawn_from(self.sample, 'people')}"
            ),
            "drawn": drawn_from(self.sample, "people"),
        }


def intersect_all(
    covers: Sequence[CellCover], original: pl.DataFrame, name: str, sample: Sample
) -> Together:
    """Intersect the candidate values of some people over all releases that match them."""
    releases = [cover.published for cover in covers]
    numeric = all(one.sensitive(name).numeric for one in releases)
    texts = [table[name].cast(pl.String) for table in (original, *(r.table for r in releases))]
    column = code_lenient(
        pl.concat([text.alias(name) for text in texts]), kind=QUANTITY if numeric else "categorical"
    )
    own, *carried = np.split(column.codes, np.cumsum([len(text) for text in texts])[:-1])
    seen = np.zeros(len(sample), np.int64)
    left = np.zeros(len(sample), np.int64)
    right = np.zeros(len(sample), bool)
    for place, person in enumerate(sample.places.tolist()):
        found = [codes[c.candidates(person)] for c, codes in zip(covers, carried, strict=True)]
        matching = [np.unique(some) for some in found if len(some)]
        seen[place] = len(matching)
        if len(matching) > 1:
            shared = matching[0]
            for some in matching[1:]:
                shared = np.intersect1d(shared, some, assume_unique=True)
            left[place] = len(shared)
            right[place] = bool(np.isin(own[person], shared))
    several = seen > 1
    alone, right = left[several] == 1, right[several]
    return Together(
        tuple(one.name for one in releases),
        name,
        sample,
        sample.only(several),
        float(left[several].mean()) if several.any() else 0.0,
        float((alone & right).mean()) if several.any() else 0.0,
        float((alone & ~right).mean()) if several.any() else 0.0,
    )


@dataclass(frozen=True)
class Difference:
    """Groups that two releases share, and rows that only one of them has.

    `alone` counts the rows that went or came by themselves: whoever knows who left or joined knows
    whose they are.
    """

    releases: tuple[str, str]
    shared: int
    changed: int
    gone: int
    new: int
    alone: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, and a sentence."""
        first, second = self.releases
        told = ": if one person left or joined there, this reveals the value" if self.alone else ""
        return {
            "releases": list(self.releases),
            "shared_groups": self.shared,
            "changed_groups": self.changed,
            "rows_gone": self.gone,
            "rows_new": self.new,
            "rows_alone": self.alone,
            "sentence": (
                f"{self.shared:,} groups of {first} are in {second} again, {self.changed:,} of "
                f"them with other rows ({self.gone:,} went and {self.new:,} came, "
                f"{self.alone:,} of these alone in their group){told}."
            ),
        }


def differences(releases: Sequence[Published]) -> list[Difference]:
    """Compare every release with the one after it, where they share any group.

    A group is the same where its published cells are, and, in a series, its number.
    """
    grouped = [one for one in releases if not one.heterogeneous]
    found = (_difference(one, two) for one, two in pairwise(grouped))
    return [one for one in found if one.shared]


def _difference(first: Published, second: Published) -> Difference:
    series = all(REAL in one.table.columns for one in (first, second))
    counted = [_counts(one, series=series) for one in (first, second)]
    both = (
        counted[0]["key"].unique().to_frame().join(counted[1]["key"].unique().to_frame(), on="key")
    )
    rows = (
        counted[0]
        .join(counted[1], on=["key", "row"], how="full", coalesce=True, suffix="_after")
        .join(both, on="key", how="semi")
        .fill_null(0)
        .with_columns(more=pl.col("len_after").cast(pl.Int64) - pl.col("len").cast(pl.Int64))
        .group_by("key")
        .agg(
            gone=(-pl.col("more")).clip(0).sum(),
            new=pl.col("more").clip(0).sum(),
        )
    )
    alone = [int((rows[which] == 1).sum()) for which in ("gone", "new")]
    return Difference(
        (first.name, second.name),
        both.height,
        int(((rows["gone"] > 0) | (rows["new"] > 0)).sum()),
        int(rows["gone"].sum()),
        int(rows["new"].sum()),
        sum(alone),
    )


def _counts(one: Published, *, series: bool) -> pl.DataFrame:
    """Count the values of every group, by what a reader knows it by."""

    def texts(names: Sequence[str]) -> pl.Expr:
        return pl.struct(pl.col(names).cast(pl.String).fill_null(MISSING_LABEL))

    known_by = [*([RESERVED] if series else []), *one.schema.quasi]
    table = one.table.select(key=texts(known_by), row=texts(one.schema.sensitive))
    return table.group_by("key", "row").len()
