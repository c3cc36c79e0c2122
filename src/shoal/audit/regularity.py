"""What published cells and original rows alone say about k-anonymity (HK, Definitions 1 and 2).

An original matches a published record when each of its values lies in the record's cell. Two
measures, neither of which sees the graph that the records were made from:

- how many published records each original matches;
- the largest k for which k disjoint assignments exist between originals and records. By König's
  theorem they do if and only if a k-regular subgraph of the match graph does, that is if a flow
  saturates: supply k from every original, demand k at every record, at most 1 on a pair. Originals
  (and records) with equal values are merged: a class of a originals and one of b records share the
  capacity a * b. Spread evenly over its pairs, a flow between classes is a fractional k-regular
  graph, and one exists in integers whenever one exists in fractions.

To that end published cells become boxes over the ranks of the original table.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import BOTH, read_set
from shoal.audit.reading import ranks_between
from shoal.kernels.freeform.boxes import (
    SCALE,
    SHIFT,
    UNBOUNDED,
    Boxes,
    FixedPoints,
    label_words,
    rank_points,
)
from shoal.kernels.freeform.coverage import count_covers, list_covers
from shoal.kernels.freeform.tree import build
from shoal.kernels.space import INTERVAL, SET
from shoal.table.ends import EMPTY
from shoal.table.files import load
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Coded, Space
    from shoal.table.column import Column
    from shoal.table.hierarchy import Tree


def published_boxes(published: pl.DataFrame, original: Coded) -> Boxes:
    """Return what each published row covers of the original's values.

    A cell that cannot be read covers nothing; the check against the manifest names it.
    """
    space = original.line
    words = label_words(space.kinds, space.offsets)
    masks = np.zeros((published.height, words[-1]), np.uint64)
    lows, highs = [], []
    labelled = 0
    for column in original.quasi:
        cells = published[column.name].cast(pl.String).fill_null(MISSING_LABEL)
        texts = cells.unique()
        which = cells.cast(pl.Enum(texts)).to_physical().to_numpy()
        if column.numeric or column.tree is not None:
            low, high = _ranks_within(texts, column)
            lows.append(low[which])
            highs.append(high[which])
        else:
            part = slice(words[labelled], words[labelled + 1])
            masks[:, part] = _labels_within(texts, column, part.stop - part.start)[which]
            labelled += 1
    shape = published.height, len(lows)
    return Boxes(
        np.ascontiguousarray(np.array(lows, np.int64).reshape(shape[::-1]).T),
        np.ascontiguousarray(np.array(highs, np.int64).reshape(shape[::-1]).T),
        masks,
    )


def whole_boxes(published: pl.DataFrame, original: Coded) -> tuple[Boxes, NDArray[np.int64]]:
    """Return boxes that cover all that published rows do, and the row of each.

    A row whose cells cover numbers and missing ones has a box for either.
    """
    boxes, rows = published_boxes(published, original), np.arange(published.height)
    place = 0
    for column in original.quasi:
        if not column.numeric and column.tree is None:
            continue
        if column.gap is not None:
            cells = published[column.name].cast(pl.String).fill_null(MISSING_LABEL)
            mixed = np.flatnonzero(cells.str.ends_with(BOTH).to_numpy()[rows])
            more = boxes.take(mixed)
            more.lows[:, place] = more.highs[:, place] = column.gap
            boxes = Boxes(
                np.concatenate([boxes.lows, more.lows]),
                np.concatenate([boxes.highs, more.highs]),
                np.concatenate([boxes.masks, more.masks]),
            )
            rows = np.concatenate([rows, rows[mixed]])
        place += 1
    return boxes, rows


def _ranks_within(texts: pl.Series, column: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and highest rank whose value lies in each interval.

    Where missing cells and numbers are covered, it is the numbers: a box has no gaps, and to match
    fewer is the private side.
    """
    if column.tree is not None:
        return _ranks_under(texts, column.tree, column.places)
    low, high, _ = ranks_between(texts, column)
    if column.gap is not None:
        alone = (texts == MISSING_LABEL).to_numpy()
        low, high = (np.where(alone, column.gap, end) for end in (low, high))
    return low, high


def _ranks_under(
    texts: pl.Series, tree: Tree, places: NDArray[np.int64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and highest rank under each named node."""
    assert places is not None
    node = {name: place for place, name in enumerate(tree.names)}
    found = np.array([node.get(text, -1) for text in texts])
    low = np.searchsorted(places, tree.first[found], "left")
    high = np.searchsorted(places, tree.last[found], "right") - 1
    return np.where(found < 0, EMPTY[0], low), np.where(found < 0, EMPTY[1], high)


def _labels_within(texts: pl.Series, column: Column, words: int) -> NDArray[np.uint64]:
    """Return the labels of each set as bits by rank."""
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    masks = np.zeros((len(texts), words), np.uint64)
    for place, text in enumerate(texts):
        for label in read_set(text) or ():
            rank = rank_of.get(label)
            if rank is not None:
                masks[place, rank // 64] |= np.uint64(1 << (rank % 64))
    return masks


FIRST_PAIRS = (
    3  # times k pairs of each distinct record at first; then four times as many, and so on
)


class MatchGraph:
    """Which originals match which published records, over distinct values.

    `records` are boxes in ranks of the original's values (as `GeneralizationGraph.recast` has
    them). Distinct originals are kept in tree order.
    """

    def __init__(self, space: Space, records: Boxes) -> None:
        points = rank_points(space.ranks, space.kinds, space.offsets)
        first, which, sizes = distinct_rows(space.ranks)
        # Ranks spread over one common width give the tree columns that compare.
        spread = SCALE // np.diff(space.offsets)
        interval = spread[space.kinds == INTERVAL]
        spans, masks = points.spans[first] * interval, points.masks[first]
        self.points = FixedPoints(spans, masks, spread[space.kinds == SET], points.words)
        order, self.tree = build(self.points, Boxes(spans, spans, masks))
        self.points = self.points._replace(spans=spans[order], masks=masks[order])
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        self.class_of = place[which]  # of each original
        self.originals = sizes[order]  # how many each class has
        halves = records.masks.view(np.uint32)
        keys = np.column_stack((records.lows, records.highs, halves)).astype(np.int64)
        first, self.record_class, self.records = distinct_rows(keys)
        lows, highs = records.lows[first] * interval, records.highs[first] * interval
        self.boxes = Boxes(lows, highs, records.masks[first])

    @cached_property
    def class_matches(self) -> NDArray[np.int64]:
        """How many published records each distinct original matches."""
        tree = self.tree
        scratch = np.empty(len(tree.starts), np.int64)
        counts = np.zeros(len(self.originals), np.int64)
        count_covers(
            self.points.spans, self.points.masks, self.points.words, *self.boxes, self.records,
            tree.starts, tree.ends, tree.lefts, tree.lows, tree.highs, tree.masks, scratch,
            np.zeros(len(tree.starts), np.int64), counts,
        )  # fmt: skip
        return counts

    @property
    def matches(self) -> NDArray[np.int64]:
        """How many published records each original matches."""
        return self.class_matches[self.class_of]

    def regular(self, k: int) -> bool:
        """Return whether there are k disjoint assignments from originals to records.

        Flows run over growing sets of pairs. One that saturates on some pairs is a certificate;
        only one that fails on all pairs is a refutation. Pairs of rarely matched originals are
        listed first, since they have least choice.
        """
        people = int(self.originals.sum())
        if k == 0:
            return True
        if int(self.records.sum()) != people or self.class_matches.min() < k:
            return False
        limit = min(FIRST_PAIRS * k, len(self.originals))
        while True:
            flow = self._flow(*self._pairs(limit), k)
            if flow == people * k or limit == len(self.originals):
                return flow == people * k
            limit = min(4 * limit, len(self.originals))

    def regularity(self, most: int) -> int:
        """Return the largest k up to `most` for which k disjoint assignments exist."""
        low, high = 0, most + 1
        trial = most
        while high - low > 1:
            if self.regular(trial):
                low = trial
            else:
                high = trial
            trial = (low + high) // 2
        return low

    def _pairs(self, limit: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return up to `limit` classes of originals under each distinct record."""
        tree = self.tree
        keys = np.empty((len(self.records), limit), np.int64)
        list_covers(
            self.points.spans, self.points.masks, self.points.words, *self.boxes, tree.starts,
            tree.ends, tree.lefts, tree.lows, tree.highs, tree.masks, self.class_matches,
            np.empty(len(tree.starts), np.int64), keys,
        )  # fmt: skip
        boxes, places = np.nonzero(keys != UNBOUNDED)
        return keys[boxes, places] & ((1 << SHIFT) - 1), boxes

    def _flow(self, points: NDArray[np.int64], boxes: NDArray[np.int64], k: int) -> int:
        """Return the largest flow from original classes to record classes over some pairs."""
        left, right = len(self.originals), len(self.records)
        source, sink = left + right, left + right + 1
        tails = np.concatenate((np.full(left, source), points, left + np.arange(right)))
        heads = np.concatenate((np.arange(left), left + boxes, np.full(right, sink)))
        room = self.originals[points] * self.records[boxes]
        capacities = np.concatenate((k * self.originals, room, k * self.records))
        flows = load(
            "ortools.graph.python.max_flow",
            extra="matching",
            what="The audit of a release without groups",
        )
        solver = flows.SimpleMaxFlow()
        solver.add_arcs_with_capacity(tails.astype(np.int32), heads.astype(np.int32), capacities)
        if solver.solve(source, sink) != solver.OPTIMAL:
            msg = "The flow over match classes could not be solved."
            raise RuntimeError(msg)
        return solver.optimal_flow()


def distinct_rows(
    rows: NDArray,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the first row of each class of equal rows, the class of each row, and their sizes."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (ordered[1:] != ordered[:-1]).any(1)
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(fresh) - 1
    return order[fresh], which, np.bincount(which).astype(np.int64)
