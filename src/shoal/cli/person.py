"""`shoal show`: what a stranger learns about one person, before and after a release; private."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show as common


def show(
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
    person: common.Person = None,
    hierarchy: common.Hierarchies = None,
    schema: common.SchemaFile = None,
    query: common.Query = None,
    sheet: common.Sheet = None,
    delimiter: common.Delimiter = None,
    encoding: common.Encoding = None,
    quiet: common.Quiet = False,
    json: common.Json = False,
) -> None:
    """Show what a stranger learns about one person of the original table. Private.

    The stranger knows the person's quasi-identifiers and has the published files, nothing else.
    The answer goes to standard output and nowhere else.
    """
    import shoal

    run = common.asked(schema, person=person)
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
        original=common.open_with(
            original, query=query, sheet=sheet, delimiter=delimiter, encoding=encoding
        ),
        person=run.schema.person,
        hierarchies=run.said.hierarchies | common.by_column("--hierarchy", hierarchy),
    )
    common.print_json(found.to_dict()) if json else common.print_lines(repr(found))
