"""`shoal inspect`: what a table is, before anything is decided about it."""

from __future__ import annotations

from shoal.cli import show


def inspect(
    table: show.Tables,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    json: show.Json = False,
) -> None:
    """Report what each column is: type, values, a role with the reason, and what looks wrong."""
    import shoal
    from shoal.views.commands import Command
    from shoal.views.terminal import print_inspection

    how = {"query": query, "sheet": sheet, "delimiter": delimiter, "encoding": encoding}
    found = shoal.inspect(show.asked(None, table=table, **how).frame()).to_dict()
    if json:
        show.print_json(found)
        return
    plain = len(table) == 1 and not (query or sheet or delimiter)
    chosen = (("encoding", encoding),) if encoding else ()
    # A table that `init` cannot read by itself has to be named by whoever made it one file.
    print_inspection(found, Command("init", tuple(table) if plain else ("TABLE",), chosen))
