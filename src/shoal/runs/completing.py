"""Completed tables written for other tools: draws of who has which value, never records."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import NotAchievable, UsageError, option
from shoal.progress import Progress, silent, with_bar
from shoal.release.manifest import (
    APPROXIMATE,
    EXACT,
    MANIFEST,
    REFUSED,
    VALID,
    NoConclusion,
    caveats,
)
from shoal.release.places import check_output, new_directory
from shoal.runs.correcting import spelled
from shoal.runs.estimating import check_asked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shoal.estimation.completing import Completed, Problem
    from shoal.estimation.opening import Analysable
    from shoal.table.column import Column

LONG, POOLING, README = "completed.csv", "pool.R", "README.txt"
OWN = (".imp", ".id", "drawn")


@with_bar
def complete(
    source: Any,
    directory: str | Path,
    *,
    tables: int = 20,
    chains: int = 2,
    of: str | None = None,
    seed: int | None = None,
    anyway: bool = False,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write completed tables of a release into a new directory, for mice, mitools and other tools.

    A completed table is one draw of who in a group has which value, by the model of `estimate`.
    Analyse each of them and pool the results by Rubin's rules; none of them is a record.

    Parameters
    ----------
    source : a release, or its directory; only what is published is used.
    directory : where the tables go: a long file, a program for R that pools, and a README.
    tables : how many.
    chains : how many chains draw them.
    of : the sensitive column. Default: the only one.
    seed : of all that is drawn; by default the operating system's.
    anyway : whether to write tables of a release that is refused, marked so.
    """
    from shoal.estimation import judging
    from shoal.estimation.completing import complete_tables

    check_asked(tables, chains, seed)
    check_outside(directory)
    problem = _problem(source, of)
    release, column = problem.release, problem.release.values[problem.column]
    reasons = judging.before(problem)
    seen: list[judging.Diagnosis] = []

    def settled(found: Completed) -> bool:
        seen[:] = [judging.Diagnosis.of(found)]
        return seen[0].apart <= judging.APART

    if not reasons or anyway:
        completed = complete_tables(
            problem, chains=chains, seed=seed, tables=tables, settled=settled, progress=progress
        )
        reasons += seen[0].reasons()
        if judging.needs_correction(release.manifest, seen[0]):
            reasons.append(judging.uncorrected(release.manifest, seen[0]))
    if reasons and not anyway:
        raise NotAchievable(" ".join([*reasons, judging.SERVES]))
    status, reason = VALID, EXACT
    limits = reasons or caveats(release.manifest)
    if limits:
        status = REFUSED if reasons else APPROXIMATE
        reason = " ".join(limits)
    long = long_table(release, column, completed.tables(tables))
    with new_directory(directory) as staged:
        with (staged / LONG).open("wb") as file:  # Polars opens no name that is not UTF-8
            long.write_csv(file)
        program = files("shoal.release.loaders").joinpath(POOLING).read_text("utf-8")
        (staged / POOLING).write_text(program, "utf-8", newline="\n")
        unsure = "not to be used" if judging.follows_values(release.manifest) else "approximate"
        about = {"tables": tables, "rows": release.rows, "column": column.name}
        told = TOLD.format(**about, status=status, unsure=unsure)
        (staged / README).write_text(f"{told}\n\n{reason}\n", "utf-8", newline="\n")
    names = [str(Path(directory) / name) for name in (LONG, POOLING, README)]
    return {"files": names, "tables": tables, "status": status, "reason": reason}


def _problem(source: Any, of: str | None) -> Problem:
    """Return what is to be completed: one sensitive column of a release."""
    from shoal.estimation.completing import Problem
    from shoal.estimation.opening import open_release

    try:
        release = open_release(source)
    except NoConclusion as refusal:
        raise NotAchievable(str(refusal)) from None
    column = release.value(of)
    taken = sorted({*OWN} & {*release.quasi, column.name})
    if taken:
        msg = f"Column {taken[0]!r} has a name that completed tables need for themselves."
        raise UsageError(msg)
    return Problem(release, column.name)


TOLD = """\
These are draws, not records.

completed.csv holds {tables} completed tables of {rows} rows, one below the other. In each of them a
model decided who in a group has which {column}. The release does not say that, so a row tells you
nothing certain about a person. Rows with drawn = true have drawn values; rows with drawn = false
have values that follow from the release.

.imp  number of the completed table; 0 is the table with unknown values left empty, as mice expects
.id   number of the row, the same person in every table
drawn whether the value was drawn

Analyse all tables and pool the results by Rubin's rules. In R:

  source("pool.R")
  tables <- read_completed(".")
  mice::pool(with(as_mids(tables), lm(...)))
  mitools::MIcombine(with(as_imputations(tables), lm(...)))

An analysis of a single table gives standard errors that are too small. Where the fraction of
missing information (fmi) of a pooled quantity is 0.3 or more, the quantity is {unsure}.
The status below holds for terms that the model has: smooth curves of each quasi-identifier, each
value of a number with at most five of them, labels, and products of two numbers. Products of labels
or of three columns, and steps as fine as age == 40, are approximate at best.

Status of estimates from these tables: {status}"""


def long_table(
    release: Analysable, column: Column, orders: Iterable[NDArray[np.int32]]
) -> pl.DataFrame:
    """Return completed tables one below the other, the one without drawn values first."""
    from shoal.estimation.opening import settled_values

    known = settled_values(release.starts, column)
    members = pl.DataFrame({name: _cells(one) for name, one in release.quasi.items()})
    if release.weights is not None:
        weight = str(release.manifest.survey_weight)
        members = members.with_columns(pl.Series(weight, release.weights))
    values = _cells(column)
    unknown = values.zip_with(pl.Series(known), pl.Series([None], dtype=values.dtype))
    drawn = [unknown, *(values.gather(order) for order in orders)]
    return pl.concat(
        members.with_columns(one, drawn=pl.Series(~known)).select(
            pl.lit(number).alias(".imp"), pl.Series(".id", np.arange(1, release.rows + 1)), pl.all()
        )
        for number, one in enumerate(drawn)
    )


def check_outside(directory: str | Path) -> None:
    """Raise where completed tables would lie in a release, whose files are complete, or replace."""
    place = Path(os.path.realpath(directory))
    for one in (place, *place.parents):
        if (one / MANIFEST).exists():
            msg = (
                f"{one.name!r} is a release directory, and completed tables are not part of a "
                f"release. Choose another {option('output')}."
            )
            raise UsageError(msg)
    check_output(directory, format="csv", linkage=None, force=None)


def _cells(column: Column) -> pl.Series:
    """Return the cells of a column as they are published, numbers as numbers."""
    cells = spelled(column)
    if not column.numeric or column.dates:
        return cells
    return pl.Series(column.name, np.asarray(column.numbers)[column.codes])
