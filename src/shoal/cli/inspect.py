"""`shoal inspect`: what a table is, before anything is decided about it."""

from __future__ import annotations

from shoal import Ask
from shoal.cli import show


@show.asking(*show.FILE)
def inspect(
    ask: Ask,
    *,
    table: show.Tables,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Report how a file is read and what each column is: type, role, and what looks wrong."""
    import shoal
    from shoal.views.console import print_inspection
    from shoal.views.terminal import Command

    said = {name: getattr(ask, name) for name in show.FILE}
    with show.bar(quiet=quiet) as progress:
        opened = shoal.open_table(table, progress=progress, **said)
    found = shoal.inspect(opened.plain).to_dict()
    found["reading"] = [one.to_dict() for one in opened.assumed]
    if json:
        show.print_json(found)
        return
    plain = len(table) == 1 and not ask.query
    chosen = tuple(words for words in ask.options() if words[0] in show.FILE)
    # A table that `init` cannot read by itself has to be named by whoever made it one file.
    print_inspection(found, Command("init", tuple(table) if plain else ("TABLE",), chosen))
