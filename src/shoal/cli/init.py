"""`shoal init`: a schema file to start from, with a comment for every decision."""

from __future__ import annotations

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
    from shoal.views.commands import Command

    show.announce_compiling(quiet=quiet)
    complete = shoal.init(table, output, encoding=encoding, force=force)
    next_step = (
        f"Look it over, then: {Command('anonymize', (), (('schema', output),)).line}"
        if complete
        else "No usable quasi column was found: name some in it, and what must hold."
    )
    show.note(f"Wrote {output}. {next_step}", quiet=quiet)
