"""What a release shows of a generalized column to a reader who knows a person's other ones.

The reader knows all quasi values of a person but one column's. The published rows whose other cells
cover what is known fit the person; the reader considers each of them equally likely. A row shows
the person's value where its cell in the column is that value alone: an interval, a set or a node
that covers more says only what the value is among.

    certain : every row that fits shows the person's value
    likely  : more than half of the rows that fit show it

A person with several rows counts where the reader, who knows the others of one of them, learns it.
Both need the original table, so they are for its owner. A row that fits in all columns but one fits
a reader who does not know that one; so one walk over the descriptions counts for all columns, but
for the column by which the people stand in order, which takes a second walk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.controlled import as_known
from shoal.audit.covers import UNKNOWN, CellCover
from shoal.audit.published import as_read
from shoal.exact import percent
from shoal.sampling import draw, drawn_from, within
from shoal.table.coded import persons_of
from shoal.table.forms import TWO_TABLES
from shoal.table.missing import MISSING_LABEL
from shoal.table.partition import Everyone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.audit.published import Published
    from shoal.release.recoding import ReleaseData
    from shoal.sampling import Sample
    from shoal.table.partition import PersonOf

LEAST = 2000  # people who are looked at, where there are as many
COMPARED = 5 * 10**8  # people times descriptions up to which everybody is


@dataclass(frozen=True, eq=False)
class Inference:
    """For how many people of the sample a generalized column can be told from their other ones.

    `usual` is the share of all people who have the most frequent value: how often a reader without
    the release is right.
    """

    release: str
    column: str
    sample: Sample
    certain: int
    likely: int
    usual: float
    several: bool = False  # rows of one person

    def to_dict(self) -> dict[str, Any]:
        """Return the shares of people with their errors, and a sentence."""
        certain, likely = (count / len(self.sample) for count in (self.certain, self.likely))
        errors = [self.sample.share_error(share) for share in (certain, likely)]
        others = "a person's other quasi-identifiers"
        if self.several:
            others = "the other quasi-identifiers of one of a person's rows"
        return {
            "release": self.release,
            "column": self.column,
            "people": len(self.sample),
            "people_in_all": self.sample.whole,
            "certain": certain,
            "certain_error": errors[0],
            "likely": likely,
            "likely_error": errors[1],
            "usual": self.usual,
            "sentence": (
                f"A reader of {self.release} who knows {others} learns {self.column} with "
                f"certainty for {percent(certain, 1)}{within(errors[0])} of people, and with a "
                f"chance above 1 in 2 for {percent(likely, 1)}{within(errors[1])}. Without the "
                f"release, the most frequent value is right for {percent(self.usual, 1)}."
                f"{drawn_from(self.sample, 'people')}"
            ),
            "drawn": drawn_from(self.sample, "people"),
        }


def infer_everybody(
    published: Published, people: pl.DataFrame, seed: int | None, person: str | None = None
) -> tuple[Inference, ...]:
    """Count for every generalized column, also of people whose sensitive values are missing."""
    rows = people.drop_nulls([] if person is None else person)
    whom = None if person is None else persons_of(rows, person)
    return infer_columns(CellCover(published, as_known(rows, published.schema)), seed, whom)


def infer_columns(
    cover: CellCover, seed: int | None = None, whom: PersonOf | None = None
) -> tuple[Inference, ...]:
    """Count for every generalized column the people of whom it can be told.

    `whom` says whose rows they are, where people may have several. Where people and descriptions
    are very many, some people are drawn at random.
    """
    published = cover.published
    if published.form == TWO_TABLES:  # there everybody's quasi values are published
        return ()
    whom = Everyone(len(cover.columns[0].values)) if whom is None else whom
    sample = draw(len(whom), max(LEAST, COMPARED // len(cover.rows)), seed)
    rows, whose = whom.rows_of(sample.places)
    known, kind = np.unique(
        np.stack([column.values[rows] for column in cover.columns]), axis=1, return_inverse=True
    )
    fitting, showing = _count(cover, known)
    found = []
    for place, name in enumerate(published.schema.quasi):
        values = cover.columns[place].values
        usual = np.bincount(values[values != UNKNOWN], minlength=1).max() / len(values)
        certain = (showing[place] > 0) & (showing[place] == fitting[place])
        likely = 2 * showing[place] > fitting[place]
        sure, half = (len(np.unique(whose[one[kind.ravel()]])) for one in (certain, likely))
        found.append(Inference(published.name, name, sample, sure, half, float(usual), whom.given))
    return tuple(found)


def infer_from(release: ReleaseData) -> tuple[Inference, ...]:
    """Count the same for a release that its owner holds in memory with the rows it was made of."""
    owned = release.schema.hierarchies
    published = replace(as_read(release), name="the release", hierarchies=owned)
    people = pl.DataFrame(
        {
            one.name: one.spellings.gather(one.codes).replace(MISSING_LABEL, None)
            for one in release.coded.quasi
        }
    )
    return infer_columns(CellCover(published, people), whom=release.coded.person_of)


def _count(
    cover: CellCover, known: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the rows that fit people and those that show a value, for each column not known.

    `known` has a row for each column and a column for each person.
    """
    fitting, showing = np.zeros((2, *known.shape), np.int64)
    first, *others = sorted(range(len(cover.columns)), key=cover.mean_run)
    for lead, targets in ((first, others), (others[0] if others else None, [first])):
        order = np.arange(known.shape[1]) if lead is None else np.argsort(known[lead])
        found = _walk(cover, known[:, order], lead, targets)
        for target in targets:
            fitting[target, order], showing[target, order] = found[:, target]
    return fitting, showing


def _walk(
    cover: CellCover, known: NDArray[np.int32], lead: int | None, targets: Sequence[int]
) -> NDArray[np.int64]:
    """Add the rows of every description to those whom it fits in all columns but a target.

    People stand in the order of the leading column, which a description has to cover.
    """
    found = np.zeros((2, *known.shape), np.int64)
    for group, size in enumerate(cover.published.by_cells.sizes.tolist()):
        cells = [int(cells[group]) for cells in cover.cells]
        run = slice(0, known.shape[1])
        if lead is not None:
            run = cover.columns[lead].run(cells[lead], known[lead])
        inside = np.stack(
            [
                column.covers(cell, own[run])
                for column, cell, own in zip(cover.columns, cells, known, strict=True)
            ]
        )
        missed = len(cells) - inside.sum(axis=0)
        for target in targets:
            found[0, target, run] += size * (missed == ~inside[target])
            if cover.columns[target].alone[cells[target]]:
                shown = (missed == 0) & (known[target, run] != UNKNOWN)
                found[1, target, run] += size * shown
    return found
