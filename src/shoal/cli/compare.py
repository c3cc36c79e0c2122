"""`shoal compare`: several methods under one requirement."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def compare(
    table: show.OptionalTables = None,
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    method: Annotated[
        list[str] | None, typer.Option(help="A method to compare. Repeatable; all by default.")
    ] = None,
    other: show.Other = None,
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
    queries: Annotated[
        int, typer.Option(min=0, help="Count queries to ask every release; 0 for none.")
    ] = 1000,
    learning: Annotated[
        bool,
        typer.Option("--learning", help="Train models on every release; a second search by each."),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(help="Column to learn, sensitive or other; the first sensitive by default."),
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time budget of each search.")] = None,
    missing: show.MissingCells = None,
    population: show.Population = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    report: show.Report = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Publish a table by several methods, in memory, and show what each loses, risks and takes."""
    from shoal.views.pages import check_page, comparison_page
    from shoal.views.tables import print_comparison

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
        other=other,
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
        population=population,
        query=query,
        sheet=sheet,
        delimiter=delimiter,
        encoding=encoding,
    )
    if report is not None:
        check_page(report)
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = run.compare(
            methods=method, queries=queries, learning=learning, target=target, progress=progress
        )
    show.give(found, print_comparison, comparison_page, report, json=json)
    if not found.holds:
        raise typer.Exit(1)
