"""What Spark cannot do, refused before it is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.ask.options import is_said, options_of
from shoal.engines.spark.reading import is_spark_frame
from shoal.errors import UsageError, option
from shoal.methods.choice import choose_method
from shoal.progress import never, untold
from shoal.runs.checks import check_named, reads_files
from shoal.table.databases.access import is_address, is_outlet
from shoal.table.forms import TWO_TABLES
from shoal.table.reading import STDIN

if TYPE_CHECKING:
    from shoal.runs.run import Run

ELSEWHERE = "Use Local(), or leave this option out."
UNHEARD = {
    "enough": ("workers cannot be stopped while they search", never),
    "better": ("workers report only at the end", untold),
}


def check_spread(run: Run) -> None:
    """Raise before any work is done where something is asked that Spark cannot do."""
    asked = {n: (one.not_on_spark, one.usual) for n, one in options_of(run.asks).items()}
    for name, (reason, usual) in (asked | UNHEARD).items():
        said = getattr(run if hasattr(run, name) else run.schema, name) if reason else None
        if is_said(said) and said is not usual:
            msg = f"{option(name)} is not available with Spark(): {reason}. {ELSEWHERE}"
            raise UsageError(msg)
    if run.form == TWO_TABLES:
        msg = f"Spark() cannot write the form two-tables: choose another {option('form')}."
        raise UsageError(msg)
    if run.format not in {None, "parquet"}:
        msg = (
            f"Spark() writes a directory of Parquet files, not the format {run.format!r}. Leave "
            f"out {option('format')}."
        )
        raise UsageError(msg)
    if run.schema.bounds:
        msg = f"Public bounds of columns cannot be combined with Spark(). {ELSEWHERE}"
        raise UsageError(msg)
    if run.output is not None and is_outlet(str(run.output)):
        msg = (
            "Spark() writes into a directory that all its workers can reach. Name one: "
            f"{option('output')}."
        )
        raise UsageError(msg)
    compared = [one for one in run.requirements if not one.principle.by_itself]
    if compared and run.schema.never_mix:
        msg = (
            f"{compared[0]!r} compares groups with the whole table, and on Spark "
            f"{option('never_mix')} splits the table before the search. {ELSEWHERE}"
        )
        raise UsageError(msg)
    method = choose_method(run.method, run.requirements, run.form)
    if not method.grouped:
        msg = f"{method!r} forms no groups and needs the whole table on one machine. {ELSEWHERE}"
        raise UsageError(msg)


def check_source(run: Run) -> None:
    """Raise, before Spark is started, where a table is nothing that it reads."""
    check_named(run.table)
    if not reads_files(run.table):
        if not is_spark_frame(run.table):
            msg = (
                f"Spark() reads Spark data frames and files, but got a {type(run.table).__name__}. "
                "Use Local(), or write the table to Parquet first."
            )
            raise UsageError(msg)
        return
    places = [run.table] if isinstance(run.table, str | Path) else list(run.table)
    if STDIN in map(str, places) or any(map(is_address, places)):
        msg = (
            "Spark reads files and directories, not standard input or a database. Copy the "
            "table to a file first."
        )
        raise UsageError(msg)
