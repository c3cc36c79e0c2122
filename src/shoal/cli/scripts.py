"""`shoal scripts`: programs that read a release into R, Stata and pandas."""

from __future__ import annotations

from typing import Annotated

import typer


def scripts(
    directory: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="New directory for the programs.")
    ] = "scripts",
) -> None:
    """Write programs that read a release into R, Stata and pandas."""
    import shoal

    for path in shoal.write_scripts(directory, output):
        typer.echo(path)
