"""Published cells as boxes over the ranks of the original table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.audit.cells import read_set
from shoal.audit.reading import ranks_between
from shoal.kernels.freeform.boxes import Boxes, label_words
from shoal.table.ends import EMPTY
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Coded
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


def _ranks_within(texts: pl.Series, column: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lowest and highest rank whose value lies in each interval."""
    if column.tree is not None:
        return _ranks_under(texts, column.tree, column.places)
    low, high, _ = ranks_between(texts, column)
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
