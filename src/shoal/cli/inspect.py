"""`shoal inspect`: what a table is, before anything is decided about it."""

from __future__ import annotations

from dataclasses import replace

from shoal import Ask
from shoal.cli import show


@show.asking(*show.READING)
def inspect(
    ask: Ask,
    *,
    table: show.Tables,
    json: show.Json = False,
) -> None:
    """Report what each column is: type, values, a role with the reason, and what looks wrong."""
    import shoal
    from shoal.views.commands import Command
    from shoal.views.terminal import print_inspection

    found = shoal.inspect(
        shoal.results.Run.of_ask(replace(ask, table=tuple(table))).frame()
    ).to_dict()
    if json:
        show.print_json(found)
        return
    plain = len(table) == 1 and not (ask.query or ask.sheet or ask.delimiter)
    chosen = (("encoding", ask.encoding),) if ask.encoding else ()
    # A table that `init` cannot read by itself has to be named by whoever made it one file.
    print_inspection(found, Command("init", tuple(table) if plain else ("TABLE",), chosen))
