"""`shoal anonymize`: from a table to a release that its own audit has checked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import show

if TYPE_CHECKING:
    import shoal


def anonymize(
    table: show.Table,
    output: Annotated[str | None, typer.Option(help="Directory to make.")] = None,
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    method: Annotated[
        str | None, typer.Option(help="How to search, as 'Exchange()' or 'Split()'.")
    ] = None,
    identifying: show.Identifying = None,
    other: show.Other = None,
    schema: show.SchemaFile = None,
    type: show.Types = None,
    hierarchy: show.Hierarchies = None,
    weight: show.Weights = None,
    decimal: show.Decimal = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",
    linkage: Annotated[
        str | None, typer.Option(help="Private file that maps input rows to published rows.")
    ] = None,
    suppress: Annotated[
        str | None, typer.Option(help="Rows that may be left out where that resolves it, as 1%.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time budget of the search.")] = None,
    missing: show.MissingCells = None,
    seed: Annotated[int | None, typer.Option(help="For tests: a repeatable order of rows.")] = None,
    escape_formulas: Annotated[
        bool, typer.Option("--escape-formulas", help="Defuse cells a spreadsheet would run.")
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
    from shoal.publishing import check_output
    from shoal.report.charts import warm_up
    from shoal.schema.columns import Handed
    from shoal.schema.lean import read_lean

    said = show.settings(schema)
    chosen = show.merged_schema(
        said,
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        other=other,
        types=type,
        hierarchies=hierarchy,
        weights=weight,
        decimal=decimal,
    )
    target = output or said.output
    if not dry_run:
        if target is None:
            msg = "No output was named. Say where the release should go: --output published."
            raise shoal.UsageError(msg)
        check_output(target, format=format, linkage=linkage, force=force, table=table)
    options: dict[str, Any] = {
        "require": require or said.require,
        "method": method or said.method,
        "missing": missing or said.missing or "error",
    }
    if not dry_run:
        warm_up()
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        progress("read", 0.0)
        start = time.perf_counter()
        frame = read_lean(table, wanted=chosen.published, progress=progress)
        reading = round(time.perf_counter() - start, 3)
        chosen.check(frame.columns)
        show.list_dropped(frame.columns, chosen, quiet=quiet)
        if dry_run or target is None:
            _rehearse(frame, chosen, options, json=json)
            return
        rows = frame.height
        handed = Handed(frame)
        del frame  # so that cells can go as soon as they are coded
        release = shoal.anonymize(
            handed,
            chosen,
            **options,
            suppress=suppress,
            seconds=seconds,
            seed=seed,
            escape_formulas=escape_formulas,
            progress=progress,
        )
        release.manifest["seconds"] = {"read": reading} | release.manifest["seconds"]
        release.write(target, format=format, linkage=linkage, force=force, progress=progress)
    _remark(release, rows, escaped=escape_formulas, seed=seed, quiet=quiet)
    if json:
        show.print_json(release.manifest)
    else:
        from shoal.report.text import print_release

        print_release(release, target)


def _rehearse(frame: Any, schema: shoal.Schema, options: dict[str, Any], *, json: bool) -> None:
    from shoal.engines.local import rehearse
    from shoal.report.text import print_rehearsal

    facts = rehearse(frame, schema, **options)
    if json:
        show.print_json(facts)
    else:
        print_rehearsal(facts)


def _remark(
    release: shoal.Release, rows: int, *, escaped: bool, seed: int | None, quiet: bool
) -> None:
    """Say what the owner should know before publishing."""
    if seed is not None:
        show.note(
            "Warning: made with a seed, so the order of rows can be worked out. For testing only.",
            quiet=quiet,
        )
    suppressed = release.manifest["suppressed"]
    if suppressed:
        show.note(f"Suppressed {suppressed} rows that stood in the way.", quiet=quiet)
    if dropped := rows - release.manifest["rows"] - suppressed:
        show.note(f"Left out {dropped} rows with missing cells.", quiet=quiet)
    if release.formulas and escaped:
        show.note(f"Escaped {release.formulas} cells that a spreadsheet would run.", quiet=quiet)
    elif release.formulas:
        show.note(
            f"Warning: {release.formulas} cells begin with = + - or @, and a spreadsheet would run "
            "them as formulas. Use --escape-formulas to defuse them.",
            quiet=quiet,
        )
