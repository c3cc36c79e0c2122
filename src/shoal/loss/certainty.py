"""NCP and GCP, the normalized and global certainty penalties. Range 0 to 1; less is better.

NCP of a cell: interval (high - low) / (max - min of the column); set (labels - 1) / (distinct
labels - 1); node (values under it - 1) / (values - 1), of published rows; 0 for a column of one
value; 1 for every cell of a suppressed row. GCP is its mean over rows and quasi columns. Where rows
are suppressed, the range and the labels are those of the rows that are published: a wider range
would tell what was left out, a narrower one never flatters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.schema.table import widths

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.release.spans import Spans
    from shoal.schema.coding import Column


def ncp_by_group(column: Column, spans: Spans) -> NDArray[np.float64]:
    """Return the NCP of each cell of a column, one for a group or for a recast record."""
    if column.tree is not None:
        return column.tree.ncp[column.nodes(spans.low, spans.high)]
    if column.numeric:
        return widths(column, spans.low, spans.high)
    assert spans.labels is not None
    return (spans.labels - 1) / max(column.distinct - 1, 1)


def mean_over_rows(by_cell: NDArray[np.float64], rows: NDArray[np.int64], suppressed: int) -> float:
    """Return the mean over all rows, a suppressed row counting as lost entirely.

    `rows` counts the published rows that bear each cell.
    """
    return float((by_cell @ rows + suppressed) / (rows.sum() + suppressed))
