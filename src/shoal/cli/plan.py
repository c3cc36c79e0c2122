"""`shoal plan`: what is achievable on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def plan(
    table: show.Table,
    sensitive: show.Sensitive = None,
    epsilon: Annotated[float | None, typer.Option(help="Width that must not be known.")] = None,
    m: Annotated[int | None, typer.Option(help="At most one in m may be near.")] = None,
    relative: Annotated[
        bool, typer.Option("--relative", help="Epsilon is a share of the value.")
    ] = False,
    schema: show.SchemaFile = None,
    missing: show.MissingCells = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Say which epsilon and m are achievable for a numeric sensitive column."""
    import shoal
    from shoal.schema.io import read_table

    said = show.settings(schema)
    chosen = shoal.Schema(sensitive=show.names(sensitive) or said.roles.get("sensitive", []))
    show.load_kernels(quiet=quiet)
    width = int(epsilon) if epsilon is not None and epsilon.is_integer() else epsilon
    found = shoal.plan(
        read_table(table),
        chosen,
        epsilon=width,
        m=m,
        relative=relative,
        missing=missing or said.missing or "error",  # type: ignore[arg-type]
    )
    if json:
        show.print_json(found.to_dict())
    else:
        from shoal.report.text import print_plan

        print_plan(found)
