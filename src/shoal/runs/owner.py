"""What only the owner may see of a release: riskiest groups and records, and what was left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.matches import SPREAD, audit_matches
from shoal.audit.people import Members
from shoal.audit.published import open_published, plain_text
from shoal.exact import percent
from shoal.table.coding import code_column
from shoal.table.schema import PERSON, RESERVED, Schema
from shoal.utility.bands import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from shoal.release.release import ReleaseData
    from shoal.table.coded import Coded
    from shoal.table.column import Column

GROUPS = 8  # whose values are shown
VALUES = 200  # of one group, at most
LABELS = 8  # of one group, at most


def collect_owner(release: ReleaseData) -> dict[str, Any]:
    """Gather what is private, as plain values."""
    from shoal.audit.survey import (
        survey,  # which knows every principle
        survey_people,
    )

    facts: dict[str, Any] = {
        "suppression": str(release.suppression),
        "changed": release.settings.get("changed", []),
        "answer": "No column was named as sensitive, so nobody's value is at risk by this table.",
        "columns": [],
        "strips": [],
        "candidates": [],
    }
    if release.heterogeneous:
        found = audit_matches(
            plain_text(release), release.coded, release.requirements, candidates=True
        )
        return facts | {"candidates": [one.to_dict() for one in found.candidates]}
    if not release.schema.sensitive:
        return facts
    table, schema = plain_text(release), published_schema(release)
    if PERSON in table.columns:
        published = open_published(table, schema, RESERVED)
        members = Members.of(published.groups, table[PERSON], known=release.coded.rows_known)
        columns = tuple(survey_people(published, members, name) for name in schema.sensitive)
    else:
        columns = survey(table, schema, group=RESERVED).columns
    strips = [_strips(release, one) for one in columns]
    return facts | {"columns": list(columns), "strips": strips, "answer": _answer(columns)}


def _answer(columns: Sequence[dict[str, Any]]) -> str:
    """Name the group and the record that are most at risk."""
    worst = max(columns, key=lambda one: one["riskiest_records"][0]["risk"])
    first = worst["riskiest_records"][0]
    return (
        f"Row {first['row']:,} of the release, in group {first['group']}, by its "
        f"{worst['column']}: {first['why']}."
    )


def what_changed(everybody: Coded, kept: Coded) -> list[dict[str, str]]:
    """Return what leaving rows out changed: means of numbers, the share that moved most of labels.

    A mean with and without one row gives the row away, so this is for the owner alone.
    """
    if len(everybody) == len(kept):
        return []
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
    numbers = column.numbers.astype(np.float64)
    unit = float(np.abs(numbers).max()) or 1.0
    return float((numbers / unit)[column.codes].mean()) * unit


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
    column = code_column(
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
            "values": column.numbers[column.codes[rows[:VALUES]]].astype(np.float64).tolist(),
        }
        for group, rows in members.items()
    ]
    return {"column": name, "numeric": True, "dates": column.dates, "strips": strips}


def _whole(column: Column) -> dict[str, Any]:
    values = column.numbers[column.codes].astype(np.float64)
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
