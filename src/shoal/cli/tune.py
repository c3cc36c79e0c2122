"""`shoal tune`: loss against one parameter of a requirement."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import show


def tune(
    table: show.OptionalTables = None,
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    vary: Annotated[
        str | None,
        typer.Option(
            help="What to vary: epsilon, epsilon=1000,2000,4500 or epsilon=1000..9000:5. "
            "By default the first parameter of what is required."
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="How to search, as 'Exchange()' or 'Split()'.")
    ] = None,
    never_mix: show.NeverMix = None,
    schema: show.SchemaFile = None,
    type: show.Types = None,
    hierarchy: show.Hierarchies = None,
    weight: show.Weights = None,
    decimal: show.Decimal = None,
    seconds: Annotated[float | None, typer.Option(help="Time budget of each search.")] = None,
    missing: show.MissingCells = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    report: show.Report = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Show what a method loses as one parameter grows, and where the curve bends."""
    import shoal
    from shoal.views.pages import check_page, frontier_page
    from shoal.views.tables import print_frontier

    said = show.settings(schema)
    chosen = show.merged_schema(
        said,
        quasi=quasi,
        sensitive=sensitive,
        never_mix=never_mix,
        types=type,
        hierarchies=hierarchy,
        weights=weight,
        decimal=decimal,
    )
    policy: Any = missing or said.missing or "error"
    if report is not None:
        check_page(report)
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = shoal.tune(
            show.read(
                table, said, query=query, sheet=sheet, delimiter=delimiter, encoding=encoding
            ),
            chosen,
            require=require or said.require,
            vary=vary,
            method=method or said.method,
            missing=policy,
            seconds=said.seconds if seconds is None else seconds,
            progress=progress,
        )
    show.give(found, print_frontier, frontier_page, report, json=json)
