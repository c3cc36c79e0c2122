"""`shoal complete`: completed tables of a release, for other tools."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show
from shoal.cli.estimate import Anyway, Chains, Of, Release, Seed, Tables


def complete(
    directory: Release,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="New directory for the completed tables.")
    ] = None,
    tables: Tables = 20,
    chains: Chains = 2,
    of: Of = None,
    anyway: Anyway = False,
    seed: Seed = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Draw completed tables of a release, for mice, mitools and other tools.

    Each table is one draw of who in a group has which value, by a model. Analyse all of them and
    pool the results: a single one says nothing certain about a person.
    """
    import shoal

    if output is None:
        msg = (
            "No output was named. Name a directory for the tables, for example --output completed."
        )
        raise shoal.UsageError(msg)
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        made = shoal.complete(
            directory,
            output,
            tables=tables,
            chains=chains,
            of=of,
            seed=seed,
            anyway=anyway,
            progress=progress,
        )
    if json:
        show.print_json(made)
        return
    for name in made["files"]:
        typer.echo(name)
    show.note(f"Status {made['status']}: {made['reason']}", quiet=quiet)
