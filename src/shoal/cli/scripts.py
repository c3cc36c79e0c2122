"""`shoal scripts` and `shoal export`: a release for R, Stata, SPSS and pandas."""

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


def export(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write: .dta for Stata, .sav for SPSS.")
    ] = "release.dta",
) -> None:
    """Write a release as a file of Stata or SPSS, with value labels, and read it again to compare.

    Intervals stand in two columns, for example age_low and age_high. A release of several tables
    becomes as many files.
    """
    import shoal

    for path in shoal.measures.export_file(release, output):
        typer.echo(path)
