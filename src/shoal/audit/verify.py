"""The audit: groups are rebuilt from the published cells and every requirement is measured anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from shoal.audit.cells import check_rows
from shoal.audit.people import Members, rows_of_people
from shoal.audit.verdict import found_among, look
from shoal.errors import InputError
from shoal.exact import upward
from shoal.principles.foresight import check_odds
from shoal.principles.requirement import check_population, check_whose
from shoal.progress import Brief, Shown
from shoal.release.stated import StatedRisk
from shoal.table.coded import persons_of
from shoal.table.coding import code_lenient, quantity
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.matches import CandidateRisk
    from shoal.audit.presence import Matched
    from shoal.audit.published import Published
    from shoal.audit.verdict import Exposed, Valued
    from shoal.principles.groups import Groups, Measurement
    from shoal.principles.requirement import Requirement
    from shoal.release.manifest import Manifest
    from shoal.table.column import Column
    from shoal.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Finding:
    """One requirement, measured.

    `by` says how: by group, by equal published cells, by the persons of a population that these
    match, or by the published rows that match a person.
    """

    requirement: Requirement
    by: str
    measurement: Measurement
    members: str = "row"  # what groups are counted in: rows, or people

    @property
    def holds(self) -> bool:
        """Whether the requirement holds in every group."""
        return self.measurement.holds

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values; risks are rounded up, never down."""
        counted = "people" if self.by == "matches" else "groups"
        summary = self.measurement.summary
        return {
            "principle": repr(self.requirement),
            "by": self.by,
            "holds": self.holds,
            "risk": upward(summary.risk),
            "bound": upward(self.measurement.bound),
            counted: summary.groups,
            "breaches": summary.breaches,
        }

    def complaint(self) -> str:
        """Say in a sentence what does not hold."""
        summary = self.measurement.summary
        risks = self.requirement.principle.judged(self.measurement)
        where = "for" if self.by == "matches" else "in"
        said = (
            f"{self.requirement!r} does not hold {where} {summary.breaches:,} of "
            f"{summary.groups:,} {COUNTED[self.by]}: {risks}."
        )
        if self.by == "matches":
            return said
        return f"{said} The smallest group has {_counted(summary.smallest, self.members)}."


COUNTED = {
    "group": "groups",
    "cells": "groups of equal published cells",
    "population": "descriptions",
    "matches": "people",
}


def _counted(count: int, unit: str) -> str:
    """Return so many rows, or people."""
    several = {"row": "rows", "person": "people"}
    return f"{count:,} {unit if count == 1 else several[unit]}"


@dataclass(frozen=True)
class Report:
    """Whether the text of a report was compared with the files, and what to know if it was not.

    One that is `untrue` says something else than they do.
    """

    compared: bool = True
    because: str | None = None
    untrue: bool = False

    @classmethod
    def false(cls, because: str) -> Report:
        """Return that a report is not that of its release."""
        return cls(because=because, untrue=True)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"text": "compared" if self.compared else "not compared", "because": self.because}


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Brief, Shown):
    """What was measured on published rows, and what is wrong with the files, if anything.

    `alike` counts the rows with equal published cells. In a series it counts those of real people,
    and in two tables the people with equal values. A heterogeneous release has no groups. There
    `matches` counts the published rows that each person matches, and `candidates` says how near
    their values are, if that was asked for. `remarks` say how it was measured.
    With a person column, `people` is the number of people. `alone` counts those who are the only
    one of their group with their number of rows. `rows_known` says whether a reader may know these
    numbers. Groups and descriptions are then counted in people.
    `reading` says how the cells of the release are to be read. `warnings` are further things
    that a reader of the files should know. `exposed` is what columns that are published unchanged
    add to what a reader learns. It is None for a table without a manifest. `stated` is what only
    the owner can know. `report` says whether the report was compared with the files.
    """

    _brief = ("rows", "groups", "holds", "verdict")

    rows: int
    groups: int | None
    findings: tuple[Finding, ...]
    problems: tuple[str, ...] = ()
    matches: NDArray[np.int64] | None = None
    candidates: tuple[CandidateRisk, ...] = ()
    alike: NDArray[np.int64] | None = None
    remarks: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    people: int | None = None
    alone: int | None = None
    rows_known: bool = True
    shown: dict[str, Any] | None = None
    exposed: Exposed | None = None
    stated: tuple[str, ...] = ()
    report: Report | None = None

    @property
    def holds(self) -> bool:
        """Whether everything that was required holds and the files are consistent."""
        return not self.problems and all(finding.holds for finding in self.findings)

    @property
    def verdict(self) -> str | None:
        """What may be said of a release in one word; None for a table without a manifest."""
        return None if self.exposed is None else self.exposed.verdict(holds=self.holds)

    @property
    def worst_risk(self) -> float:
        """The largest risk over all requirements."""
        return max(upward(finding.measurement.risk) for finding in self.findings)

    def measured(self) -> list[StatedRisk]:
        """Return for each requirement what a manifest says of it: the worst of its findings.

        How many rows people match is known from the original table alone, so that of such a
        requirement only the bound is said, and whether it holds.
        """
        worst: dict[str, StatedRisk] = {}
        for finding in self.findings:
            said = finding.to_dict()
            one = StatedRisk(said["principle"], said["holds"], said["risk"], said["bound"])
            if finding.by == "matches" and finding.holds:
                one.risk = one.bound
            known = worst.setdefault(one.principle, one)
            holds = known.holds and one.holds
            if one.risk > known.risk:
                worst[one.principle] = one
            worst[one.principle].holds = holds
        return list(worst.values())

    def state(self, manifest: Manifest) -> None:
        """Put into a manifest what was measured, and what exposed columns show."""
        manifest.say(measured=self.measured(), **self._stated())

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values, like the JSON of the command."""
        facts: dict[str, Any] = {
            "rows": self.rows,
            "groups": self.groups,
            "holds": self.holds,
            "measured": [finding.to_dict() for finding in self.findings],
            "problems": list(self.problems),
            "remarks": list(self.remarks),
            "reading": list(self.reading),
            "warnings": list(self.warnings),
            "stated": list(self.stated),
            "report": None if self.report is None else self.report.to_dict(),
        }
        if self.people is not None:
            facts |= {"people": self.people, "rows_known": self.rows_known, "alone": self.alone}
        if self.matches is not None:
            facts["matches"] = spread(self.matches)
            facts["candidates"] = [one.to_dict() for one in self.candidates]
        return facts | self.statement()

    def at_odds(self, odds: float) -> list[dict[str, Any]]:
        """Return what holds for a reader to whom some rows of a group are `odds` times as likely.

        None where a requirement does not hold, or does not bound who is near to whom.
        """
        given = check_odds(odds)
        asked = {repr(one.requirement): one.requirement.principle for one in self.findings}
        broken = {repr(one.requirement) for one in self.findings if not one.holds}
        bounds = {
            name: upward(one.pairs.at_odds(given)) if one.pairs and name not in broken else None
            for name, one in asked.items()
        }
        return [{"principle": name, "bound": bound} for name, bound in bounds.items()]

    def statement(self) -> dict[str, Any]:
        """Return what a manifest says of exposed columns, with the verdict, as plain values."""
        found: dict[str, Any] = msgspec.to_builtins(self._stated())
        return found

    def _stated(self) -> dict[str, Any]:
        if self.exposed is None:
            return {}
        threshold = upward(self.exposed.threshold)
        return {"threshold": threshold, **self.exposed.stated(), "verdict": self.verdict}

    def complaints(self) -> list[str]:
        """Return a sentence for everything that does not hold."""
        broken = [finding.complaint() for finding in self.findings if not finding.holds]
        return broken + list(self.problems)


def spread(matches: NDArray[np.int64]) -> dict[str, float]:
    """Return how the numbers of matches are distributed over people."""
    shares = {"least": 0, "lower_quartile": 25, "median": 50, "upper_quartile": 75, "most": 100}
    return {name: float(np.percentile(matches, share)) for name, share in shares.items()} | {
        "mean": float(matches.mean())
    }


def audit_table(
    published: Published,
    requirements: Sequence[Requirement],
    population: pl.DataFrame | None = None,
    exposed: Exposed | None = None,
    offered: Mapping[str, Column] = MappingProxyType({}),
) -> Audit:
    """Measure requirements on a published table, whose quasi cells it lets go of.

    `exposed` names columns of which it is to be counted what they show. Where these rows are some
    of a published table, `offered` has the columns of all of it that distances are scaled by.

    Groups are the rows of one `group`, where there is such a column, and otherwise the rows with
    equal published quasi cells. A principle that survives the union of groups is measured by equal
    cells as well: that is what a reader who ignores the group column sees. One about a population
    is measured by descriptions: equal cells, and whom of the population they match. How cells are
    read then, a manifest says; without one it is guessed, and said.
    """
    schema, linked = published.schema, published.linked
    check_rows(published.table)
    check_population(requirements, given=population is not None)
    known, problems, remarks = schema.rows_known, [], []
    outside: Matched | None = None
    if population is not None and any(one.principle.population for one in requirements):
        from shoal.audit.presence import count_people

        if schema.person is not None:
            check_whose(requirements, linked=bool(schema.linked), known=known)
        outside = count_people(published, population, requirements)
        by_cells, problems = outside.by_cells, outside.problems
        remarks = [] if published.manifest is not None else [GUESSED]
    else:
        published.let_go()
        by_cells = published.by_cells
    grouped, table = published.group is not None, published.table
    by_group = published.groups if grouped else by_cells
    if grouped:
        problems += mixed_groups(by_group, by_cells)
    whom = persons_of(table, schema.person)
    tables, matched, unmatched = rows_of_people(table, linked)
    members = Members.of(by_group, whom, known=known, linked=matched)
    in_cells = Members.of(by_cells, whom, known=known, linked=matched) if grouped else members
    findings: list[Finding] = []
    valued: list[Valued] = []
    for one in requirements:
        if outside is not None and one.principle.population:
            measured = one.principle.measure(outside.candidates(in_cells), None)
            findings.append(Finding(one, "population", measured, whom.one))
            continue
        of = next((name for name, own in schema.linked.items() if _is_of(one, own)), None)
        rows, own = (table, schema) if of is None else (tables[of], schema.linked[of])
        value = published_value(rows, own, one, offered)
        valued.append((one, value, of))
        views = [("group" if grouped else "cells", members)]
        if grouped and one.principle.monotone:
            views.append(("cells", in_cells))
        findings += [
            Finding(one, by, some.measure(one.principle, value, of), whom.one) for by, some in views
        ]
    if exposed is not None:
        exposed = look(exposed, published, members, in_cells, tables, valued)
    found = Audit(
        table.height,
        len(by_group),
        tuple(findings),
        (*problems, *unmatched, *members.scattered()),
        alike=found_among(published, members, in_cells),
        remarks=tuple(remarks),
        exposed=exposed,
    )
    if not whom.given:
        return found
    if not known:
        remarks.insert(0, unknown_rows(members.alone, members.people))
    return replace(
        found,
        remarks=tuple(remarks),
        people=members.people,
        alone=members.alone,
        rows_known=known,
    )


def _is_of(one: Requirement, table: Schema) -> bool:
    """Return whether a requirement is about columns of a linked table."""
    return bool(one.columns) and one.columns[0] in table.sensitive


def unknown_rows(alone: int, people: int) -> str:
    """Say what it means that how many rows a person has is taken for unknown."""
    said = "Requirements were measured as if no reader knew how many rows a person has"
    who = f"{alone:,} of {people:,} people are" if alone else "Nobody is"
    found = f"{said}. {who} the only one of their group with their number of rows"
    return f"{found}: a reader who knows it finds them." if alone else f"{found}."


GUESSED = (
    "The table has no manifest that says what its quasi cells are: how they are spelled was "
    "guessed from the cells."
)


def published_value(
    published: pl.DataFrame,
    schema: Schema,
    one: Requirement,
    offered: Mapping[str, Column] = MappingProxyType({}),
) -> Sensitive | None:
    """Code the published columns that a requirement is about."""
    if not one.columns:
        return None
    coded = coded_as_asked(published, schema, one, one.columns)
    return Sensitive.of(tuple(replace(each, offered=offered.get(each.name)) for each in coded))


def coded_as_asked(
    published: pl.DataFrame, schema: Schema, one: Requirement, names: Sequence[str]
) -> list[Column]:
    """Code some of the columns that a requirement is about as it takes them."""
    numbers = dict(zip(one.columns, one.principle.numbers_of(len(one.columns)), strict=True))
    coded = []
    for name in names:
        said = schema.types.get(name)
        coded.append(code_lenient(published[name], kind=quantity(said) if numbers[name] else said))
        if numbers[name] and coded[-1].values is None:
            msg = f"Column {name!r} has no value, and {one.principle!r} is about numbers."
            raise InputError(msg)
    return coded


def mixed_groups(by_group: Groups, by_cells: Groups) -> list[str]:
    """Return a sentence where rows of one group do not share their published cells."""
    some = np.empty(len(by_group), np.int64)
    some[by_group.labels] = by_cells.labels  # of each group the cells of one row or another
    mixed = np.unique(by_group.labels[some[by_group.labels] != by_cells.labels])
    if not len(mixed):
        return []
    return [f"{len(mixed)} of {len(by_group)} groups have rows with different published cells."]
