"""The codebook: a line for each published column, for whoever works with the release.

Everything in it is said of published rows alone, and could be read off the published files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.release.carried import typed_kind
from shoal.release.cells import domain, kind_of
from shoal.release.forms import is_interval
from shoal.table.columns import is_dictionary
from shoal.table.forms import BOUNDS, INTERVALS, TWO_TABLES, spelled_as
from shoal.table.formulas import escape
from shoal.table.schema import LABELS, PERSON, PSEUDONYM, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from shoal.release.recoding import Recoding
    from shoal.release.release import ReleaseData
    from shoal.table.column import Column

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
WEIGHED = "The mean of the group's rows, so that totals stay."
LINKED = "Numbered at random; people and values with one number form a group."
PLAIN = {
    "sensitive": "Nothing: cells are as they came in.",
    "other": "Nothing: cells are as they came in.",
    PSEUDONYM: "Replaced by a keyed hash.",
}


def codebook(release: ReleaseData, cautions: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Return the codebook of a release; `cautions` are what analysts should know of columns."""
    carried = {name: _held(recoding, name) for recoding in release.parts.values()
               for name in recoding.names if name not in recoding.quasi}  # fmt: skip
    return codebook_of(release.parts, carried, cautions)


def codebook_of(
    parts: Mapping[str, Recoding],
    carried: Mapping[str, HeldCells],
    cautions: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Return the codebook of tables, of which it is known what their carried columns hold."""
    lines = []
    for stem, recoding in parts.items():
        for line in _lines(recoding, carried):
            said = (cautions or {}).get(line["column"], "")
            texts = [line.get(key, "") for key in HEADER[:-2]]
            lines.append((*texts, said, stem))
    table = pl.DataFrame(lines, schema=dict.fromkeys(HEADER, pl.String), orient="row")
    escaped = any(recoding.escape for recoding in parts.values())
    return table.with_columns(escape(column) for column in table) if escaped else table


@dataclass(frozen=True)
class HeldCells:
    """What the cells of a carried column are, as far as a codebook says it; parts add up.

    `labels` are the different ones, or some where there are more than FEW; `different` how many
    there are, None where nobody has counted.
    """

    type: str
    ends: tuple[Any, Any] | None
    labels: frozenset[str]
    different: int | None

    @classmethod
    def of(cls, cells: pl.Series, spelled: pl.Series) -> HeldCells:
        """Describe cells with types, which are spelled so."""
        known = cells.drop_nulls()
        whole = known.dtype.is_integer() or known.dtype == pl.Decimal
        kind = "integer" if whole else "number" if known.dtype.is_numeric() else "text"
        kind = "date" if known.dtype.is_temporal() else kind
        few = spelled.drop_nulls().unique().cast(pl.String)
        ends = (known.min(), known.max()) if kind != "text" and len(known) else None
        some = few.sort().head(FEW + 1)
        return cls(kind if len(known) else "text", ends, frozenset(some), len(few))

    def __add__(self, other: HeldCells) -> HeldCells:
        ends = [one.ends for one in (self, other) if one.ends is not None]
        labels = sorted(self.labels | other.labels)
        return HeldCells(
            self.type if self.ends is not None or other.ends is None else other.type,
            (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None,
            frozenset(labels[: FEW + 1]),
            len(labels) if len(labels) <= FEW else None,
        )

    def line(self) -> dict[str, str]:
        """Return what a codebook says of them."""
        if self.ends is None:
            count = f"more than {FEW}" if self.different is None else self.different
            said = {"type": "text", "domain": f"{count} labels"}
        else:
            ends = [str(end) for end in self.ends]
            shown = _json(ends) if self.type == "date" else f"[{', '.join(ends)}]"
            said = {"type": self.type, "domain": shown}
        return said | ({"values": _json(sorted(self.labels))} if len(self.labels) <= FEW else {})


def _held(recoding: Recoding, name: str) -> HeldCells:
    """Describe the cells of a column that is published as it is."""
    schema, role = recoding.schema, str(recoding.schema.role(name))
    plain = schema.read_numbers(recoding.source.select(name), role)[name]
    if is_dictionary(plain):
        plain = plain.cast(pl.String)
    kind = None if schema.types.get(name) in LABELS else typed_kind(plain, spelled=False)
    return HeldCells.of(plain.cast(kind) if kind is not None else plain, plain)


def _lines(recoding: Recoding, carried: Mapping[str, HeldCells]) -> Iterator[dict[str, str]]:
    if recoding.layout.numbers is not None:
        done = LINKED if recoding.form == TWO_TABLES else GROUPED
        yield {"name": RESERVED, "role": RESERVED, "type": "integer", "done": done, "column": ""}
    for name, numbers in ((REAL, recoding.layout.real), (PERSON, recoding.layout.persons)):
        if numbers is not None:
            yield {"name": name, "role": name, "type": "integer", "done": OWN[name], "column": ""}
    for name in recoding.names:
        role = str(recoding.schema.role(name))
        lines = (
            _quasi(recoding, name)
            if name in recoding.quasi
            else [_carried(recoding, name, carried)]
        )
        before = recoding.schema.done_to(name)
        for line in lines:
            done = f"{before} {line['done']}".strip()
            if name in recoding.schema.trims and role in {"sensitive", "other"}:
                done = before
            if name == recoding.schema.survey_weight:
                done = WEIGHED
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


def _carried(recoding: Recoding, name: str, carried: Mapping[str, HeldCells]) -> dict[str, str]:
    """Return what is said of a column that is published as it is."""
    role = str(recoding.schema.role(name))
    said = {"name": name, "form": "exact", "done": PLAIN[role]}
    if role == PSEUDONYM:
        return said | {"type": "text"}
    return said | carried[name].line()


def _type(column: Column) -> str:
    if column.tree is not None or column.values is None:
        return "text"
    if column.dates:
        return "date"
    return "integer" if column.exact.dtype != float else "number"


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)
