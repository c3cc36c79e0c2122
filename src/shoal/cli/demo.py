"""`shoal demo`: the whole journey on an embedded census-like table."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show

REQUIRE = "EpsilonM(epsilon=2000, m=5)"


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="Directory to make.")
    ] = "shoal-demo",
    quiet: show.Quiet = False,
) -> None:
    """Plan, anonymize and audit a census-like table of 60,000 people who do not exist."""
    import shoal
    from shoal.views.text import print_audit, print_head, print_plan, print_release

    shoal.Run(output=output, force=True).check_places()
    show.announce_compiling(quiet=quiet)
    table = shoal.census()
    schema = shoal.Schema(quasi=["age", "birthplace", "occupation"], sensitive="income")
    print_head("The table that goes in", table)
    print_plan(shoal.plan(table, schema))
    with show.bar(quiet=quiet) as progress:
        release = shoal.anonymize(table, schema, require=REQUIRE, progress=progress)
        release.write(output, force=True, trials=True, progress=progress)
    print_head("The table that comes out", release.table)
    print_release(release, output)
    print_audit(shoal.audit(output))
    show.note(f"Open {output}/report.html in a browser to see the evidence.", quiet=quiet)
