"""How the values of a column are distributed over the published rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.table.dates import units_as_dates

if TYPE_CHECKING:
    from shoal.table.coding import Column

BARS = 30  # of a histogram
LABELS = 12  # that have a bar of their own
TAIL = 0.005  # of the rows at either end that share the outermost bar


def distribution(column: Column) -> dict[str, Any]:
    """Return the share of rows by value: equal widths of numbers, or the most frequent labels."""
    counts = np.bincount(column.codes, minlength=column.distinct)
    if column.numeric and column.distinct > LABELS:
        return {"column": column.name} | _histogram(column, counts)
    frequent = np.argsort(-counts, kind="stable")[:LABELS]
    shown = np.sort(frequent) if column.numeric else frequent
    rest = len(column.codes) - int(counts[shown].sum())
    return {
        "column": column.name,
        "labels": [
            {"label": column.spellings[int(rank)], "share": float(counts[rank] / counts.sum())}
            for rank in shown
        ],
        "others": column.distinct - len(shown),
        "rest": float(rest / counts.sum()),
    }


def _histogram(column: Column, counts: np.ndarray) -> dict[str, Any]:
    values = column.numbers.astype(np.float64)
    reached = np.cumsum(counts) / counts.sum()
    first = float(values[np.searchsorted(reached, TAIL)])
    place = int(np.searchsorted(reached, 1 - TAIL))
    last = float(values[min(place, len(values) - 1)])
    if first == last:
        first, last = float(values[0]), float(values[-1])
    edges = np.linspace(first, last, BARS + 1)
    places = np.clip(np.searchsorted(edges, values, "right") - 1, 0, BARS - 1)
    shares = np.bincount(places, weights=counts, minlength=BARS) / counts.sum()
    middle = float(values[np.searchsorted(reached, 0.5)])
    return {
        "dates": column.dates,
        "edges": edges.tolist(),
        "shares": shares.tolist(),
        "median": spelled(middle, dates=column.dates),
    }


def spelled(value: float, *, dates: bool) -> str:
    """Write a number or a day."""
    if dates:
        return str(units_as_dates(np.array([round(value)], np.int64), 1)[0])
    return f"{value:,.6g}"
