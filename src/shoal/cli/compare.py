"""`shoal compare`: several methods under one requirement."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import show


def compare(
    table: show.Table,
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    method: Annotated[
        list[str] | None, typer.Option(help="A method to compare. Repeatable; all by default.")
    ] = None,
    schema: show.SchemaFile = None,
    type: show.Types = None,
    hierarchy: show.Hierarchies = None,
    weight: show.Weights = None,
    decimal: show.Decimal = None,
    seconds: Annotated[float | None, typer.Option(help="Time budget of each search.")] = None,
    missing: show.MissingCells = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Publish a table by several methods, in memory, and show loss, risk and time."""
    import shoal
    from shoal.report.text import print_comparison
    from shoal.schema.io import read_table

    said = show.settings(schema)
    chosen = show.merged_schema(
        said,
        quasi=quasi,
        sensitive=sensitive,
        types=type,
        hierarchies=hierarchy,
        weights=weight,
        decimal=decimal,
    )
    policy: Any = missing or said.missing or "error"
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = shoal.compare(
            read_table(table),
            chosen,
            require=require or said.require,
            methods=method,
            missing=policy,
            seconds=seconds,
            progress=progress,
        )
    if json:
        show.print_json(found.to_dict())
    else:
        print_comparison(found)
