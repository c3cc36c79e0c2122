"""What only the owner may see of a release: the table before, who is at risk, what was left out.

None of it is public: what joins true values before and after can give them away.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.identification import exposure, release_groups
from shoal.audit.inference import infer_from
from shoal.audit.matches import SPREAD, audit_matches
from shoal.audit.people import Members, descriptions
from shoal.audit.published import open_published, plain_text
from shoal.exact import percent
from shoal.principles.groups import Groups
from shoal.release.layout import row_counts
from shoal.runs.person import most_exposed
from shoal.table.coded import persons_of
from shoal.table.coding import code_lenient
from shoal.table.forms import MEANS
from shoal.table.partition import PersonOf
from shoal.table.schema import PERSON, RESERVED, Schema
from shoal.table.settling import as_settled
from shoal.utility.bands import spelled
from shoal.utility.bias import cell_bias
from shoal.utility.fidelity import fidelity
from shoal.utility.least import least_loss, times_least
from shoal.utility.selectivity import errors_by_selectivity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    import polars as pl
    from numpy.typing import NDArray

    from shoal.audit.verify import Audit, Finding
    from shoal.release.recoding import ReleaseData
    from shoal.table.coded import Coded
    from shoal.table.column import Column

MOST = 100_000  # rows of which the least loss is looked for, in seconds whatever the columns
SEED = 0  # of what is drawn: the page is private, and equal calls are to agree
GROUPS = 8  # whose values are shown
VALUES = 200  # of one group, at most
LABELS = 8  # of one group, at most


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
    from shoal.table.people import by_people

    coded, after = release.coded, release_groups(release)
    before = unprotected(coded)
    if after is None:
        return Counted(coded, before, None)
    counts, labels = row_counts(coded), coded.person_of.of_part(after.labels)
    if coded.rows_known:
        labels = labels * len(counts) + counts.labels
    described = descriptions(before.labels, coded.person_of)
    before = Groups.of(described.labels * len(counts) + counts.labels)
    return Counted(by_people(coded), before, Groups.of(labels))


def unprotected(coded: Coded) -> Groups:
    """Return the groups a reader would see if the quasi columns were published as they are."""
    return Groups.alike(len(coded), ((column.codes, column.distinct) for column in coded.quasi))


def alike_outside(release: ReleaseData, before: Groups) -> NDArray[np.int64]:
    """Count those of the population who have the quasi values of each group of `members`.

    Somebody with several rows has to have all of them, and no others.
    """
    from shoal.release.boxes import exact_marks, exact_matches
    from shoal.table.people import code_people

    known, coded = as_settled(release.population, release.schema), release.coded
    assert known is not None
    people = code_people(known, coded)
    places = people.places(coded)
    if not coded.person_of.given:
        return exact_matches(coded, before, places)
    count = len(coded.person_of)
    whose = PersonOf(np.concatenate([coded.person_of.labels, people.person_of.labels + count]))
    marks = descriptions(np.concatenate(exact_marks(coded, places)), whose).labels
    own, theirs = marks[:count], marks[count:]
    counts = np.bincount(theirs, minlength=int(marks.max()) + 1)
    return counts[before.of_part(own)]


def collect_owner(release: ReleaseData, audit: Audit, limit: Fraction) -> dict[str, Any]:
    """Gather what is private, as plain values; `limit` is the risk of being found."""
    from shoal.estimation.recovering import recovered

    counted = members(release)
    return {
        "seconds": release.settings.get("seconds", {}),
        "columns_in": release.settings.get("columns_in"),
        "requirements": [
            _requirement(one, release, counted) for one in audit.findings if one.by != "cells"
        ],
        "times_least": _times_least(release),
        "squared_error": release.squared_error if release.form == MEANS else None,
        "exposure": exposure(release, audit, counted.coded, counted.before, counted.after, limit),
        "fidelity": fidelity(release),
        "bias": [
            one.to_dict() | {"sentence": str(one)}
            for one in cell_bias(plain_text(release), release.manifest)
        ],
        "queries": errors_by_selectivity(release, work=None),
        "exposed": most_exposed(release),
        "recovered": recovered(release, SEED),
    } | riskiest(release)


def riskiest(release: ReleaseData) -> dict[str, Any]:
    """Gather who is most at risk, and what leaving rows out changed."""
    from shoal.audit.survey import survey_column  # which knows every principle

    facts: dict[str, Any] = {
        "suppression": str(release.suppression),
        "changed": release.settings.get("changed", []),
        "answer": "No column was named as sensitive, so no value is at risk by this table.",
        "columns": [],
        "strips": [],
        "candidates": [],
        "inference": [one.to_dict() for one in infer_from(release)],
    }
    if release.heterogeneous:
        found = audit_matches(
            plain_text(release), release.coded, release.requirements, candidates=True
        )
        return facts | {"candidates": [one.to_dict() for one in found.candidates]}
    if not release.schema.sensitive:
        return facts
    table, schema = plain_text(release), published_schema(release)
    published = open_published(table, schema, RESERVED)
    whom = persons_of(table, PERSON if PERSON in table.columns else None)
    members = Members.of(published.groups, whom, known=release.coded.rows_known)
    columns = tuple(survey_column(published, members, name) for name in schema.sensitive)
    strips = [_strips(release, one) for one in columns]
    return facts | {"columns": list(columns), "strips": strips, "answer": _answer(columns)}


def _bounded(release: ReleaseData) -> bool:
    """Return whether it can be said how much is lost at least.

    Who is left out changes what the others can reach, several rows of a person share one box, and
    very large tables would take minutes.
    """
    coded, gone = release.coded, release.suppression.rows
    return not (gone or coded.person_of.given or len(coded) > MOST)


def _times_least(release: ReleaseData) -> float | None:
    """Return how many times the least possible loss was lost at most, where that can be said."""
    if not _bounded(release):
        return None
    least = least_loss(release.coded, release.requirements)
    return times_least(release.manifest.loss.gcp, least)


def _requirement(finding: Finding, release: ReleaseData, counted: Counted) -> dict[str, Any]:
    principle, before = finding.requirement.principle, counted.before
    names = finding.requirement.columns
    value = counted.coded.value(names) if names else None
    if principle.population and release.population is not None:
        before = replace(before, matches=alike_outside(release, before))
    entry: dict[str, Any] = {"risk_before": float(principle.measure(before, value).risk)}
    if value is not None and value.several:
        return entry  # what theorems say of before is about one value each
    return entry if value is None else entry | principle.pictured(value)


def _answer(columns: Sequence[dict[str, Any]]) -> str:
    """Name the group and the record that are most at risk."""
    worst = max(columns, key=lambda one: one["riskiest_records"][0]["risk"])
    first, *others = worst["riskiest_records"]
    alike = (
        " Other rows have the same risk." if others and others[0]["risk"] == first["risk"] else ""
    )
    return (
        f"Row {first['row']:,} of the release, in group {first['group']}, by its "
        f"{worst['column']}: {first['why']}.{alike}"
    )


def what_changed(everybody: Coded, kept: Coded) -> list[dict[str, str]]:
    """Return what leaving rows out changed: means of numbers, the share that moved most of labels.

    A mean with and without one row gives the row away, so this is for the owner alone.
    """
    changed = []
    before = {one.name: one for one in (*everybody.quasi, *everybody.sensitive)}
    for after in (*kept.quasi, *kept.sensitive):
        whole = before[after.name]
        if whole.numeric and after.numeric:
            means = [_mean(one) for one in (whole, after)]
            texts = [spelled(mean, dates=whole.dates) for mean in means]
            entry = {"what": "mean", "all": texts[0], "published": texts[1]}
        else:
            label, shares = _most_moved(whole, after)
            entry = {"what": f"share of {label}", "all": shares[0], "published": shares[1]}
        changed.append({"column": after.name} | entry)
    return changed


def _mean(column: Column) -> float:
    """Return the mean of a column, whose sum may be beyond all doubles."""
    numbers = _known(column, slice(None))
    unit = float(np.abs(numbers).max()) or 1.0
    return float((numbers / unit).mean()) * unit


def _most_moved(whole: Column, after: Column) -> tuple[str, list[str]]:
    """Return the label whose share changed most, and its share before and after."""
    counts = np.bincount(whole.codes, minlength=whole.distinct)
    place = {label: rank for rank, label in enumerate(after.spellings.to_list())}
    left = np.bincount(after.codes, minlength=after.distinct)
    own = [place.get(label) for label in whole.spellings.to_list()]
    kept = np.array([0 if rank is None else left[rank] for rank in own])
    shares = counts / counts.sum(), kept / kept.sum()
    most = int(np.argmax(np.abs(shares[0] - shares[1])))
    return whole.spellings[most] or "(missing)", [percent(one[most], 4) for one in shares]


def published_schema(release: ReleaseData) -> Schema:
    """Return what a reader of the published table has to know of its columns."""
    schema = release.schema
    types = {name: kind for name, kind in schema.types.items() if name in schema.sensitive}
    return Schema(quasi=schema.quasi, sensitive=schema.sensitive, types=types)


def _strips(release: ReleaseData, surveyed: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a sensitive column in its riskiest groups."""
    name = surveyed["column"]
    table = plain_text(release).select(RESERVED, name)
    column = code_lenient(
        table[name], kind=release.schema.types.get(name) if surveyed["numeric"] else "categorical"
    )
    worst = [one["group"] for one in surveyed["riskiest"]][:GROUPS]
    marks = table[RESERVED].cast(str).to_numpy() if worst else np.empty(0)
    members = {group: np.flatnonzero(marks == group) for group in worst}
    if not column.numeric:
        return {
            "column": name,
            "numeric": False,
            "strips": [_counted(group, table[name], rows) for group, rows in members.items()],
        }
    strips = [_whole(column)] + [
        {
            "name": f"group {group}",
            "values": _known(column, rows[:VALUES]).tolist(),
        }
        for group, rows in members.items()
    ]
    return {"column": name, "numeric": True, "dates": column.dates, "strips": strips}


def _known(column: Column, rows: NDArray[np.int64] | slice) -> NDArray[np.float64]:
    """Return the numbers of some rows, without those that are missing."""
    codes = column.codes[rows]
    return column.numbers[codes[codes != column.gap]].astype(np.float64)


def _whole(column: Column) -> dict[str, Any]:
    values = _known(column, slice(None))
    unit = float(np.abs(values).max()) or 1.0  # so that no difference is beyond all doubles
    parts = np.quantile(values / unit, (SPREAD[0], 0.5, SPREAD[1])) * unit
    low, median, high = parts.tolist()
    return {"name": "whole table", "low": low, "median": median, "high": high}


def _counted(group: str, cells: pl.Series, rows: np.ndarray) -> dict[str, Any]:
    counts = Counter("" if cell is None else str(cell) for cell in cells[rows])
    return {
        "name": f"group {group}",
        "labels": counts.most_common(LABELS),
        "more": len(counts) > LABELS,
    }
