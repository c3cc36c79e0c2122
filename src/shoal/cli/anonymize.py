"""`shoal anonymize`: from a table to a release that its own audit has checked."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show

STDOUT = "-"


@show.asking()
def anonymize(
    ask: Ask,
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help=(
                "Report what Shoal would do and whether the requirement is achievable; write "
                "nothing."
            ),
        ),
    ] = False,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Publish a table so that the requirements hold in every group."""
    import shoal

    run = shoal.results.Run.of_ask(ask)
    to_stdout = run.output == STDOUT
    if to_stdout and json and not dry_run:
        msg = "Standard output takes either the table or --json. Give --output a directory."
        raise shoal.UsageError(msg)
    show.announce_compiling(quiet=quiet)
    say = partial(show.say, quiet=quiet)
    with show.bar(quiet=quiet, seconds=run.seconds) as progress:
        if dry_run:
            facts = run.rehearse(progress, say)
            if json:
                show.print_json(facts)
            else:
                from shoal.views.text import print_rehearsal

                print_rehearsal(facts)
            return
        started = show.worked()
        outcome = run.publish(progress, say)
    show.settle(0)
    if not json and not to_stdout:
        from shoal.views.text import print_release
    told = outcome.release.settings
    told["seconds"] = show.add_up(started, told["seconds"])
    if json:
        show.print_json(outcome.facts)
    elif not to_stdout:
        print_release(outcome.release, outcome.place)
        if outcome.report is not None:
            show.note(f"Before you pass it on, read {outcome.report}.", quiet=quiet)
