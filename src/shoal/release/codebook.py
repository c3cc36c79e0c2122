"""The codebook: a line for each published column, for whoever works with the release.

It is made from the manifest and from the published tables, as they are read back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.release.cells import escape
from shoal.table.forms import BOUNDS, INTERVALS, PEOPLE, TWO_TABLES, stems
from shoal.table.schema import NODE, PERSON, PSEUDONYM, REAL, RESERVED
from shoal.table.trimming import done_first

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedColumn

HEADER = ("name", "role", "type", "form", "done", "domain", "values", "caution", "file")
FEW = 30  # values that are listed

DONE = {
    "interval": "The least and the largest value in the row's group; a single value means that "
    "both ends are equal.",
    "set": "The labels that occur in the row's group; a bare label is the only one.",
    "node": "The lowest node of a hierarchy that covers the row's group.",
    "low": "The least value in the row's group.",
    "high": "The largest value in the row's group.",
    "mean": "The mean over the row's group, rounded.",
    "missing": "1 if values of this column are missing in the row's group, otherwise 0.",
    "exact": "Nothing: these are everyone's values, unchanged.",
}
REGION = {  # where cells are regions
    "interval": "The region that the row's group lies in, from its first to its last point; a bare "
    "value is both. The ends follow from the cuts, whether or not a person has such a value.",
    "set": "The labels of the region that the row's group lies in; a bare label is the only one.",
    "node": "The node of a hierarchy that is the region of the row's group.",
    "low": "The first point of the region that the row's group lies in.",
    "high": "The last point of the region that the row's group lies in.",
    "missing": "1 if missing values are part of the region that the row's group lies in, "
    "otherwise 0.",
}
EMPTY = "Empty if all values in the group are missing."
MISSED = {
    "interval": f"{EMPTY} If only some are missing, null follows the largest value.",
    "low": EMPTY,
    "high": EMPTY,
    "mean": f"{EMPTY} Missing values do not count in the mean.",
    "exact": "An empty cell is a missing value.",
}
GROUPED = "Numbered at random; rows with one number form a group."
OWN = {
    NODE: "Which part of the cuts of Oblivious() the row's group comes from; a random number.",
    REAL: "How many people of the row's group are in the table now.",
    PERSON: "Numbered at random; rows with one number are about one person.",
}
WEIGHED = "The mean of the group's rows, so that totals of the published rows stay."
LINKED = "Numbered at random; people and values with one number form a group."
PLAIN = {
    "sensitive": "Nothing: cells are as they came in.",
    "other": "Nothing: cells are as they came in.",
    PSEUDONYM: "Replaced by a keyed hash.",
}
FIRST = "As of the first release of the person in the series, even if it has changed since."


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


def codebook_of(
    manifest: Manifest,
    held: Mapping[str, HeldCells],
    decimals: Collection[str],
    cautions: Mapping[str, str],
) -> pl.DataFrame:
    """Return the codebook of a release, from its manifest and what its tables hold.

    `held` are the columns that are published as they are, those of linked tables under both names;
    `decimals` the quasi columns of numbers that are not all whole; `cautions` what analysts should
    know of columns.
    """
    lines = [
        (stem, line)
        for stem in stems(manifest.form)
        for line in (*_own(manifest, stem), *_table(manifest, stem, held, decimals))
    ]
    for name, linked in manifest.tables.items():
        own = [one for one in _own(manifest, name) if one["name"] in {RESERVED, PERSON}]
        lines += [(name, one) for one in (*own, *_carried(linked.columns, held, f"{name}."))]
    if manifest.later_round:
        for _, line in lines:
            line["done"] += f" {FIRST}" if "column" in line else ""
    rows = [
        (
            *(line.get(key, "") for key in HEADER[:-2]),
            cautions.get(line.get("column", ""), ""),
            stem,
        )
        for stem, line in lines
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(HEADER, pl.String), orient="row")
    escaped = manifest.escaped
    return table.with_columns(escape(column) for column in table) if escaped else table


def _own(manifest: Manifest, stem: str) -> Iterator[dict[str, str]]:
    """Yield what is said of the columns that a release has of its own."""
    if not manifest.grouped:
        return
    done = LINKED if manifest.form == TWO_TABLES else GROUPED
    told = {RESERVED: done} | {name: OWN[name] for name in manifest.own_columns}
    for name, what in told.items():
        if stem != PEOPLE or name != PERSON:
            yield {"name": name, "role": name, "type": "integer", "done": what}


def _table(
    manifest: Manifest,
    stem: str,
    held: Mapping[str, HeldCells],
    decimals: Collection[str],
) -> Iterator[dict[str, str]]:
    """Yield what is said of the columns of the first table, or of one of two."""
    form = manifest.form
    for column in manifest.columns:
        if not column.stands_in(stem):
            continue
        if column.quasi:
            whole = column.name not in decimals
            cut = manifest.cells is not None and not column.never_mix
            done = DONE | (REGION if cut else {})
            lines = _quasi(column, form, done, whole=whole)
            yield from (_done(column, line) for line in lines)
        else:
            yield from _carried([column], held)


def _done(column: StatedColumn, line: dict[str, str]) -> dict[str, str]:
    """Return a line with what was done to the cells of its column before anything else."""
    before = done_first(column.trim, column.date_format)
    carried = column.role in {"sensitive", "other"}
    done = before if carried and column.trim.words else f"{before} {line['done']}".strip()
    if column.survey_weight:
        done = WEIGHED
    return line | {"done": done, "role": column.role, "column": column.name}


def _quasi(
    column: StatedColumn, form: str, told: Mapping[str, str], *, whole: bool
) -> Iterator[dict[str, str]]:
    """Yield what is said of the columns that a quasi column is published as.

    `told` says what was done to each of them.
    """
    gap, dates = column.has_gap, column.dates
    kind = "text" if not column.has_ends else "date" if dates else "integer" if whole else "number"
    if form == TWO_TABLES or (column.has_ends and column.never_mix):
        parts: tuple[str, ...] = ("exact",)
    elif form == INTERVALS or not column.has_ends:
        parts = (str(column.kind),)
    else:
        parts = ("low", "high") if form == BOUNDS else ("mean", "low", "high")
        parts += ("missing",) * gap
    for part, spelled in zip(parts, column.published_as(form), strict=True):
        own = "number" if part == "mean" and not dates else kind
        done = f"{told[part]} {MISSED.get(part, '')}".strip() if gap else told[part]
        said = {"name": spelled, "type": own, "form": part, "done": done} | _domain(column)
        yield said | ({"type": "integer", "domain": "[0, 1]"} if part == "missing" else {})


def _domain(column: StatedColumn) -> dict[str, str]:
    if column.kind == "node":
        names = [node.name for node in column.tree.nodes]
        said = {"domain": f"{column.tree.leaves} values under {len(names)} nodes"}
        return said | ({"values": _json(names)} if len(names) <= FEW else {})
    found = column.values
    if column.kind == "set":
        said = {"domain": f"{len(found)} labels"}
        return said | ({"values": _json(found)} if len(found) <= FEW else {})
    return {"domain": _json(found)}


def _carried(
    columns: Sequence[StatedColumn], held: Mapping[str, HeldCells], front: str = ""
) -> Iterator[dict[str, str]]:
    """Yield what is said of columns that are published as they are."""
    for column in columns:
        name, role = column.name, column.role
        said = {"name": name, "form": "exact", "done": PLAIN[role]}
        known = {"type": "text"} if role == PSEUDONYM else held[f"{front}{name}"].line()
        yield _done(column, said | known)


def _json(values: Any) -> str:
    return json.dumps(values, ensure_ascii=False)
