"""`shoal coarsen`: a coarser release of a release, for a second audience."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show
from shoal.views.usual import THRESHOLD


def coarsen(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="Release directory to make it from.", show_default=False
        ),
    ],
    output: Annotated[str | None, typer.Option("--output", "-o", help="Directory to make.")] = None,
    require: show.Requires = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv (default), tsv, jsonl, each also .gz or .zst; parquet, feather, xlsx."
        ),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Risk of being found that the report compares with, as 0.2 or 1/11.")
    ] = THRESHOLD,
    title: Annotated[
        str | None, typer.Option(help="What the release is called, in manifest and report.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For tests: a repeatable order of rows.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Make a coarser release from a release, so that both together tell what the finer one does.

    Groups are joined, those first that lose least; what the finer release promises is kept too.
    """
    import shoal
    from shoal.views.charts.base import warm_up
    from shoal.views.text import print_release

    if output is None:
        msg = "No output was named. Say where the coarser release should go: --output coarser."
        raise shoal.UsageError(msg)
    if not Path(release).is_dir():
        msg = f"{Path(release).name!r} is no release directory, and only one is made coarser."
        raise shoal.UsageError(msg)
    tables = [path for path in Path(release).iterdir() if path.is_file()]
    shoal.results.Run(table=tables, output=output, format=format, force=force).check_places()
    warm_up()
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        made = shoal.coarsen(
            release, require=require or [], title=title, seed=seed, progress=progress
        )
        made.write(
            output, format=format or "csv", force=force, threshold=threshold, progress=progress
        )
    show.settle(0)
    if seed is not None:
        show.note(
            "Warning: made with a seed, so the order of rows can be worked out. For testing only.",
            quiet=quiet,
        )
    if json:
        show.print_json(made.facts)
        return
    print_release(made, Path(output).name)
    show.note(f"Before you pass it on, read {Path(output) / 'report.html'}.", quiet=quiet)
