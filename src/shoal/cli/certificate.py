"""`shoal certificate`: pages to sign, measured from the files of a release."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show


@show.asking("population", "person")
def certificate(
    ask: Ask,
    *,
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="HTML file to write, outside the release.", show_default=False
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option(help="The original table of a release without groups; only its owner has it."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help=(
                "Highest acceptable chance of finding a person's row, for example 0.2. Default: "
                "the threshold of the release."
            )
        ),
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Audit a release and write its certificate: pages to print and sign.

    If a requirement does not hold, the page says so and the exit code is 1.
    """
    import shoal
    from shoal.views.text import print_audit

    show.announce_compiling(quiet=quiet)
    found = shoal.certificate(
        release,
        file,
        original=original,
        population=ask.population,
        person=ask.person,
        threshold=threshold,
    )
    show.settle(0 if found.holds else 1)
    for warning in found.warnings:
        show.note(f"Warning: {warning}", quiet=quiet)
    show.print_json(found.to_dict()) if json else print_audit(found)
    ready = {
        "holds": f"Print {file} and sign it.",
        "holds-with-open-questions": f"{file} names open questions. Settle them first.",
        "does-not-hold": f"{file} says what does not hold. Do not sign it.",
    }
    verdict = found.to_dict()["verdict"] if found.holds else "does-not-hold"
    show.note(ready[verdict], quiet=quiet)
    if not found.holds:
        raise typer.Exit(1)
