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
            help="People of the same population who are not in the release, for the private annex: "
            "attacks are tried on them as well."
        ),
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Write what a norm asks of a release, filled where that can be computed.

    Fields that people have to answer are marked; answers come from the schema file, [context]. The
    private annex is a second file. No dossier says that a release is anonymous or compliant.
    """
    import shoal

    for name, given in (("--norm gdpr", norm), ("--output dossier.html", ask.output)):
        if given is None:
            msg = f"Something is missing. Say it, for example: {name}."
            raise shoal.UsageError(msg)
    assert norm is not None
    assert ask.output is not None
    show.announce_compiling(quiet=quiet)
    found = shoal.dossier(
        release,
        ask.output,
        norm=norm,
        schema=ask.schema,
        original=show.open_with(original, ask),
        control=show.open_with(control, ask),
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
