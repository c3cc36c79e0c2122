"""`shoal plan`: what is achievable on a table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli import show


def plan(
    table: show.OptionalTables = None,
    sensitive: show.Sensitive = None,
    epsilon: Annotated[float | None, typer.Option(help="Width that must not be known.")] = None,
    m: Annotated[int | None, typer.Option(help="At most one in m may be near.")] = None,
    relative: Annotated[
        bool, typer.Option("--relative", help="Epsilon is a share of the value.")
    ] = False,
    require: Annotated[
        str | None, typer.Option(help="Any requirement to plan for instead.")
    ] = None,
    schema: show.SchemaFile = None,
    decimal: show.Decimal = None,
    missing: show.MissingCells = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Say which epsilon and m are achievable, or what is known about any requirement."""
    import shoal
    from shoal.views.text import print_known, print_plan

    said = show.settings(schema)
    chosen = show.merged_schema(said, sensitive=sensitive, decimal=decimal)
    show.announce_compiling(quiet=quiet)
    how = {"query": query, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    frame = show.read(table, said, **how)
    policy: Any = missing or said.missing or "error"
    if require is not None:
        known = shoal.plan(frame, chosen, require=require, missing=policy)
        show.print_json(known.to_dict()) if json else print_known(known)
        return
    width = int(epsilon) if epsilon is not None and epsilon.is_integer() else epsilon
    found = shoal.plan(frame, chosen, epsilon=width, m=m, relative=relative, missing=policy)
    show.print_json(found.to_dict()) if json else print_plan(found)
