"""What losses are measured on: a published table, and the original where a formula needs it.

One of them is as long as the others together: the KL divergence of what is published from the
original, from 0, in bits; less is better. It is

Σ P(t) log2 (P(t) / Q(t)) over the distinct quasi and sensitive values t of the original. P is how
often t occurs; Q is what a reader reconstructs who spreads every published row evenly over its
cells, numbers in steps of the column's finest decimal, sensitive values as they are. A suppressed
row is spread over all quasi domains and all sensitive values (Kifer, Gehrke: Injecting Utility into
Anonymized Datasets. SIGMOD 2006).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.cells import alike
from shoal.audit.files import code_original
from shoal.audit.published import open_checked, plain_text
from shoal.audit.regularity import MatchGraph, whole_boxes
from shoal.errors import InputError
from shoal.kernels.freeform.coverage import spread_density
from shoal.kernels.freeform.tree import build
from shoal.table.coding import QUANTITY, code_lenient
from shoal.table.reading import read_table, take_frame
from shoal.table.schema import RESERVED
from shoal.table.sensitive import Sensitive
from shoal.utility.columns import Intervals, Spread
from shoal.utility.queries import BoxTable
from shoal.utility.sets import Steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.principles.groups import Groups
    from shoal.release.manifest import Manifest
    from shoal.table.coded import Coded
    from shoal.table.column import Column


@dataclass(frozen=True, eq=False)
class Measured:
    """A published table with its boxes, and the original (None where it is not at hand)."""

    published: pl.DataFrame
    manifest: Manifest
    boxes: BoxTable
    original: Coded | None

    @classmethod
    def of(
        cls, source: Any, original: Any = None, hierarchies: Mapping[str, object] | None = None
    ) -> Measured:
        """Take a release or its directory; a release knows its original and its hierarchies."""
        if isinstance(source, str | Path):
            read = open_checked(Path(source))
            published, manifest = read.table, read.stated
            boxes = BoxTable.of(published, manifest, read.schema)
        else:
            published, manifest = plain_text(source), source.manifest
            boxes = source.boxes
            original = source.given if original is None else original
            hierarchies = source.listed
        coded = _coded(original, manifest, hierarchies)
        if coded is not None:  # columns stand in the order of the boxes
            known = {column.name: column for column in coded.quasi}
            coded = replace(coded, quasi=tuple(known[name] for name in boxes.quasi))
        return cls(published, manifest, boxes, coded)

    @property
    def suppressed(self) -> int:
        """How many rows were left out."""
        return self.manifest.suppressed or 0

    @property
    def rows(self) -> int:
        """How many rows there were, those left out included."""
        return self.published.height + self.suppressed

    @cached_property
    def groups(self) -> Groups | None:
        """The published groups; None where every record was recast on its own."""
        return None if not self.manifest.grouped else alike(self.published, (RESERVED,))

    @cached_property
    def box_of(self) -> NDArray[np.int64]:
        """The box of each published row."""
        assert self.boxes.rows.order is not None
        found = np.empty(self.published.height, np.int64)
        found[self.boxes.rows.order] = np.repeat(np.arange(len(self.boxes.sizes)), self.boxes.sizes)
        return found

    def by_box(self, place: int, by_cell: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is known of the distinct cells of a quasi column for each box."""
        return by_cell[self.boxes.cells[place]]

    def mean(self, by_box: NDArray[np.float64], *, suppressed: float) -> float:
        """Return the mean over all rows, each suppressed one counting as so much."""
        return float((by_box @ self.boxes.sizes + suppressed * self.suppressed) / self.rows)


def _coded(
    original: Any, manifest: Manifest, hierarchies: Mapping[str, object] | None
) -> Coded | None:
    """Code the original, and raise where the release cannot have been made from it."""
    if original is None:
        return None
    table = read_table(original) if isinstance(original, str | Path) else take_frame(original)
    coded = code_original(table, manifest, hierarchies)
    rows = manifest.rows + (manifest.suppressed or 0)
    if len(coded) != rows:
        msg = (
            f"The release was made from {rows} rows, but the original has {len(coded)}. Give the "
            "table that the release was made from."
        )
        raise InputError(msg)
    return coded


def ends_in_units(
    column: Column, cells: Intervals
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the values of an original column, and the ends of published cells, in units.

    The original may have more decimals than the ends that are published of it.
    """
    own = Steps.of(column.known, dates=column.dates)
    steps = max(own, cells.steps, key=lambda one: one.units)
    finer, shift = cells.steps.shift(steps)
    ends = (cells.lows * finer + shift, cells.highs * finer + shift)
    return steps.places(column.known), *ends


def original_sizes(column: Column, cells: Spread) -> NDArray[np.float64]:
    """Return how many values of the original's domain each published cell holds."""
    if not isinstance(cells, Intervals):
        return cells.sizes
    _, lows, highs = ends_in_units(column, cells)
    return cells.holding(highs - lows + 1)


def original_extent(column: Column, cells: Spread) -> float:
    """Return how many values the domain of an original column has."""
    if not isinstance(cells, Intervals):
        return float(column.distinct)
    values, _, _ = ends_in_units(column, cells)
    return float(values[-1] - values[0] + 1) + (column.gap is not None)


def kl_divergence(release: Measured) -> float | None:
    """Return the divergence, None without the original."""
    original = release.original
    if original is None:
        return None
    own, carried, values = _values(release.published, original)
    boxes, rows = whole_boxes(release.published, original)
    graph, weights = MatchGraph(original.line, boxes), _weights(release, original)
    density = _density(graph, own, carried[rows], values, weights[rows])
    columns = zip(original.quasi, release.boxes.quasi.values(), strict=True)
    everywhere = np.prod([original_extent(*both) for both in columns]) * values
    density += release.suppressed / everywhere
    if not (density > 0).all():
        msg = (
            "The original has rows that no published row covers, so the release was made from "
            "another table. Give that table."
        )
        raise InputError(msg)
    _, which, counts = np.unique(
        graph.class_of * values + own, return_inverse=True, return_counts=True
    )
    return max(0.0, float(np.mean(np.log2(counts[which] / density))))


def _values(
    published: pl.DataFrame, original: Coded
) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Code the sensitive values of original and published rows alike; return their number too."""
    if not original.sensitive:
        rows = len(original), published.height
        return np.zeros(rows[0], np.int32), np.zeros(rows[1], np.int32), 1
    columns = []
    for column in original.sensitive:
        known = column.spellings.gather(column.codes).alias(column.name)
        both = pl.concat([known, published[column.name].cast(pl.String)]).replace("", None)
        columns.append(code_lenient(both, kind=QUANTITY if column.numeric else "categorical"))
    value = Sensitive.of(tuple(columns))
    split = len(original)
    return value.codes[:split].copy(), value.codes[split:].copy(), value.distinct


def _weights(release: Measured, original: Coded) -> NDArray[np.float64]:
    """Return for each published row one divided by the number of points that it spreads over."""
    points = np.ones(len(release.boxes.sizes))
    for place, (column, cells) in enumerate(
        zip(original.quasi, release.boxes.quasi.values(), strict=True)
    ):
        points *= release.by_box(place, original_sizes(column, cells))
    return 1 / points[release.box_of]


def _density(
    graph: MatchGraph,
    own: NDArray[np.int32],
    carried: NDArray[np.int32],
    values: int,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Sum the weights of the published rows that cover each original row and carry its value."""
    order, tree = build(graph.points, graph.boxes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    records = np.argsort(place[graph.record_class], kind="stable")
    density = np.empty(len(own))
    spread_density(
        graph.points.spans, graph.points.masks, graph.points.words,
        np.concatenate([[0], np.cumsum(graph.originals)]).astype(np.int64),
        np.argsort(graph.class_of, kind="stable"), own, *graph.boxes.take(order),
        np.concatenate([[0], np.cumsum(graph.records[order])]).astype(np.int64),
        carried[records], weights[records], tree.starts, tree.ends, tree.lefts, tree.lows,
        tree.highs, tree.masks, np.empty(len(tree.starts), np.int64),
        np.empty(len(order), np.int64), np.zeros(values), density,
    )  # fmt: skip
    return density
