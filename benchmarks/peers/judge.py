"""One judgement for all: what a published table loses, and how near to a person's value it leads.

Every library spells its cells in its own way. They are spelled anew as Shoal spells them, as an
interval or a set of the values that the original table has, and then read by the audit of Shoal: so
the formula of the loss is one, whatever made the cells. A group is made of rows whose cells are
equal, unless the table names its groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import shoal
from shoal.audit.cells import read_cover, spell_set
from shoal.audit.exposure import LIKELY, nearness
from shoal.audit.matches import candidate_risks
from shoal.audit.published import open_published
from shoal.audit.regularity import MatchGraph, published_boxes
from shoal.release.stated import StatedColumn
from shoal.table.coded import code_table
from shoal.table.schema import RESERVED
from shoal.table.sensitive import Sensitive

if TYPE_CHECKING:
    from peers.cases import Case, Levels

Speller = Callable[[str], str]


@dataclass(frozen=True)
class Judgement:
    """What was measured on a published table.

    `risk` is the largest share of a group within ε of one member's value, `likely` the share of
    rows in groups where it is a half or more. Without groups, both are about the rows that a
    person matches, and `smallest` is the fewest rows that anybody matches.
    """

    gcp: float
    left_out: int
    smallest: int
    risk: float
    likely: float


def judge(published: pl.DataFrame, case: Case, style: str) -> Judgement:
    """Measure a published table; `style` says how its cells are spelled, see `spellers`."""
    spelled = respell(published, case, style)
    left_out = case.table.height - published.height
    loss = gcp(spelled, case)
    schema = shoal.Schema(quasi=case.quasi, sensitive=case.sensitive)
    if style == "without groups":
        return Judgement(loss, left_out, *_matches(spelled, case, schema))
    group = RESERVED if RESERVED in spelled.columns else None
    seen = open_published(spelled, schema, group)
    value = Sensitive.of((seen.sensitive(case.sensitive),))
    near = nearness(seen.groups, value, [case.epsilon])[0]
    likely = near.sizes[near.risks >= LIKELY].sum() / near.sizes.sum()
    return Judgement(loss, left_out, int(near.sizes.min()), float(near.risks.max()), float(likely))


def _matches(spelled: pl.DataFrame, case: Case, schema: shoal.Schema) -> tuple[int, float, float]:
    """Measure a release without groups against the original, as only its owner can."""
    original = code_table(case.table, schema)
    graph = MatchGraph(original.line, published_boxes(spelled, original))
    found = next(candidate_risks(spelled, original, graph, widths=[case.epsilon]))
    likely = float((found.risks >= LIKELY).mean())
    return int(graph.matches.min()), float(found.risks.max()), likely


def gcp(spelled: pl.DataFrame, case: Case) -> float:
    """Return the mean NCP over rows and quasi columns; a row left out is lost entirely."""
    left_out = case.table.height - spelled.height
    losses = []
    for name in case.quasi:
        counted = spelled[name].value_counts()
        cover, outside = read_cover(counted[name], _domain(case.table[name]))
        if outside.any():
            msg = f"{outside.sum()} distinct cells of {name!r} are outside its domain."
            raise ValueError(msg)
        total = cover.loss() @ counted["count"].to_numpy() + left_out
        losses.append(total / case.table.height)
    return float(np.mean(losses))


def _domain(column: pl.Series) -> StatedColumn:
    """Return what a manifest would say of an original column."""
    if column.dtype.is_numeric():
        ends: list[Any] = [column.min(), column.max()]
        return StatedColumn(column.name, "quasi", "interval", ends)
    labels = column.unique().sort().to_list()
    return StatedColumn(column.name, "quasi", "set", labels)


def respell(published: pl.DataFrame, case: Case, style: str) -> pl.DataFrame:
    """Return the table with its quasi cells spelled as Shoal spells them."""
    columns = []
    for name in case.quasi:
        cells = published[name].cast(pl.String)
        speller = spellers(case, name)[style]
        known = {cell: speller(cell) for cell in cells.unique().to_list()}
        columns.append(cells.replace_strict(known, return_dtype=pl.String))
    return published.with_columns(columns)


def spellers(case: Case, name: str) -> dict[str, Speller]:
    """Return how a cell of a column is read in each style."""
    numeric = case.table[name].dtype.is_numeric()
    return {
        "shoal": str,
        "without groups": str,
        "anonypy": anonypy_range if numeric else anonypy_set,
        "nodes": node_speller(case.hierarchies[name], numeric=numeric),
    }


def anonypy_range(cell: str) -> str:
    """Spell '20-29' as '[20, 29]'; numbers below 0 do not occur in the tables here."""
    low, _, high = cell.partition("-")
    return f"[{low}, {high}]" if high else low


def anonypy_set(cell: str) -> str:
    """Spell 'b,a' as a set, in one order; labels of the tables here have no commas."""
    return spell_set(sorted(cell.split(",")))


def node_speller(levels: Levels, *, numeric: bool) -> Speller:
    """Return what spells a node of a hierarchy as the values of the table that lie under it."""
    under: dict[str, set[int | str]] = {}
    for level in levels:
        for value, node in zip(levels[0], level, strict=True):
            under.setdefault(str(node), set()).add(value)

    def spell(cell: str) -> str:
        values = sorted(under[cell])
        if not numeric:
            return spell_set([str(value) for value in values])
        low, high = values[0], values[-1]
        return str(low) if low == high else f"[{low}, {high}]"

    return spell
