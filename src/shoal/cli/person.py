"""`shoal show`: what a stranger learns about one person, before and after a release; private."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show as common


@common.asking("schema", "person", "hierarchy", *common.READING)
def show(
    ask: Ask,
    *,
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    original: Annotated[
        str | None, typer.Option(help="The original table, which only its owner has.")
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(
            help="Row of the original, counted from 0 as in a linkage; default: the most exposed "
            "person."
        ),
    ] = None,
    quiet: common.Quiet = False,
    json: common.Json = False,
) -> None:
    """Show what a stranger learns about one person of the original table. Private.

    The stranger knows the person's quasi-identifiers and has the published files, nothing else.
    The answer goes to standard output and nowhere else.
    """
    import shoal

    run = shoal.results.Run.of_ask(replace(ask, hierarchies={}))
    if original is None:
        msg = (
            "The person is a row of the original table, which only its owner has. Name it: "
            "--original TABLE."
        )
        raise shoal.UsageError(msg)
    common.announce_compiling(quiet=quiet)
    found = shoal.measures.person(
        release,
        row,
        original=common.open_with(original, ask),
        person=run.schema.person,
        hierarchies={**run.said.ask.hierarchies, **ask.hierarchies},
    )
    common.print_json(found.to_dict()) if json else common.print_lines(str(found))
