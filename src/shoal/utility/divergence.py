"""KL divergence of what is published from the original. Range: from 0, in bits; less is better.

Σ P(t) log2 (P(t) / Q(t)) over the distinct quasi and sensitive values t of the original. P is how
often t occurs; Q is what a reader reconstructs who spreads every published row evenly over its
cells, numbers in steps of the column's finest decimal, sensitive values as they are. A suppressed
row is spread over all quasi domains and all sensitive values (Kifer, Gehrke: Injecting Utility into
Anonymized Datasets. SIGMOD 2006).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.boxes import published_boxes
from shoal.audit.regularity import MatchGraph
from shoal.errors import InputError
from shoal.kernels.freeform.coverage import spread_density
from shoal.kernels.freeform.tree import build
from shoal.table.coded import Sensitive
from shoal.table.coding import QUANTITY, code_column
from shoal.utility.lossy import Measured, original_extent, original_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Coded


def kl_divergence(release: Measured) -> float | None:
    """Return the divergence, None without the original."""
    original = release.original
    if original is None:
        return None
    own, carried, values = _values(release.published, original)
    graph = MatchGraph(original.line, published_boxes(release.published, original))
    density = _density(graph, own, carried, values, _weights(release, original))
    columns = zip(original.quasi, release.boxes.quasi.values(), strict=True)
    everywhere = np.prod([original_extent(*both) for both in columns]) * values
    density += release.suppressed / everywhere
    if not (density > 0).all():
        msg = "The original has rows that no published row covers: it is of another release."
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
        both = pl.concat([known, published[column.name].cast(pl.String).fill_null("")])
        columns.append(code_column(both, kind=QUANTITY if column.numeric else "categorical"))
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
