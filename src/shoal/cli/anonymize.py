"""`shoal anonymize`: from a table to a release that its own audit has checked."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from shoal.cli import show
from shoal.views.usual import THRESHOLD

STDOUT = "-"


def anonymize(
    table: show.OptionalTables = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Directory to make; or the table alone: - for standard output, or "
            "sqlite:///people.db?table=published.",
        ),
    ] = None,
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    method: Annotated[
        str | None, typer.Option(help="How to search, as 'Exchange()' or 'Split()'.")
    ] = None,
    identifying: show.Identifying = None,
    other: show.Other = None,
    nobody_knows: show.NobodyKnows = None,
    person: show.Person = None,
    most_rows: show.MostRows = None,
    rows: show.RowsKnown = None,
    linked: show.Linked = None,
    never_mix: show.NeverMix = None,
    survey_weight: show.SurveyWeight = None,
    schema: show.SchemaFile = None,
    pseudonymize: Annotated[
        str | None, typer.Option(help="Columns that name a person; published as keyed hashes.")
    ] = None,
    key_file: Annotated[
        str | None,
        typer.Option(help="Secret for --pseudonymize; SHOAL_KEY in the environment else."),
    ] = None,
    type: show.Types = None,
    hierarchy: show.Hierarchies = None,
    weight: show.Weights = None,
    decimal: show.Decimal = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="How quasi values are spelled: intervals (default), bounds, means or two-tables."
        ),
    ] = None,
    keep_other: Annotated[
        bool, typer.Option("--keep-other", help="Keep other columns in two tables.")
    ] = False,
    cells: Annotated[
        str | None,
        typer.Option(
            help="What a cell spans: tight (its own group, the default) or regions (public cuts)."
        ),
    ] = None,
    date_format: show.DateFormats = None,
    round: show.Rounds = None,
    bottom: show.Bottoms = None,
    top: show.Tops = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv (default), tsv, jsonl, each also .gz or .zst; parquet, feather, xlsx."
        ),
    ] = None,
    linkage: Annotated[
        str | None, typer.Option(help="Private file that maps input rows to published rows.")
    ] = None,
    trials: Annotated[
        bool,
        typer.Option(
            "--trials", help="With --owner-report: what other methods and parameters would lose."
        ),
    ] = False,
    owner_report: Annotated[
        str | None,
        typer.Option(help="Private HTML file: the table before, riskiest groups, what was lost."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(help="Private memory of a series of releases of one table; with --person."),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(min=1, help="With --ledger: newcomers wait until they are so many."),
    ] = None,
    least_real: Annotated[
        int | None,
        typer.Option(min=1, help="With --ledger: the least number of real people in a group."),
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Risk of being found that the report compares with, as 0.2 or 1/11.")
    ] = THRESHOLD,
    suppress: Annotated[
        str | None, typer.Option(help="Rows that may be left out where that helps, as 1%.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(help="Time for the search; what is left of it is spent on losing less."),
    ] = None,
    missing: show.MissingCells = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    population: show.Population = None,
    engine: Annotated[
        str | None,
        typer.Option(
            help="Where to work, as 'Local(shard=500000)' or 'Spark()'; this machine else."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For tests: a repeatable order of rows.")] = None,
    escape_formulas: Annotated[
        bool, typer.Option("--escape-formulas", help="Defuse cells a spreadsheet would run.")
    ] = False,
    title: Annotated[
        str | None, typer.Option(help="What the release is called, in manifest and report.")
    ] = None,
    institution: Annotated[
        str | None, typer.Option(help="Who publishes it; public, on report and certificate.")
    ] = None,
    purpose: Annotated[str | None, typer.Option(help="Why it is published; public.")] = None,
    recipients: Annotated[str | None, typer.Option(help="Who may read it; public.")] = None,
    legal_basis: Annotated[
        str | None, typer.Option(help="On which legal basis it is published; public.")
    ] = None,
    review_date: Annotated[
        str | None, typer.Option(help="When it is reviewed, for example 2027-01-31; public.")
    ] = None,
    hold_out: Annotated[
        str | None,
        typer.Option(
            help="Keep back a control group, for example 5%, to measure attacks by; whole people."
        ),
    ] = None,
    hold_out_file: Annotated[
        str | None, typer.Option(help="CSV file for the control group, private; for --hold-out.")
    ] = None,
    withhold_counts: Annotated[
        bool,
        typer.Option("--withhold-counts", help="Do not publish how many rows were left out."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and whether it can be.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Publish a table so that what is required holds in every group."""
    import shoal
    from shoal.views.text import print_rehearsal, print_release

    run = show.asked(
        schema,
        table=table,
        output=output,
        quasi=quasi,
        sensitive=sensitive,
        require=require,
        method=method,
        identifying=identifying,
        other=other,
        nobody_knows=nobody_knows,
        never_mix=never_mix,
        survey_weight=survey_weight,
        person=person,
        most_rows=most_rows,
        rows=rows,
        linked=linked,
        pseudonymize=pseudonymize,
        key_file=key_file,
        type=type,
        hierarchy=hierarchy,
        weight=weight,
        decimal=decimal,
        form=form,
        keep_other=keep_other,
        cells=cells,
        date_format=date_format,
        round=round,
        bottom=bottom,
        top=top,
        format=format,
        linkage=linkage,
        trials=trials,
        owner_report=owner_report,
        ledger=ledger,
        batch=batch,
        least_real=least_real,
        threshold=threshold,
        suppress=suppress,
        seconds=seconds,
        missing=missing,
        query=query,
        sheet=sheet,
        delimiter=delimiter,
        encoding=encoding,
        population=population,
        engine=engine,
        seed=seed,
        escape_formulas=escape_formulas,
        title=title,
        institution=institution,
        purpose=purpose,
        recipients=recipients,
        legal_basis=legal_basis,
        review_date=review_date,
        hold_out=hold_out,
        hold_out_file=hold_out_file,
        withhold_counts=withhold_counts,
        force=force,
    )
    to_stdout = run.output == STDOUT
    if to_stdout and json and not dry_run:
        msg = "Standard output takes either the table or --json. Give --output a directory."
        raise shoal.UsageError(msg)
    show.announce_compiling(quiet=quiet)
    say = partial(show.say, quiet=quiet)
    with show.bar(quiet=quiet, seconds=run.seconds) as progress:
        if dry_run:
            facts = run.rehearse(progress, say)
            show.print_json(facts) if json else print_rehearsal(facts)
            return
        started = show.worked()
        outcome = run.go(progress, say)
        outcome.release.settings["seconds"] = {
            "start": started,
            **outcome.release.settings["seconds"],
        }
    show.settle(0)
    if json:
        show.print_json(outcome.facts)
    elif not to_stdout:
        print_release(outcome.release, outcome.place)
        if outcome.report is not None:
            show.note(f"Before you pass it on, read {outcome.report}.", quiet=quiet)
