"""`shoal dossier`: what a norm asks of a release, filled where that can be computed."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(
    *("schema", "person", *show.READING), output="File to write, for example dossier.html or .docx."
)
def dossier(
    ask: Ask,
    *,
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="Release directory.", show_default=False)
    ],
    norm: Annotated[
        str | None, typer.Option(help="ema, hipaa, iso27559, gdpr, ico, nist or fivesafes.")
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(help="The original table, for the private annex. Owners only."),
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(
            help="Control group for the private annex: people of the same population who are "
            "not in the release."
        ),
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Write the dossier that a norm asks for, filled in where Shoal can compute the answer.

    Shoal marks the fields that people have to answer. Answers come from the table `context` of the
    schema file. The private annex is a second file. No dossier says that a release is anonymous or
    compliant.
    """
    import shoal

    for name, given in (("--norm gdpr", norm), ("--output dossier.html", ask.output)):
        if given is None:
            msg = f"Something is missing. Add it, for example: {name}."
            raise shoal.UsageError(msg)
    assert norm is not None and ask.output is not None  # noqa: PT018
    show.announce_compiling(quiet=quiet)
    found = shoal.dossier(
        release,
        ask.output,
        norm=norm,
        schema=ask.schema,
        original=(people := show.open_with(original, ask)),
        control=show.open_controls(control, people, show.as_named(original, ask)),
        person=ask.person,
    )
    show.settle(0 if found.holds else 1)
    if json:
        show.print_json(found.to_dict())
    else:
        show.print_lines(
            f"{found.public}: {found.computed} fields computed, {found.answered} answered, "
            f"{found.open} to be answered by people.\n"
            f"{found.annex}: the private annex"
            + ("" if original else ", empty: name --original TABLE to fill it")
            + ". Do not publish it."
        )
    if not found.holds:
        raise typer.Exit(1)
