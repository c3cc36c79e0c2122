"""The verdict: what may be said of a release in one word, from its files and its manifest alone.

`does-not-hold` where a requirement does not; else `holds-with-open-questions` where a reader who
also knows the exposed columns finds more than TOLERATED of the people with a higher chance than is
acceptable, or learns more about a protected column than a requirement allows; else `holds`. A
column of which the owner states that nobody knows it is measured, and opens no question.

About a protected column a reader learns more than is allowed where a requirement breaks among
people with equal quasi cells and equally spelled exposed cells. It is measured there as in groups.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import cell_codes
from shoal.audit.exposed import Everybody, ShownRows, Tally, tally, tally_apart
from shoal.audit.identification import threshold_of
from shoal.exact import upward
from shoal.principles.groups import Groups
from shoal.release.manifest import VERDICTS
from shoal.release.stated import (
    StatedAbove,
    StatedChances,
    StatedExposed,
    StatedInference,
    StatedLearning,
)
from shoal.table.partition import Everyone
from shoal.table.schema import NOBODY, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.audit.people import Members
    from shoal.audit.published import Published
    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.table.schema import Schema
    from shoal.table.sensitive import Sensitive

    Valued = tuple[Requirement, Sensitive | None, str | None]  # with the linked table of the value

HOLDS, OPEN, BROKEN = VERDICTS
TOLERATED = Fraction(1, 20)  # of people, who may be found with a higher chance


def exposed_columns(manifest: Manifest, asked: Iterable[Requirement]) -> dict[str, bool]:
    """Return the columns that a release publishes unchanged and that nothing asked is about.

    With each stands whether it is stated that nobody knows it. A survey weight is its group's. What
    is asked and limits nothing, for example l = 1, protects no column.
    """
    about = {name for one in asked if one.binds for name in one.columns}
    return {
        one.name: one.said == NOBODY
        for one in manifest.every_column
        if one.role in {"sensitive", "other"} and one.name not in about and not one.survey_weight
    }


@dataclass(frozen=True, eq=False)
class Exposed:
    """The exposed columns of a release, and what was counted of them, None where nothing was.

    `said` has every one, and whether it is stated that nobody knows it. `threshold` is the chance
    of being found that is held for acceptable. `secret` are those that are sensitive. `loss` is the
    information lost, as the release states it.
    """

    said: Mapping[str, bool]
    threshold: Fraction
    tally: Tally | None = None
    secret: frozenset[str] = frozenset()
    loss: float | None = None

    @classmethod
    def of(cls, manifest: Manifest, asked: Iterable[Requirement]) -> Exposed:
        """Find the exposed columns of a release, of which nothing is counted yet."""
        said = exposed_columns(manifest, asked)
        secret = frozenset(c.name for c in manifest.every_column if c.role == "sensitive")
        open_to = secret.intersection(said)
        return cls(said, threshold_of(manifest.threshold), None, open_to, manifest.loss.gcp)

    def counted(self, tally: Tally) -> Exposed:
        """Return what was counted of the columns; those that no table has are none of them."""
        said = {name: nobody for name, nobody in self.said.items() if name in tally.columns}
        return replace(self, said=said, tally=tally)

    @property
    def above(self) -> Fraction:
        """The share of people who are found with a higher chance than is acceptable."""
        if self.tally is None:
            return Fraction(0)
        limit = max(self.threshold, Fraction(1, self.tally.fewest))
        people = sum(n for c, n in self.tally.candidates.items() if Fraction(1, c) > limit)
        return Fraction(people, self.tally.people)

    def verdict(self, *, holds: bool) -> str:
        """Return the verdict, where everything that is required holds or does not."""
        if not holds:
            return BROKEN
        if self.tally is None:  # what was not measured is an open question
            return HOLDS if all(self.said.values()) else OPEN
        return OPEN if self.above > TOLERATED or any(self.tally.learned.values()) else HOLDS

    @property
    def refused(self) -> list[str]:
        """The columns that name people, of which nobody states that no reader knows them."""
        if self.tally is None:
            return []
        return [
            name
            for name, one in self.tally.columns.items()
            if not self.said[name]
            and one.names_people(self.tally.people, secret=name in self.secret)
        ]

    def stated(self) -> dict[str, Any]:
        """Return what a manifest says of it; chances and shares are rounded up, never down."""
        said = {name: NOBODY if nobody else None for name, nobody in self.said.items()}
        counted = self.tally
        if counted is None:
            exposed = [StatedExposed(name, None, one) for name, one in said.items()]
            return {"exposed": exposed, "found": None, "inferred": None, "learned": None}
        everybody = counted.people

        def share(people: int) -> float:
            return upward(Fraction(people, everybody))

        columns = counted.columns
        largest = upward(Fraction(1, min(counted.candidates)))
        return {
            "exposed": [StatedExposed(n, columns[n].alone, one) for n, one in said.items()],
            "found": StatedChances(
                upward(Fraction(1, counted.fewest)), StatedAbove(largest, upward(self.above))
            ),
            "inferred": {
                name: StatedInference(share(columns[name].certain), share(columns[name].likely))
                for name in self.said
            },
            "learned": [
                StatedLearning(name, share(people)) for name, people in counted.learned.items()
            ],
        }

    def untrue(self, manifest: Manifest, *, holds: bool) -> list[str]:
        """Return a sentence for everything that a manifest says otherwise."""
        wrong = [
            f"The manifest's {name!r} is not what the published files show."
            for name, found in self.stated().items()
            if getattr(manifest, name) != found
        ]
        verdict = self.verdict(holds=holds)
        if manifest.verdict != verdict:
            wrong.append(
                f"The manifest gives the verdict {manifest.verdict!r}, the published files "
                f"{verdict!r}."
            )
        return wrong


# From published tables


def look(
    exposed: Exposed,
    published: Published,
    members: Members,
    alike: Members,
    linked: Mapping[str, pl.DataFrame],
    valued: Sequence[Valued],
) -> Exposed:
    """Count what exposed columns show of people: `members` of groups, `alike` in quasi cells.

    `linked` are the rows of linked tables that are about somebody. `valued` are the requirements
    with their values.
    """
    table, schema, beside = published.table, published.schema, published.people
    groups = table[RESERVED]
    if alike.whom.given:
        groups = groups.gather(alike.whom.first)
    tables = (
        ShownRows(_values(table, schema, beside), schema, alike.whom),
        *(ShownRows(linked[name], schema.linked[name], alike.linked[name]) for name in linked),
    )
    crowd = _crowd(published, members, alike, tables)
    learned = _learned(exposed, crowd, valued, alike)
    return _counted(exposed, crowd, learned, groups, beside, schema)


def found_among(published: Published, members: Members, alike: Members) -> NDArray[np.int64]:
    """Count of each description the people who share it, by whom a reader is held off who looks.

    That is what `found` says by the quasi cells. In two tables they are those with equal values in
    the table of the people; in a series, those of the group who are real.
    """
    beside, manifest = published.people, published.manifest
    if beside is None and (manifest is None or not manifest.in_series):
        return alike.candidates.sizes
    if beside is None:
        crowd = _crowd(published, members, alike, ())
    else:
        by_group = Groups.alike(beside.height, [cell_codes(beside[RESERVED])])
        crowd = _of_people(beside, published.schema, by_group)
    hidden = crowd.by_cells.of_part(crowd.hidden)
    return np.maximum(crowd.by_cells.sizes - hidden, 1)


def _crowd(
    published: Published, members: Members, alike: Members, tables: tuple[ShownRows, ...]
) -> Everybody:
    """Return whom each person may be taken for, by its group and by the quasi cells."""
    by_group, real = members.candidates, _real(published.table)
    if alike.whom.given:
        by_group = Groups.of(alike.whom.of_part(members.whom.of_row(by_group.labels)))
        real = None if real is None else alike.whom.of_part(real)
    by_cells = alike.candidates if published.people is None else by_group
    return Everybody.of(by_group, by_cells, tables, real)


def _of_people(beside: pl.DataFrame, schema: Schema, by_group: Groups) -> Everybody:
    """Return the people of two tables."""
    quasi = (cell_codes(beside[name]) for name in schema.quasi)
    by_cells = Groups.alike(beside.height, quasi)
    tables = (ShownRows(beside, schema, Everyone(beside.height)),)
    return Everybody.of(by_group, by_cells, tables, _real(beside))


def _values(published: pl.DataFrame, schema: Schema, beside: pl.DataFrame | None) -> pl.DataFrame:
    """Return the table of exposed cells; where people stand apart, sensitive ones alone."""
    if beside is None:
        return published
    return published.select(name for name in published.columns if name in schema.sensitive)


def _real(table: pl.DataFrame) -> NDArray[np.int64] | None:
    """Return how many real people each row's group has, in a series."""
    if REAL not in table.columns:
        return None
    stated = table[REAL].cast(pl.String).cast(pl.Int64, strict=False).fill_null(1)
    return np.maximum(stated.to_numpy(), 1)


def _learned(
    exposed: Exposed, crowd: Everybody, valued: Sequence[Valued], alike: Members
) -> dict[str, int]:
    """Count for each requirement the people among whom it breaks for who knows exposed cells.

    Requirements are about groups, so it is counted within these: a reader who knows the group of a
    person is held off by no other group that looks the same.
    """
    known = crowd.known(exposed.said)
    found: dict[str, int] = {}
    if not known:
        return found
    classes = crowd.classes(crowd.by_group, known)
    for one, value, of in valued:
        if value is not None:
            measured = replace(alike, groups=classes).measure(one.principle, value, of)
            people = int(measured.sizes[measured.breaches].sum())
            found[repr(one)] = min(people, int(crowd.there.sum()))
    return found


def _counted(
    exposed: Exposed,
    crowd: Everybody,
    learned: Mapping[str, int],
    groups: pl.Series,
    beside: pl.DataFrame | None,
    schema: Schema,
) -> Exposed:
    """Count people; `groups` are the numbers of those of the crowd."""
    if beside is None:
        return exposed.counted(tally(crowd, exposed.said, learned))
    both = groups.cast(pl.String).append(beside[RESERVED].cast(pl.String))
    labels = Groups.alike(len(both), [cell_codes(both)]).labels
    people = _of_people(beside, schema, Groups(labels[len(groups) :]))
    counted = tally_apart(people, crowd, labels[: len(groups)], exposed.said, learned)
    return exposed.counted(counted)
