"""`shoal count`: a count query, answered from published files alone."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli import show


def count(
    directory: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    condition: Annotated[
        str,
        typer.Argument(
            metavar="CONDITION",
            help="A condition, for example '30 <= age <= 40 and income > 50000'.",
            show_default=False,
        ),
    ],
    json: show.Json = False,
) -> None:
    """Estimate how many rows of a release meet a condition."""
    import shoal

    answers = shoal.measures.queryable(directory)
    found = shoal.count(answers, condition)
    rows = len(answers)
    if json:
        show.print_json({"condition": condition, "count": found, "rows": rows})
    else:
        weighed = getattr(answers, "weighed", False)
        said = ", by the survey weights of" if weighed else " of"
        typer.echo(f"{found:,.6g}{said} {rows:,} rows")
