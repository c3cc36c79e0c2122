"""`shoal coarsen`: a coarser release of a release, for a second audience."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(
    *("require", "format", "threshold", "title", "seed", "force"), output="Directory to make."
)
def coarsen(
    ask: Ask,
    *,
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="Release directory to make it from.", show_default=False
        ),
    ],
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Make a coarser release from a release; both together reveal no more than the finer one.

    Shoal joins groups, first those that lose least. The coarser release keeps the guarantees of the
    finer one.
    """
    import shoal
    from shoal.views.pages import warm_up
    from shoal.views.text import print_release

    output = ask.output
    if output is None:
        msg = (
            "No output was named. Name a directory for the coarser release, for example "
            "--output coarser."
        )
        raise shoal.UsageError(msg)
    if not Path(release).is_dir():
        msg = (
            f"{Path(release).name!r} is not a release directory. Shoal can only make a release "
            "directory coarser."
        )
        raise shoal.UsageError(msg)
    tables = [path for path in Path(release).iterdir() if path.is_file()]
    shoal.results.Run(
        table=tables, output=output, format=ask.format, force=ask.force
    ).check_places()
    warm_up()
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        made = shoal.coarsen(
            release, require=ask.require, title=ask.title, seed=ask.seed, progress=progress
        )
        how: Any = {"format": ask.format or "csv", "threshold": ask.threshold}
        made.write(output, **how, force=ask.force, progress=progress)
    show.settle(0)
    if ask.seed is not None:
        show.note(
            "Warning: made with a seed, so a reader can work out the order of rows. For testing "
            "only.",
            quiet=quiet,
        )
    if json:
        show.print_json(made.facts)
        return
    print_release(made, Path(output).name)
    show.note(f"Before you pass it on, read {Path(output) / 'report.html'}.", quiet=quiet)
