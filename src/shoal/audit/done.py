"""What a manifest says was done to cells, seen in them and, apart from them, in the codebook.

Numbers that were rounded are multiples of the step, and those that were cut off lie within their
thresholds. What the table cannot show, as a threshold that nobody reached, the codebook says too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.audit.cells import interval_ends
from shoal.release.codebook import WEIGHED
from shoal.table.forms import CODEBOOK, has_ends, spelled_as
from shoal.table.formulas import unescape_name
from shoal.table.trimming import odd_numbers, stated_trim

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from shoal.table.schema import Schema

BEFORE = ("First ", "Written as ", WEIGHED)  # how a codebook begins to say what was done first


def check_done(table: pl.DataFrame, columns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for every column with numbers that no such rounding or cutting leaves."""
    problems = []
    for column in columns:
        name, trim = column["name"], stated_trim(column)
        if not trim.words or name not in table.columns or column.get("survey_weight"):
            continue
        cells = table[name].unique().drop_nulls().cast(pl.String)
        if has_ends(column):
            cells = pl.concat([end.alias(name) for end in interval_ends(cells)])
        elif column["role"] == "quasi":
            continue  # labels and nodes
        if odd := odd_numbers(cells, trim):
            problems.append(f"Column {name!r} has {odd:,} numbers that were not {trim.words}.")
    return problems


def check_codebook(directory: Path, manifest: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return a sentence for every column of which the codebook says that something else was done.

    A codebook that cannot be read says nothing; its digest is compared elsewhere.
    """
    if CODEBOOK not in manifest["digests"]:
        return []
    named = unescape_name if manifest.get("escaped") else str
    try:
        lines = pl.read_csv(directory / CODEBOOK, columns=["name", "done"], infer_schema=False)
    except (OSError, pl.exceptions.PolarsError):
        return ["The codebook cannot be read."]
    said = {named(name): done for name, done in lines.fill_null("").iter_rows()}
    problems = []
    for column in manifest["columns"]:
        before = WEIGHED if column.get("survey_weight") else schema.done_to(column["name"])
        for name in spelled_as(column["name"], manifest["form"], interval=has_ends(column)):
            done = said.get(name, "")
            if not done.startswith(before) or done.removeprefix(before).strip().startswith(BEFORE):
                problems.append(
                    f"The codebook says of {name!r} that something else was done to it than the "
                    "manifest says."
                )
    return problems
