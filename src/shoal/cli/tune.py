"""`shoal tune`: loss against one parameter of a requirement."""

from __future__ import annotations

from typing import Annotated

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
    person: show.Person = None,
    most_rows: show.MostRows = None,
    rows: show.RowsKnown = None,
    linked: show.Linked = None,
    never_mix: show.NeverMix = None,
    schema: show.SchemaFile = None,
    type: show.Types = None,
    hierarchy: show.Hierarchies = None,
    weight: show.Weights = None,
    decimal: show.Decimal = None,
    date_format: show.DateFormats = None,
    round: show.Rounds = None,
    bottom: show.Bottoms = None,
    top: show.Tops = None,
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
    from shoal.views.pages import check_page, frontier_page
    from shoal.views.tables import print_frontier

    run = show.asked(
        schema,
        table=table,
        quasi=quasi,
        sensitive=sensitive,
        require=require,
        never_mix=never_mix,
        person=person,
        most_rows=most_rows,
        rows=rows,
        linked=linked,
        method=method,
        type=type,
        hierarchy=hierarchy,
        weight=weight,
        decimal=decimal,
        date_format=date_format,
        round=round,
        bottom=bottom,
        top=top,
        seconds=seconds,
        missing=missing,
        query=query,
        sheet=sheet,
        delimiter=delimiter,
        encoding=encoding,
    )
    if report is not None:
        check_page(report)
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = run.tune(vary=vary, progress=progress)
    show.give(found, print_frontier, frontier_page, report, json=json)
