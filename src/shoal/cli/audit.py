"""`shoal audit`: what published files keep, measured from the files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal import Ask
from shoal.cli import show


@show.asking(
    *("schema", "quasi", "sensitive", "person", "rows", "require", "type", "hierarchy", "odds"),
    *show.READING,
)
def audit(
    ask: Ask,
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="RELEASE",
            help="Release directory, or a published table; or several releases, oldest first.",
            show_default=False,
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option(help="The original table of a release without groups; only its owner has it."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(help="Column that names the groups of a plain table.")
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(help="Table of everyone who could be in it, with exact quasi-identifiers."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(help="HTML file for the levels, without --require; only you can read it."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(help="The private ledger of a series, to check what files cannot show."),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(help="Where to measure part files: 'Spark()'. Default: this machine."),
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Measure the requirements on published files. Exit code 1 if a requirement does not hold.

    Without --require, a plain table gets a survey: the levels of the usual principles.
    """
    import shoal

    if len(sources) > 1 or ledger is not None:
        given = (ask.require, ask.quasi, ask.sensitive, ask.schema)
        alone = not any((*given, original, group, report, engine, ask.odds))
        audit_together(sources, ledger, alone=alone, quiet=quiet, json=json)
        return
    (source,) = sources
    trees = {} if Path(source).is_dir() else ask.hierarchies
    run = shoal.results.Run.of_ask(replace(ask, hierarchies=trees))
    chosen = run.schema.only("quasi", "sensitive", "person")
    show.announce_compiling(quiet=quiet)
    asked: Any = run.require or None
    released = Path(source).is_dir()
    levels = not released and not asked
    if levels and ask.odds is not None:
        msg = "--odds needs a requirement: name a release directory, or add --require."
        raise shoal.UsageError(msg)
    if not levels and (group or report):
        msg = "--group and --report are for a plain table without --require."
        raise shoal.UsageError(msg)
    table = source if released else show.open_with(source, ask)
    if levels:
        if original is not None:
            msg = "Only a release directory is audited against its original table."
            raise shoal.UsageError(msg)
        survey(table, chosen, group, population, report, engine, json=json)
        return
    if released:
        people = show.open_with(original, ask)
        found = shoal.audit(
            source,
            chosen if population and chosen.person else None,
            require=asked,
            original=people,
            population=population,
            hierarchies={**run.said.ask.hierarchies, **ask.hierarchies},
            engine=engine,
        )
    else:
        if not chosen.quasi:
            msg = (
                "A plain table needs --quasi and, for all but KAnonymity, --sensitive, or a schema "
                "file that names them: --schema."
            )
            raise shoal.UsageError(msg)
        found = shoal.audit(
            table,
            chosen,
            require=asked,
            original=original,
            population=population,
            engine=engine,
        )
    tell(found, run.odds, quiet=quiet, json=json)


def tell(found: Any, odds: float | None = None, *, quiet: bool, json: bool) -> None:
    """Show what was measured, and leave with 1 where something does not hold."""
    from shoal.views.text import print_audit, print_odds

    at_odds = [] if odds is None else found.at_odds(odds)
    if not found.holds:
        show.settle(1)
    for warning in found.warnings:
        show.note(f"Warning: {warning}", quiet=quiet)
    for remark in found.remarks:
        show.note(remark)
    if json:
        more = {} if odds is None else {"odds": {"odds": odds, "bounds": at_odds}}
        show.print_json(found.to_dict() | more)
    else:
        print_audit(found)
        if odds is not None:
            print_odds(odds, at_odds)
    if not found.holds:
        raise typer.Exit(1)


def audit_together(
    sources: list[str], ledger: str | None, *, alone: bool, quiet: bool, json: bool
) -> None:
    """Audit several releases and what they say of each other."""
    import shoal
    from shoal.views.text import print_series_audit

    if not alone:
        msg = "Shoal audits several releases by their manifests alone."
        raise shoal.UsageError(msg)
    found = shoal.audit_series(sources, ledger=ledger)
    if not found.holds:
        show.settle(1)
    for warning in found.warnings:
        show.note(f"Warning: {warning}", quiet=quiet)
    show.print_json(found.to_dict()) if json else print_series_audit(
        found.to_dict(), found.complaints()
    )
    if not found.holds:
        raise typer.Exit(1)


def survey(
    source: Any,
    schema: Any,
    group: str | None,
    population: str | None,
    report: str | None,
    engine: str | None,
    *,
    json: bool,
) -> None:
    """Show the level of every principle on a plain table."""
    import shoal
    from shoal.views.pages import check_page, survey_page, write_page
    from shoal.views.tables import print_survey

    if report is not None:
        check_page(report)
    measured = shoal.audit(source, schema, group=group, population=population, engine=engine)
    found = measured.to_dict()
    if report is not None:
        write_page(report, survey_page(found))
    show.print_json(found) if json else print_survey(found)
