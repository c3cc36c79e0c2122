"""What only the owner may see of a release: riskiest groups and records, and what was left out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.audit.matches import SPREAD, audit_matches
from shoal.audit.published import plain_text
from shoal.audit.survey import survey
from shoal.table.coding import Column, code_column
from shoal.table.schema import RESERVED, Schema

if TYPE_CHECKING:
    import polars as pl

    from shoal.release.release import ReleaseData

GROUPS = 8  # whose values are shown
VALUES = 200  # of one group, at most
LABELS = 8  # of one group, at most


def collect_owner(release: ReleaseData) -> dict[str, Any]:
    """Gather what is private, as plain values."""
    facts: dict[str, Any] = {
        "suppression": str(release.suppression),
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
    columns = survey(plain_text(release), published_schema(release), group=RESERVED).columns
    strips = [_strips(release, one) for one in columns]
    return facts | {"columns": list(columns), "strips": strips}


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
    low, median, high = np.quantile(values, (SPREAD[0], 0.5, SPREAD[1])).tolist()
    return {"name": "whole table", "low": low, "median": median, "high": high}


def _counted(group: str, cells: pl.Series, rows: np.ndarray) -> dict[str, Any]:
    counts = Counter("" if cell is None else str(cell) for cell in cells[rows])
    return {
        "name": f"group {group}",
        "labels": counts.most_common(LABELS),
        "more": len(counts) > LABELS,
    }
