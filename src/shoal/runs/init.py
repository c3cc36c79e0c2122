"""Writing a schema file to start from (apart from what it says, which is in `starter_file`)."""

from __future__ import annotations

import os
from pathlib import Path

from shoal.errors import OutputError, UsageError
from shoal.runs.starter_file import Ask, starter
from shoal.table.databases.access import is_address, to_keep
from shoal.table.reading import read_table
from shoal.wording import option


def init(
    table: str | Path,
    output: str | Path = "shoal.toml",
    *,
    query: str | None = None,
    sheet: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    force: bool = False,
    ask: Ask | None = None,
) -> bool:
    """Write a commented schema file for a table; returns whether it can be run as it is.

    Parameters
    ----------
    table : where the table is.
    output : the schema file to write.
    query, sheet, delimiter, encoding : how it is read, as for `anonymize`.
    force : whether a file that exists is replaced.
    ask : called with each question that decides what is proposed, and what is taken for its answer
        if there is none; without it nothing is asked.
    """
    target, table = Path(output), str(table)
    if target.is_dir() or not target.absolute().parent.is_dir():
        msg = f"Cannot write {target.name!r}: it is a directory, or its directory is missing."
        raise OutputError(msg)
    if os.path.realpath(target) == os.path.realpath(table):
        msg = f"The schema file would replace the table. Choose another {option('output')}."
        raise UsageError(msg)
    if os.path.lexists(target) and not force:
        msg = (
            f"{target.name!r} exists. Choose another {option('output')}, or replace it with "
            f"{option('force')}."
        )
        raise OutputError(msg)
    how = {"query": query, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    frame = read_table(table, **how)
    folder = target.absolute().parent
    if is_address(table):
        place = to_keep(table, folder)
    else:
        place = Path(os.path.relpath(table, folder)).as_posix()
    text, complete = starter(frame, place, reading=how, file=target.name, ask=ask)
    _write_whole(target, text)
    return complete


def _write_whole(target: Path, text: str) -> None:
    """Write a file beside, then put it in its place."""
    staged = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        staged.write_text(text, "utf-8")
        staged.replace(target)
    except OSError as problem:
        msg = f"Cannot write {target.name!r}: {problem.strerror}."
        raise OutputError(msg) from None
    finally:
        staged.unlink(missing_ok=True)
