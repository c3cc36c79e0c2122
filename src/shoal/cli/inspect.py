"""`shoal inspect`: what a table is, before anything is decided about it."""

from __future__ import annotations

from shoal.cli import show


def inspect(table: show.Table, json: show.Json = False) -> None:
    """Say what each column is: type, values, a role with the reason, and what looks wrong."""
    import shoal
    from shoal.report.inspection import print_inspection
    from shoal.schema.io import read_table

    found = shoal.inspect(read_table(table)).to_dict()
    show.print_json(found) if json else print_inspection(found)
