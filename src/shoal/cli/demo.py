"""`shoal demo`: the whole journey on an embedded synthetic table, with columns of a census."""

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
    table: Annotated[
        Path | None,
        typer.Option("--table", help="Only write the example table, as CSV, to this file."),
    ] = None,
    quiet: show.Quiet = False,
) -> None:
    """Plan, anonymize and audit a synthetic table of 60,000 people, with columns of a census."""
    import shoal
    from shoal.views.text import print_audit, print_head, print_plan, print_release

    if table is not None:
        _write(table)
        return
    if not _may_be_replaced(Path(output)):
        msg = (
            f"{Path(output).name!r} exists and was not made by shoal demo, so Shoal does not "
            "replace it. Choose another --output."
        )
        raise shoal.OutputError(msg)
    private = f"{output.rstrip('/')}-owner.html"
    shoal.results.Run(output=output, owner_report=private, force=True).check_places()
    show.announce_compiling(quiet=quiet)
    people = shoal.census()
    schema = shoal.Schema(quasi=QUASI, sensitive=SENSITIVE)
    print_head("The table that goes in", people)
    print_plan(shoal.plan(people, schema))
    with show.bar(quiet=quiet) as progress:
        release = shoal.anonymize(people, schema, require=REQUIRE, progress=progress)
        release.write(output, force=True, progress=progress)
        show.settle(0)
        release.owner_report(private, trials=False, force=True, progress=progress)
    print_head("The table that comes out", release.table)
    print_release(release, output)
    print_audit(shoal.audit(output))
    show.note(
        f"Open {output}/report.html in a browser. Shoal made it from the published files alone, "
        f"for the people who receive them. {private} is the owner's report, which compares the "
        "release with the original table: keep it private.",
        quiet=quiet,
    )


def _write(place: Path) -> None:
    """Write the table that goes in to a file that is not there yet."""
    import shoal

    try:
        with place.open("x", encoding="utf-8", newline="\n") as file:
            file.write(shoal.census().write_csv())
    except OSError as problem:
        msg = f"Cannot write {place.name!r}: {problem.strerror}. Choose another --table."
        raise shoal.OutputError(msg) from None


def _may_be_replaced(place: Path) -> bool:
    """Return whether nothing stands at a place, or only what a demo before this one has made."""
    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return True
    try:
        said = json.loads((place / "manifest.json").read_text("utf-8"))
        names = [column["name"] for column in said["columns"]]
        return said["require"] == [REQUIRE] and names == [*QUASI, SENSITIVE]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return False
