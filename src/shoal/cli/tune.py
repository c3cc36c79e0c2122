"""`shoal tune`: loss against one parameter of a requirement."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(*show.TRIED, "method", seconds="Time budget of each search.")
def tune(
    ask: Ask,
    *,
    vary: Annotated[
        str | None,
        typer.Option(
            help="What to vary: epsilon, epsilon=1000,2000,4500 or epsilon=1000..9000:5. "
            "Default: the first parameter of the requirement."
        ),
    ] = None,
    report: show.Report = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Show what a method loses as one parameter grows, and where the curve bends."""
    import shoal
    from shoal.views.pages import check_page, frontier_page
    from shoal.views.tables import print_frontier

    run = shoal.results.Run.of_ask(ask)
    if report is not None:
        check_page(report)
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        found = run.tune(vary=vary, progress=progress)
    show.give(found, print_frontier, frontier_page, report, json=json)
