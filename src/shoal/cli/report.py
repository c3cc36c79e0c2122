"""`shoal report`: the report of a release, made anew from its directory alone."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def report(
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="HTML file to write; default: standard output."),
    ] = None,
) -> None:
    """Make report.html again from a release directory, from its tables and its manifest alone.

    The version of Shoal that wrote the release makes the same file, byte for byte.
    """
    import shoal

    page = shoal.report(release, output)
    if output is None:
        sys.stdout.write(page)
