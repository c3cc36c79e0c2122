"""`shoal plan`: what is achievable on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def plan(
    table: show.OptionalTables = None,
    sensitive: show.Sensitive = None,
    person: show.Person = None,
    rows: show.RowsKnown = None,
    linked: show.Linked = None,
    epsilon: Annotated[float | None, typer.Option(help="Width that must not be known.")] = None,
    m: Annotated[int | None, typer.Option(help="At most one in m may be near.")] = None,
    relative: Annotated[
        bool, typer.Option("--relative", help="Epsilon is a share of the value.")
    ] = False,
    require: Annotated[
        str | None, typer.Option(help="Any requirement to plan for instead.")
    ] = None,
    odds: show.Odds = None,
    schema: show.SchemaFile = None,
    decimal: show.Decimal = None,
    date_format: show.DateFormats = None,
    round: show.Rounds = None,
    bottom: show.Bottoms = None,
    top: show.Tops = None,
    missing: show.MissingCells = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    engine: Annotated[
        str | None, typer.Option(help="Where to count, as 'Spark()'; this machine else.")
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Say which epsilon and m are achievable, or what is known about any requirement."""
    from shoal.views.text import print_known, print_plan

    run = show.asked(
        schema,
        table=table,
        sensitive=sensitive,
        person=person,
        rows=rows,
        linked=linked,
        decimal=decimal,
        date_format=date_format,
        round=round,
        bottom=bottom,
        top=top,
        missing=missing,
        query=query,
        sheet=sheet,
        delimiter=delimiter,
        encoding=encoding,
        engine=engine,
    )
    if odds is None and (m is not None or require is not None):
        odds = run.said.odds
    show.announce_compiling(quiet=quiet)
    if require is not None:
        known = run.plan(require=require, odds=odds)
        show.print_json(known.to_dict()) if json else print_known(known)
        return
    width = int(epsilon) if epsilon is not None and epsilon.is_integer() else epsilon
    found = run.plan(epsilon=width, m=m, relative=relative, odds=odds)
    show.print_json(found.to_dict()) if json else print_plan(found)
