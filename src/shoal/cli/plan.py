"""`shoal plan`: what is achievable on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(
    *("table", "schema", "sensitive", "person", "rows", "linked", "odds"),
    *(*show.WRITTEN, *show.READING),
    engine="Where to count, for example 'Spark()'. Default: this machine.",
)
def plan(
    ask: Ask,
    *,
    epsilon: Annotated[
        float | None, typer.Option(help="How close a guess must be to cause harm.")
    ] = None,
    m: Annotated[
        int | None, typer.Option(help="Highest acceptable chance of a close guess: 1 in m.")
    ] = None,
    relative: Annotated[
        bool,
        typer.Option(
            "--relative",
            help="Take epsilon as a share of the guessed value, for example 0.1 for 10%.",
        ),
    ] = False,
    require: Annotated[
        str | None, typer.Option(help="Plan for this requirement instead of epsilon and m.")
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Show which epsilon and m are achievable, or what is known about any requirement."""
    import shoal
    from shoal.views.text import print_known, print_plan

    run = shoal.results.Run.of_ask(ask)
    # A file says it of requirements; whoever types it wants to be told that none is planned for.
    odds = ask.odds if m is None and require is None else run.odds
    show.announce_compiling(quiet=quiet)
    if require is not None:
        known = run.plan(require=require, odds=odds)
        show.print_json(known.to_dict()) if json else print_known(known)
        return
    width = int(epsilon) if epsilon is not None and epsilon.is_integer() else epsilon
    found = run.plan(epsilon=width, m=m, relative=relative, odds=odds)
    show.print_json(found.to_dict()) if json else print_plan(found)
