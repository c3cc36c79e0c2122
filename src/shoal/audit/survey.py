"""The audit of anything: every level of a published table at once, with nothing required of it.

The riskiest records come with it, each with the reason for its risk. The risk of a record is the
share of its group, itself included, whose value is within ε of its own: what a reader who knows the
group can say of it. Records that share their description with nobody have risk 1 for that alone.

A principle asks for a level; here the level is what is measured: the strictest parameter with which
the principle still holds in every group, as the principle itself says it (`strongest`).

Where people have several rows, the risk of a row is the share of its person's candidates, the
person included, who have a value near to the row's: what is required of people is measured the same
way. A person with many rows is counted once.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.covers import CellCover
from shoal.audit.exposure import Nearness, nearness, relation_of, widths
from shoal.audit.people import Members
from shoal.audit.published import Published, open_published
from shoal.audit.verify import GUESSED, mixed_groups
from shoal.distances.relation import Band, Unsure, near
from shoal.errors import UnknownColumn, UsageError, option
from shoal.principles.groups import Groups
from shoal.principles.histogram import Histogram, as_worst
from shoal.principles.unasked import OF_DESCRIPTIONS, OF_GROUPS, of_columns
from shoal.progress import Brief
from shoal.table.partition import Everyone
from shoal.table.people import values_of
from shoal.table.reading import read_table, take_frame
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from shoal.distances.relation import Relation
    from shoal.principles.base import Principle
    from shoal.table.schema import Schema


@dataclasses.dataclass(frozen=True)
class Level:
    """The level of one principle on a table.

    `asked` says which principle, and what of it is fixed; `found` is it at the strongest level
    that holds in every group, None where no parameter makes it hold.
    """

    asked: Principle
    found: Principle | None

    def to_dict(self) -> dict[str, Any]:
        """Return the level as plain values; `holds` is the notation in which it can be required."""
        (parameter,) = self.asked.graded
        level = None if self.found is None else getattr(self.found, parameter)
        fixed = {
            field.name: getattr(self.asked, field.name)
            for field in dataclasses.fields(self.asked)  # type: ignore[arg-type]
            if field.name != parameter
        }
        return {
            "principle": type(self.asked).__name__,
            "fixed": fixed,
            "parameter": parameter,
            "level": int(level) if isinstance(level, float) and level.is_integer() else level,
            "stronger": "larger" if self.asked.rising else "smaller",
            "holds": None if self.found is None else repr(self.found),
        }


def measure_levels(groups: Groups, value: Sensitive) -> Iterator[Level]:
    """Yield the level of every principle that applies to a sensitive column."""
    for one in of_columns(groups, value):
        yield Level(one, one.strongest(groups, value))


def levels_of_groups(groups: Groups, value: Sensitive) -> dict[str, NDArray[np.float64]]:
    """Return some levels of each group, for lists of the riskiest ones."""
    found = {type(one).__name__: 1 / one.measure(groups, value).risks for one in OF_GROUPS}
    if value.columns[0].numeric:
        histogram = Histogram.of(groups, as_worst(groups, value))
        ends = value.numbers[histogram.named[histogram.codes]].astype(np.float64)
        with np.errstate(over="ignore"):  # of values that are further apart than any double
            lengths = ends[histogram.ends - 1] - ends[histogram.starts]
        found["KE"] = np.minimum(lengths, sys.float_info.max)
    return found


WORST = 10  # groups that are named
ONE_IN_FIVE = 5  # people in groups smaller than this are counted as at high risk


@dataclass(frozen=True, eq=False, repr=False)
class Levels(Brief):
    """What was measured on a published table: of its groups, and of each sensitive column."""

    _brief = ("rows", "groups", "by")

    rows: int
    groups: int
    by: str
    identification: dict[str, Any]
    columns: tuple[dict[str, Any], ...]
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "rows": self.rows,
            "groups": self.groups,
            "by": self.by,
            "k": self.identification["smallest_group"],
            "identification": self.identification,
            "columns": list(self.columns),
            "remarks": list(self.remarks),
        }


def levels(
    source: Any, schema: Schema | None = None, *, group: str | None = None, population: Any = None
) -> Levels:
    """Measure every level of a published table.

    Parameters
    ----------
    source : a release directory, the path of a table, or a frame.
    schema : the quasi and sensitive columns, for a plain table.
    group : the column that names groups; without it rows with equal quasi cells are one.
    population : the path or frame of a table of everyone who could be in the release, with the
        quasi columns as they really are.
    """
    published = open_published(source, schema, group)
    if published.heterogeneous:
        msg = (
            f"This release has no groups to measure. Its owner audits it with {option('original')}."
        )
        raise UsageError(msg)
    remarks = mixed_groups(published.groups, published.by_cells) if published.group else []
    found = identification(published)
    if population is not None:
        known = (
            read_table(population) if isinstance(population, str | Path) else take_frame(population)
        )
        against, said = journalist(published, known)
        found |= against
        remarks += said
    members = Members.of(published.groups, Everyone(published.table.height), known=True)
    return Levels(
        published.table.height,
        len(published.groups),
        published.group or "equal cells",
        found,
        tuple(survey_column(published, members, name) for name in published.schema.sensitive),
        tuple(remarks),
    )


def identification(published: Published) -> dict[str, Any]:
    """Measure how likely a person known to be in the table is found.

    The prosecutor looks for one person and finds the row with 1 / |G|: the worst and how many are
    above one in five. The marketer wants as many as possible: the mean of 1 / |G| over all rows is
    groups / rows (El Emam, Dankar: Protecting Privacy Using k-Anonymity. JAMIA 2008).
    """
    sizes = published.by_cells.sizes if published.group is None else published.groups.sizes
    rows = int(sizes.sum())
    small = sizes < ONE_IN_FIVE
    return {
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "mean_group": rows / len(sizes),
        "unique_rows": int((sizes == 1).sum()),
        "uniqueness": float((sizes == 1).sum() / rows),
        "prosecutor": 1 / int(sizes.min()),
        "rows_above_one_in_five": float(sizes[small].sum() / rows),
        "marketer": len(sizes) / rows,
    }


def journalist(published: Published, people: pl.DataFrame) -> tuple[dict[str, Any], list[str]]:
    """Measure the same against a population, of whom the table shows some.

    The journalist cannot know that a person is in the table: the risk is 1 / F, where F people of
    the population match the description. Every published row is of somebody, so F is at least the
    number of rows with the description. The marketer expects f / F for each of them. The levels of
    `KMap` and `DeltaPresence` count the population alone, without that supplement, and are None
    where a cell cannot be read.
    """
    for name in published.schema.quasi:
        if name not in people.columns:
            raise UnknownColumn(name, people.columns)
    cover = CellCover(published, people)
    counted = cover.counts()
    sizes = published.by_cells.sizes
    matched = np.maximum(counted, sizes)
    remarks = []
    if (short := int((counted < sizes).sum())) > 0:
        remarks.append(
            f"The population table is incomplete: {short} of {len(sizes)} descriptions match "
            "fewer people in it than they have rows."
        )
    if not published.kinds:
        remarks.append(GUESSED)
    if cover.unread:
        remarks.append(
            f"{cover.unread} different quasi-identifier cells could not be read. They count as "
            "matching everyone."
        )
    return {
        "population": people.height,
        "journalist": float(1 / matched.min()),
        "marketer_population": float((sizes / matched).sum() / sizes.sum()),
        "population_unique_rows": int(sizes[matched == 1].sum()),
        **_against(published.by_cells.labels, None if cover.unread else counted),
    }, remarks


def _against(labels: NDArray[np.int64], people: NDArray[np.int64] | None) -> dict[str, Any]:
    """Return the k of `KMap`, and `low` and `high` of `DeltaPresence`, None where none holds."""
    if people is None:
        return {"k_map": None, "presence": None}
    described = Groups(labels, people)
    fewest, shares = (one.strongest(described, None) for one in OF_DESCRIPTIONS)
    return {
        "k_map": 0 if fewest is None else fewest.levels[0],
        "presence": None if shares is None else shares.levels,
    }


def survey_column(published: Published, members: Members, name: str) -> dict[str, Any]:
    """Measure the levels of one sensitive column, and name the worst groups and records.

    The levels of principles are left out where some have several values: most are defined for one.
    """
    column = published.sensitive(name)
    value = Sensitive.of((column,))
    own, groups = values_of(value, members.whom), members.candidates
    near = nearness(groups, own, widths(column))
    middle = near[len(near) // 2]
    if members.whom.given:
        worst = np.lexsort((groups.sizes, -middle.risks))
        riskiest = _riskiest_people(published, members, middle, worst[:WORST])
        records = _records(published, members, value, middle, worst[:WORST_RECORDS])
    else:
        riskiest = _riskiest(published, levels_of_groups(groups, own), middle)
        records = riskiest_records(published, value, middle.epsilon)
    return {
        "column": name,
        **({"people": True} if members.whom.given else {}),
        "numeric": column.numeric,
        "distinct": column.distinct,
        "levels": [] if own.several else [one.to_dict() for one in measure_levels(groups, own)],
        "proximity": [one.to_dict() for one in near],
        "riskiest": riskiest,
        "riskiest_records": records,
    }


def _riskiest(
    published: Published, levels: dict[str, NDArray[np.float64]], near: Nearness
) -> list[dict[str, Any]]:
    """Name the groups with the highest risk at the middle width, the smaller first among equals."""
    sizes = published.groups.sizes
    return [
        {
            "group": published.group_id(group),
            "rows": int(sizes[group]),
            "epsilon": near.epsilon,
            "risk": float(near.risks[group]),
            **{name: float(of_groups[group]) for name, of_groups in levels.items()},
        }
        for group in np.lexsort((published.first_rows, sizes, -near.risks))[:WORST].tolist()
    ]


WORST_RECORDS = 10  # records that are named


def near_to_each(groups: Groups, value: Sensitive, relation: Relation) -> NDArray[np.int64]:
    """Count for each row the members of its group near to it, itself included.

    Missing values are near to all; only these are near to one of them.
    """
    band = relation.values if isinstance(relation, Unsure) else relation
    assert isinstance(band, Band)
    base = groups.labels * value.distinct
    keys = np.sort(base + value.codes)
    first = np.searchsorted(keys, base + band.first[value.codes], "left")
    last = np.searchsorted(keys, base + band.last[value.codes], "right")
    found: NDArray[np.int64] = (last - first).astype(np.int64)
    if isinstance(relation, Unsure):
        missing = value.codes == relation.gap
        found += (
            np.bincount(groups.labels, missing, len(groups)).astype(np.int64)[groups.labels]
            * ~missing
        )
    return found


def riskiest_records(
    published: Published, value: Sensitive, epsilon: float
) -> list[dict[str, Any]]:
    """Name the records of the highest risk, those of smaller groups first among equals.

    Rows are counted from 1, as they stand in the published table.
    """
    groups = published.groups
    near = near_to_each(groups, value, relation_of(value, epsilon))
    sizes = groups.sizes[groups.labels]
    risks = near / sizes
    return [
        {
            "row": row + 1,
            "group": published.group_id(int(groups.labels[row])),
            "risk": float(risks[row]),
            "why": why(int(near[row]), int(sizes[row]), epsilon, value.name),
        }
        for row in np.lexsort((sizes, -risks))[:WORST_RECORDS].tolist()
    ]


def why(near: int, size: int, epsilon: float, name: str, whom: str = "") -> str:
    """Say why a record is at risk: how many of its group, or of its people, are near."""
    if size == 1:
        return "alone in its group"
    if near == 1:
        return f"one in {size:,}{whom}, and no other is near"
    alike = f"are within {epsilon:,g} of its own" if epsilon else "have the same"
    return f"{near:,} of {size:,}{whom} in its group {alike} {name}"


def _rows_of(members: Members, candidates: int) -> NDArray[np.int64]:
    """Return the rows of those who may be taken for one another."""
    return np.flatnonzero(members.whom.of_row(members.candidates.labels == candidates))


def _riskiest_people(
    published: Published, members: Members, middle: Nearness, worst: NDArray[np.int64]
) -> list[dict[str, Any]]:
    """Describe the candidates with the highest risk."""
    found = []
    for one in worst.tolist():
        rows = _rows_of(members, one)
        found.append(
            {
                "group": published.group_id(int(published.groups.labels[rows[0]])),
                "people": int(middle.sizes[one]),
                "rows": len(rows),
                "epsilon": middle.epsilon,
                "risk": float(middle.risks[one]),
            }
        )
    return found


def _records(
    published: Published,
    members: Members,
    value: Sensitive,
    middle: Nearness,
    worst: NDArray[np.int64],
) -> list[dict[str, Any]]:
    """Name the rows of the highest risk; no others can be than those of the worst candidates."""
    relation = relation_of(value, middle.epsilon)
    whom = " people with as many rows" if members.known else " people"
    found: list[dict[str, Any]] = []
    for one in worst.tolist():
        rows, size = _rows_of(members, one), int(middle.sizes[one])
        people = members.whom.labels[rows]
        codes, place = np.unique(value.codes[rows], return_inverse=True)
        for code in range(len(codes)):
            close = near(relation, codes, codes[code])[place]
            count = len(np.unique(people[close]))
            found += [
                {
                    "row": int(row) + 1,
                    "group": published.group_id(int(published.groups.labels[row])),
                    "risk": count / size,
                    "why": why(count, size, middle.epsilon, value.name, whom),
                }
                for row in rows[place == code].tolist()
            ]
    return sorted(found, key=lambda entry: -entry["risk"])[:WORST_RECORDS]
