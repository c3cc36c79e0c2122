"""`shoal demo`: the whole journey on an embedded census-like table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show

REQUIRE = "EpsilonM(epsilon=2000, m=5)"
QUASI = ["age", "birthplace", "occupation"]
SENSITIVE = "income"


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", help="Directory to make.")
    ] = "shoal-demo",
    quiet: show.Quiet = False,
) -> None:
    """Plan, anonymize and audit a census-like table of 60,000 people who do not exist."""
    import shoal
    from shoal.views.text import print_audit, print_head, print_plan, print_release

    if not _may_be_replaced(Path(output)):
        msg = f"{Path(output).name!r} exists, and no demo made it. Choose another --output."
        raise shoal.OutputError(msg)
    shoal.Run(output=output, force=True).check_places()
    show.announce_compiling(quiet=quiet)
    table = shoal.census()
    schema = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE)
    print_head("The table that goes in", table)
    print_plan(shoal.plan(table, schema))
    with show.bar(quiet=quiet) as progress:
        release = shoal.anonymize(table, schema, require=REQUIRE, progress=progress)
        release.write(output, force=True, trials=True, progress=progress)
    print_head("The table that comes out", release.table)
    print_release(release, output)
    print_audit(shoal.audit(output))
    show.note(f"Open {output}/report.html in a browser to see the evidence.", quiet=quiet)


def _may_be_replaced(place: Path) -> bool:
    """Return whether nothing stands at a place, or only what a demo before this one has made."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return True
    try:
        manifest = json.loads((place / "manifest.json").read_text("utf-8"))
        names = [column["name"] for column in manifest["columns"]]
        return manifest["require"] == [REQUIRE] and names == [*QUASI, SENSITIVE]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False
