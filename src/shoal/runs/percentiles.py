"""Thresholds that are percentiles: they are published, so they follow from published rows alone.

Rows with missing cells that are dropped, and rows beyond the number that is published of a person,
are left out before a percentile is taken. Who else is left out only a search can say: together with
that, a percentile is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from shoal.errors import UsageError, option
from shoal.exact import read_share
from shoal.release.layout import Randomness
from shoal.table.coded import kept_rows
from shoal.table.coding import code_persons
from shoal.table.partition import PersonOf

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.runs.checks import Prepared
    from shoal.runs.run import Run
    from shoal.table.schema import Schema

NUMBER = "Give the threshold as a number instead."


def check_percentiles(run: Run) -> None:
    """Raise where rows may be left out that a percentile would be taken of."""
    said = _said(run.schema, *run.schema.linked.values())
    if said and read_share(run.suppress):
        msg = (
            f"{said} takes its threshold from the rows of the table, and {option('suppress')} may "
            "leave some of them out: the threshold would then show something about rows that are "
            f"not published. {NUMBER}"
        )
        raise UsageError(msg)


def offered_rows(
    run: Run, table: pl.DataFrame
) -> tuple[pl.Series | None, NDArray[np.int64] | None]:
    """Return the rows that percentiles are taken of, and the turn of each row among its person's.

    Nothing where there are no percentiles; no turns where all rows of a person may be published.
    """
    schema = run.schema
    if not _said(schema):
        return None, None
    stays = kept_rows(table, schema, run.missing)
    if schema.person is None or schema.most_rows is None:
        return stays, None
    whom = PersonOf(code_persons(table[schema.person].filter(stays)))
    (order,) = Randomness(run.seed).permutations(len(whom.labels))
    turns = whom.turns(order)
    kept = stays.arg_true().filter(pl.Series(turns < schema.most_rows))
    return pl.int_range(table.height, eager=True).is_in(kept.implode()), turns


def offered_linked(run: Run, table: pl.DataFrame, schema: Schema) -> pl.Series | None:
    """Return the rows of a linked table that percentiles are taken of, where there are any."""
    return kept_rows(table, schema, run.missing) if _said(schema) else None


def check_published(run: Run, prepared: Prepared, task: Task) -> None:
    """Raise where a search left out rows that percentiles were taken of."""
    whole, offered = prepared.task.coded, len(prepared.task.coded)
    if whole.turns is not None:
        offered = int((whole.turns < (whole.most_rows or 0)).sum())
    _refuse(_said(run.schema), offered - len(task.coded))
    for one in task.coded.linked:
        asked, linked = run.schema.linked[one.name], prepared.linked[one.name]
        stays = offered_linked(run, linked.table, asked)
        if stays is not None:
            _refuse(_said(asked), int(stays.sum()) - len(one.rows))


def _refuse(said: str | None, left_out: int) -> None:
    if said and left_out:
        msg = (
            f"{said} takes its threshold from the rows of the table, and {left_out:,} of them are "
            "not published, because the people they are about have no group otherwise: the "
            f"threshold would show something about them. {NUMBER}"
        )
        raise UsageError(msg)


def _said(*schemas: Schema) -> str | None:
    """Return the first percentile of schemas as it is asked for, None where there is none."""
    for schema in schemas:
        for name, trim in schema.trims.items():
            for side, share in trim.percentiles:
                return option(side, f"{name}={share}")
    return None
