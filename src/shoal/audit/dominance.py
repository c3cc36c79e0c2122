"""Thresholds and dominance, measured in every group of a release.

Statistical offices ask of each cell of a table that enough people contribute, and that no few of
them make up most of its total:

    threshold : a group has at least so many people
    (n, k)    : the n largest contributions are at most k % of the total
    p %       : the total without the two largest contributions is at least p % of the largest

Contributions are the published values of a numeric sensitive column, those of one person added up.
The rules are defined for values of at least 0. A tie counts as a breach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.table.schema import PERSON, REAL, RESERVED

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (3, 5, 10)
SHARES = ((1, 75), (2, 85))
PERCENT = 10
CLOSE = 1e-9  # of a total: what is as near is a tie


def group_sizes(rows: pl.DataFrame, *, series: bool = False) -> dict[str, Any]:
    """Count the groups with fewer people than each threshold; in a series, real ones."""
    whom = rows.select(RESERVED, PERSON).unique() if PERSON in rows.columns else rows
    sizes = whom.group_by(RESERVED).len()["len"]
    if series:
        real = pl.col(REAL).cast(pl.String).cast(pl.Int64)
        sizes = rows.group_by(RESERVED).agg(real.first())[REAL]
    return {
        "groups": len(sizes),
        "smallest": int(sizes.min() or 0),  # type: ignore[arg-type]
        "under": [[least, int((sizes < least).sum())] for least in SIZES],
    }


def dominance(rows: pl.DataFrame, name: str) -> dict[str, Any] | None:
    """Count the groups in which few make up most of the total of a column.

    None where the column holds something else than numbers, or a negative one.
    """
    numbers = rows[name].cast(pl.String).cast(pl.Float64, strict=False)
    known = rows[name].is_not_null()
    if numbers.is_null().ne_missing(~known).any() or numbers.null_count() == len(numbers):
        return None
    if (numbers.min() or 0) < 0:  # type: ignore[operator]
        return None
    whom = [PERSON] if PERSON in rows.columns else []
    each = rows.select(RESERVED, *whom).with_columns(value=numbers).drop_nulls("value")
    if whom:
        each = each.group_by(RESERVED, *whom).agg(pl.col("value").sum())
    groups = each.group_by(RESERVED).agg(
        total=pl.col("value").sum(),
        largest=pl.col("value").top_k(2).sort(descending=True),
        count=pl.len(),
    )
    totals, counts = groups["total"].to_list(), groups["count"].to_list()
    firsts = groups["largest"].to_list()
    return {
        "column": name,
        "groups": groups.height,
        "shares": [
            [n, k, sum(_over(total, top, n, k) for total, top in zip(totals, firsts, strict=True))]
            for n, k in SHARES
        ],
        "percent": [
            PERCENT,
            sum(
                _known(total, top, count)
                for total, top, count in zip(totals, firsts, counts, strict=True)
            ),
        ],
    }


def _over(total: float, top: Sequence[float], n: int, k: int) -> bool:
    """Return whether the n largest make up k % of a total or more."""
    return total > 0 and sum(top[:n]) >= k / 100 * total - CLOSE * total


def _known(total: float, top: Sequence[float], count: int) -> bool:
    """Return whether the second largest contributor knows the largest to within p %."""
    if total <= 0:
        return False
    rest = 0.0 if count < 3 else total - sum(top[:2])
    return rest <= PERCENT / 100 * top[0] + CLOSE * total
