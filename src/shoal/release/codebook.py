"""The codebook: a line for each published column, for whoever works with the release.

Everything in it is said of published rows alone, and could be read off the published files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.release.cells import domain, kind_of, typed_kind
from shoal.release.forms import is_interval
from shoal.table.columns import is_dictionary
from shoal.table.forms import BOUNDS, INTERVALS, TWO_TABLES, spelled_as
from shoal.table.formulas import escape
from shoal.table.schema import LABELS, PERSON, PSEUDONYM, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.release.release import Recoding, ReleaseData
    from shoal.table.coding import Column

HEADER = ("name", "role", "type", "form", "done", "domain", "values", "caution", "file")
FEW = 30  # values that are listed

DONE = {
    "interval": "The least and the largest value in the row's group; a bare value is both.",
    "set": "The labels that occur in the row's group; a bare label is the only one.",
    "node": "The lowest node of a hierarchy that covers the row's group.",
    "low": "The least value in the row's group.",
    "high": "The largest value in the row's group.",
    "mean": "The mean over the row's group, rounded.",
    "exact": "Nothing: these are everybody's values as they were.",
}
GROUPED = "Numbered at random; rows with one number form a group."
OWN = {
    REAL: "How many people of the row's group are in the table now.",
    PERSON: "Numbered at random; rows with one number are about one person.",
}
LINKED = "Numbered at random; people and values with one number form a group."
PLAIN = {
    "sensitive": "Nothing: cells are as they came in.",
    "other": "Nothing: cells are as they came in.",
    PSEUDONYM: "Replaced by a keyed hash.",
}


def codebook(release: ReleaseData, cautions: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return the codebook of a release; `cautions` are what analysts should know of columns."""
    lines = []
    for stem, recoding in release.parts.items():
        for line in _lines(recoding):
            said = (cautions or {}).get(line["column"], "")
            texts = [line.get(key, "") for key in HEADER[:-2]]
            lines.append((*texts, said, stem))
    table = pl.DataFrame(lines, schema=dict.fromkeys(HEADER, pl.String), orient="row")
    escaped = release.recoding.escape
    return table.with_columns(escape(column) for column in table) if escaped else table


def _lines(recoding: Recoding) -> Iterator[dict[str, str]]:
    if recoding.layout.numbers is not None:
        done = LINKED if recoding.form == TWO_TABLES else GROUPED
        yield {"name": RESERVED, "role": RESERVED, "type": "integer", "done": done, "column": ""}
    for name, numbers in ((REAL, recoding.layout.real), (PERSON, recoding.layout.persons)):
        if numbers is not None:
            yield {"name": name, "role": name, "type": "integer", "done": OWN[name], "column": ""}
    for name in recoding.names:
        role = str(recoding.schema.role(name))
        lines = _quasi(recoding, name) if name in recoding.quasi else [_carried(recoding, name)]
        before = recoding.schema.done_to(name)
        for line in lines:
            done = f"{before} {line['done']}".strip()
            if name in recoding.schema.trims and role in {"sensitive", "other"}:
                done = before
            if name == recoding.schema.survey_weight:
                done = "The mean of the group's rows, so that totals stay."
            yield {**line, "done": done, "role": role, "column": name}


def _quasi(recoding: Recoding, name: str) -> Iterator[dict[str, str]]:
    """Yield what is said of the columns that a quasi column is published as."""
    column, form = recoding.quasi[name], recoding.form
    domain = _domain(recoding, column)
    if form == TWO_TABLES:
        yield {"name": name, "type": _type(column), "form": "exact", "done": DONE["exact"]} | domain
        return
    if form == INTERVALS or not is_interval(column):
        kind = kind_of(column)
        yield {"name": name, "type": _type(column), "form": kind, "done": DONE[kind]} | domain
        return
    parts = ("low", "high") if form == BOUNDS else ("mean", "low", "high")
    for part, spelled in zip(parts, spelled_as(name, form, interval=True), strict=True):
        kind = "number" if part == "mean" and not column.dates else _type(column)
        yield {"name": spelled, "type": kind, "form": part, "done": DONE[part]} | domain


def _domain(recoding: Recoding, column: Column) -> dict[str, str]:
    found: Any = domain(column, recoding.kinds[column.name].spans)
    if isinstance(found, dict):
        names = [node["name"] for node in found["nodes"]]
        said = {"domain": f"{found['leaves']} values under {len(names)} nodes"}
        return said | ({"values": _json(names)} if len(names) <= FEW else {})
    if not is_interval(column):
        said = {"domain": f"{len(found)} labels"}
        return said | ({"values": _json(found)} if len(found) <= FEW else {})
    return {"domain": _json(found)}


def _carried(recoding: Recoding, name: str) -> dict[str, str]:
    """Return what is said of a column that is published as it is."""
    schema, role = recoding.schema, str(recoding.schema.role(name))
    said = {"name": name, "form": "exact", "done": PLAIN[role]}
    if role == PSEUDONYM:
        return said | {"type": "text"}
    plain = schema.read_numbers(recoding.source.select(name), role)[name]
    if is_dictionary(plain):
        plain = plain.cast(pl.String)
    known = plain.drop_nulls()
    kind = None if schema.types.get(name) in LABELS else typed_kind(plain, spelled=False)
    numbers = known.cast(kind) if kind is not None else known
    if numbers.dtype.is_numeric() and len(numbers):
        whole = numbers.dtype.is_integer() or numbers.dtype == pl.Decimal
        ends = [str(numbers.min()), str(numbers.max())]
        said |= {"type": "integer" if whole else "number", "domain": f"[{', '.join(ends)}]"}
    elif numbers.dtype.is_temporal() and len(numbers):
        ends = [str(numbers.min()), str(numbers.max())]
        said |= {"type": "date", "domain": _json(ends)}
    else:
        said |= {"type": "text", "domain": f"{known.n_unique()} labels"}
    few = known.unique().cast(pl.String).sort()
    return said | ({"values": _json(few.to_list())} if len(few) <= FEW else {})


def _type(column: Column) -> str:
    if column.tree is not None or column.values is None:
        return "text"
    if column.dates:
        return "date"
    return "integer" if column.exact.dtype != float else "number"


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)
