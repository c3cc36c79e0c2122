"""`shoal compare`: several methods under one requirement."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(*show.TRIED, "other", "population", seconds="Time budget of each search.")
def compare(
    ask: Ask,
    *,
    method: Annotated[
        list[str] | None,
        typer.Option(help="A method to compare. Repeatable. Default: all suitable methods."),
    ] = None,
    queries: Annotated[
        int, typer.Option(min=0, help="Count queries to ask every release; 0 for none.")
    ] = 1000,
    learning: Annotated[
        bool,
        typer.Option(
            "--learning",
            help="Also train models on every release; needs a second search with each method.",
        ),
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            help=(
                "Column that the models learn: a sensitive or an other column. Default: the first "
                "sensitive one."
            )
        ),
    ] = None,
    report: show.Report = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Try several methods in memory, and show the loss, risk and time of each."""
    import shoal
    from shoal.views.pages import check_page, comparison_page
    from shoal.views.tables import print_comparison

    run = shoal.results.Run.of_ask(ask)
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
