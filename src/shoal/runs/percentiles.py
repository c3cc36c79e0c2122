"""Thresholds that are percentiles: they are published, so they follow from published rows alone.

Rows with missing cells that are dropped, and rows beyond the number that is published of a person,
are left out before a percentile is taken. Who else is left out only a search can say: together with
that, a percentile is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import UsageError, option
from shoal.exact import read_share
from shoal.release.layout import Randomness
from shoal.table.coded import kept_rows
from shoal.table.coding import code_persons
from shoal.table.partition import PersonOf

if TYPE_CHECKING:
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


def offered_rows(run: Run, table: pl.DataFrame) -> pl.Series | None:
    """Return which rows may be published: complete ones, of each person no more than are asked for.

    Which of a person's those are is left to chance. The others leave no trace. Nothing is returned
    where neither percentiles nor the number of rows of a person ask for it.
    """
    schema = run.schema
    capped = schema.person is not None and schema.most_rows is not None
    if not capped and not _said(schema):
        return None
    stays = kept_rows(table, schema, run.missing)
    if not capped:
        return stays
    whom = PersonOf(code_persons(table[str(schema.person)].filter(stays)))
    kept = stays.arg_true().filter(pl.Series(offered_of(run, whom)))
    return pl.int_range(table.height, eager=True).is_in(kept.implode())


def offered_of(run: Run, whom: PersonOf) -> NDArray[np.bool_]:
    """Return which rows of people may be published, by chance as many of each as are asked for."""
    most = run.schema.most_rows
    if most is None:
        return np.ones(len(whom.labels), np.bool_)
    (order,) = Randomness(run.seed).permutations(len(whom.labels))
    return whom.turns(order) < most


def offered_linked(run: Run, table: pl.DataFrame, schema: Schema) -> pl.Series | None:
    """Return the rows of a linked table that percentiles are taken of, where there are any."""
    return kept_rows(table, schema, run.missing) if _said(schema) else None


def check_published(run: Run, prepared: Prepared, task: Task) -> None:
    """Raise where a search left out rows that percentiles were taken of."""
    _refuse(_said(run.schema), len(prepared.task.coded) - len(task.coded))
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
