"""Whom a report counts: rows, or with a person column people, before and after publication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.identification import release_groups
from shoal.principles.groups import Groups
from shoal.release.layout import row_counts
from shoal.table.people import CodedPeople

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.release.release import ReleaseData
    from shoal.table.coded import Coded


@dataclass(frozen=True, eq=False)
class Counted:
    """The members of a release, and whom each of them could be taken for.

    `before` are those alike if the quasi columns were published as they were, `after` those of one
    published group, None where there are no groups. How many rows a person has may be known.
    """

    coded: Coded
    before: Groups
    after: Groups | None


def members(release: ReleaseData) -> Counted:
    """Return the members of a release."""
    coded, after = release.coded, release_groups(release)
    before = unprotected(coded)
    if coded.people is None or after is None:
        return Counted(coded, before, after)
    people = CodedPeople.of(coded)
    first = np.unique(coded.people, return_index=True)[1]
    counts = row_counts(coded)
    labels = after.labels[first]
    if coded.rows_known:
        labels = labels * len(counts) + counts.labels
    described = descriptions(before.labels, coded.people)
    before = Groups.of(described.labels * len(counts) + counts.labels)
    return Counted(people, before, Groups.of(labels))


def unprotected(coded: Coded) -> Groups:
    """Return the groups a reader would see if the quasi columns were published as they are."""
    return Groups.alike(len(coded), ((column.codes, column.distinct) for column in coded.quasi))


def descriptions(marks: NDArray[np.int64], people: NDArray[np.int64]) -> Groups:
    """Return the people whose rows have equal marks, all together."""
    rows = pl.DataFrame({"person": people, "mark": marks}).sort("person", "mark")
    texts = rows.group_by("person", maintain_order=True).agg(
        pl.col("mark").cast(pl.String).str.join(" ")
    )["mark"]
    return Groups.of(texts.rank("dense").to_numpy().astype(np.int64))
