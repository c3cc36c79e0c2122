"""`shoal init`: a schema file to start from, with a comment for every decision."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show


def init(
    table: show.Table,
    output: Annotated[
        str, typer.Option("--output", "-o", help="Schema file to write.")
    ] = "shoal.toml",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    encoding: show.Encoding = None,
    quiet: show.Quiet = False,
) -> None:
    """Write a commented schema file for a table: roles, types, a requirement, and why."""
    import shoal
    from shoal.runs.starter_file import starter
    from shoal.table.databases.access import is_address, to_keep
    from shoal.table.reading import read_table
    from shoal.views.commands import Command

    target = Path(output)
    if target.is_dir() or not target.absolute().parent.is_dir():
        msg = f"Cannot write {target.name!r}: it is a directory, or its directory is missing."
        raise shoal.OutputError(msg)
    if os.path.realpath(target) == os.path.realpath(table):
        msg = "The schema file would replace the table. Choose another --output."
        raise shoal.UsageError(msg)
    if os.path.lexists(target) and not force:
        msg = f"{target.name!r} exists. Choose another --output, or replace it with --force."
        raise shoal.OutputError(msg)
    show.announce_compiling(quiet=quiet)
    frame = read_table(table, encoding=encoding)
    folder = target.absolute().parent
    if is_address(table):
        place = to_keep(table, folder)
    else:
        place = Path(os.path.relpath(table, folder)).as_posix()
    text, complete = starter(frame, place, encoding, file=target.name)
    write_whole(target, text)
    next_step = (
        f"Look it over, then: {Command('anonymize', (), (('schema', output),)).line}"
        if complete
        else "No usable quasi column was found: name some in it, and what must hold."
    )
    show.note(f"Wrote {output}. {next_step}", quiet=quiet)


def write_whole(target: Path, text: str) -> None:
    """Write a file beside, then put it in its place."""
    import shoal

    staged = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        staged.write_text(text, "utf-8")
        staged.replace(target)
    except OSError as problem:
        msg = f"Cannot write {target.name!r}: {problem.strerror}."
        raise shoal.OutputError(msg) from None
    finally:
        staged.unlink(missing_ok=True)
