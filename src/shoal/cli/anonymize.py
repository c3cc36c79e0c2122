"""`shoal anonymize`: from a table to a release that its own audit has checked."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli import show

if TYPE_CHECKING:
    import shoal


def anonymize(
    table: show.OptionalTables = None,
    output: Annotated[
        str | None,
        typer.Option(
            help="Directory to make; or the table alone: - for standard output, or "
            "sqlite:///people.db?table=published."
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
    never_mix: show.NeverMix = None,
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
            "--trials", help="Show in the report what other methods and parameters would lose."
        ),
    ] = False,
    owner_report: Annotated[
        str | None,
        typer.Option(help="Private HTML file: riskiest groups, frontier, methods compared."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Risk of being found that the report compares with.")
    ] = 0.09,
    suppress: Annotated[
        str | None, typer.Option(help="Rows that may be left out where that helps, as 1%.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time budget of the search.")] = None,
    missing: show.MissingCells = None,
    query: show.Query = None,
    sheet: show.Sheet = None,
    delimiter: show.Delimiter = None,
    encoding: show.Encoding = None,
    population: show.Population = None,
    engine: Annotated[
        str | None, typer.Option(help="Where to work, as 'Local(shard=500000)'; this machine else.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For tests: a repeatable order of rows.")] = None,
    escape_formulas: Annotated[
        bool, typer.Option("--escape-formulas", help="Defuse cells a spreadsheet would run.")
    ] = False,
    title: Annotated[
        str | None, typer.Option(help="What the release is called, in manifest and report.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and whether it can be.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Publish a table so that what is required holds in every group."""
    import shoal
    from shoal.audit.identification import check_threshold
    from shoal.runs.outlets import STDOUT, is_outlet
    from shoal.table.columns import Handed
    from shoal.table.reading import read_lean
    from shoal.views.charts.base import warm_up

    said = show.settings(schema)
    chosen = show.merged_schema(
        said,
        quasi=quasi,
        sensitive=sensitive,
        identifying=identifying,
        other=other,
        pseudonymize=pseudonymize,
        never_mix=never_mix,
        types=type,
        hierarchies=hierarchy,
        weights=weight,
        decimal=decimal,
    )
    key = _key(chosen, key_file)
    source = show.tables_of(table, said)
    target, written = output or said.output, format or said.format
    if not dry_run:
        target = _named(target, hint=not (schema or chosen.quasi))
        check_threshold(threshold)
        private = {"linkage": linkage, "owner-report": owner_report}
        _check_target(source, target, private, format=written, force=force, json=json)
    options: dict[str, Any] = {
        "require": require or said.require,
        "method": method or said.method,
        "missing": missing or said.missing or "error",
        "population": population,
    }
    escape = escape_formulas or said.escape_formulas
    if not (dry_run or target is None or is_outlet(target)):
        warm_up()
    show.announce_compiling(quiet=quiet)
    with show.bar(quiet=quiet) as progress:
        progress("read", 0.0)
        start = time.perf_counter()
        frame = read_lean(
            source,
            query=query,
            sheet=sheet,
            delimiter=delimiter,
            encoding=encoding or said.encoding,
            wanted=(*chosen.published, *chosen.pseudonymize),
            progress=progress,
        )
        reading = round(time.perf_counter() - start, 3)
        given = {"quasi": quasi, "sensitive": sensitive, "identifying": identifying, "other": other}
        said.check_columns(frame.columns, [role for role, text in given.items() if not text])
        chosen.check(frame.columns)
        show.list_dropped(frame.columns, chosen, quiet=quiet)
        if dry_run or target is None:
            _rehearse(frame, chosen, options, json=json)
            return
        handed = Handed(frame)
        del frame  # so that cells can go as soon as they are coded
        release = shoal.anonymize(
            handed,
            chosen,
            **options,
            suppress=said.suppress if suppress is None else suppress,
            seconds=said.seconds if seconds is None else seconds,
            seed=seed,
            engine=engine,
            escape_formulas=escape,
            key=key,
            title=said.title if title is None else title,
            progress=progress,
        )
        release.manifest["seconds"] = {"read": reading} | release.manifest["seconds"]
        release.settings.update(
            delimiter=delimiter, encoding=encoding or said.encoding, format=written
        )
        release.write(
            target,
            format=written or "csv",
            linkage=linkage,
            force=force,
            threshold=threshold,
            trials=trials,
            progress=progress,
        )
        if owner_report is not None:
            release.owner_report(owner_report, threshold=threshold, force=force, progress=progress)
    _remark(release, named=bool(options["method"]), escaped=escape, seed=seed, quiet=quiet)
    if json:
        show.print_json(release.manifest)
    elif target != STDOUT:
        from shoal.table.databases.access import name_of
        from shoal.views.text import print_release

        print_release(release, name_of(target))
        if not is_outlet(target):
            show.note(f"Before you pass it on, read {Path(target) / 'report.html'}.", quiet=quiet)


def _named(target: str | None, *, hint: bool) -> str:
    """Return where the release goes, or say what is missing."""
    import shoal

    if target is None:
        msg = "No output was named. Say where the release should go: --output published."
        if hint:
            msg = (
                "Nothing is said about the columns. Give --quasi, --sensitive, --require and "
                "--output, or let `shoal init` write a schema file and name it: --schema."
            )
        raise shoal.UsageError(msg)
    return target


def _key(schema: shoal.Schema, file: str | None) -> bytes | None:
    """Read the secret of pseudonyms where there is one, and raise where one is needed."""
    from shoal.table.pseudonyms import check_key, read_key

    key = read_key(file) if file or schema.pseudonymize else None
    check_key(schema.pseudonymize, key)
    return key


def _check_target(
    table: list[str],
    target: str,
    private: dict[str, str | None],
    *,
    format: str | None,
    force: bool,
    json: bool,
) -> None:
    """Raise before any work is done where the output could not be written in the end."""
    import shoal
    from shoal.release.places import check_output, check_private
    from shoal.runs.outlets import STDOUT, check_outlet, is_outlet
    from shoal.table.reading import find_files

    if target == STDOUT and json:
        msg = "Standard output takes either the table or --json. Give --output a directory."
        raise shoal.UsageError(msg)
    files = find_files(table)
    if is_outlet(target):
        check_outlet(target, format=format, linkage=None, force=force, tables=files)
    else:
        check_output(target, format=format or "csv", linkage=None, force=force, tables=files)
    place = None if is_outlet(target) else Path(os.path.realpath(target))
    for what, path in private.items():
        if path is not None:
            check_private(path, place, files, what=what, force=force)
    named = [os.path.realpath(path) for path in private.values() if path is not None]
    if len(set(named)) < len(named):
        msg = "--linkage and --owner-report name the same file. Give each its own."
        raise shoal.UsageError(msg)


def _rehearse(frame: Any, schema: shoal.Schema, options: dict[str, Any], *, json: bool) -> None:
    from shoal.runs.anonymize import rehearse
    from shoal.views.text import print_rehearsal

    facts = rehearse(frame, schema, **options)
    if json:
        show.print_json(facts)
    else:
        print_rehearsal(facts)


def _remark(
    release: shoal.Release, *, named: bool, escaped: bool, seed: int | None, quiet: bool
) -> None:
    """Say what the owner should know before publishing; `named`: which method was."""
    from shoal.methods.choice import why
    from shoal.principles.requirement import requirements

    reason = why(release.manifest["method"], len(release.coded), release.requirements)
    if reason is not None and not named:
        show.note(reason, quiet=quiet)
    if seed is not None:
        show.note(
            "Warning: made with a seed, so the order of rows can be worked out. For testing only.",
            quiet=quiet,
        )
    if release.schema.pseudonymize:
        from shoal.table.pseudonyms import warning

        show.note(f"Warning: {warning(release.schema.pseudonymize)}", quiet=quiet)
    for one in requirements(release.manifest["require"], release.schema.sensitive):
        if len(one.columns) > 1 and not one.named:
            together = " and ".join(one.columns)
            show.note(
                f"Warning: {one!r} speaks of {together} together, as one value, and not of either "
                f"alone. To protect each, ask for '{one.columns[0]}: {one!r}' and so on.",
                quiet=quiet,
            )
    if release.manifest["groups"] == 1:
        show.note(
            "Warning: all rows are in one group, so the quasi columns tell nothing any more. Ask "
            "for less, or see with `shoal tune` where that begins.",
            quiet=quiet,
        )
    _remark_labels(release, quiet=quiet)
    _remark_rows(release, escaped=escaped, quiet=quiet)


def _remark_labels(release: shoal.Release, *, quiet: bool) -> None:
    """Say which columns have labels that only look like one value."""
    import numpy as np

    from shoal.inspection.spellings import look_alikes

    for column in (*release.coded.quasi, *release.coded.sensitive):
        if column.numeric:
            continue
        counts = np.bincount(column.codes, minlength=column.distinct)
        found = look_alikes(column.spellings, counts)
        if found is not None:
            rows = int(counts[found.which].sum())
            show.note(
                f"Warning: {found.text} in {column.name!r} ({rows:,} rows). Each spelling counts "
                "as a value of its own, and a group that holds several seems more diverse than it "
                "is. Make them one first.",
                quiet=quiet,
            )


def _remark_rows(release: shoal.Release, *, escaped: bool, quiet: bool) -> None:
    """Say which rows are missing, and which cells a spreadsheet would run."""
    suppression = release.suppression
    if suppression.rows:
        show.note(str(suppression), quiet=quiet)
    if dropped := release.manifest["dropped"]:
        show.note(f"Left out {dropped} rows with missing cells.", quiet=quiet)
    if release.formulas and escaped:
        show.note(f"Escaped {release.formulas} cells that a spreadsheet would run.", quiet=quiet)
    elif release.formulas:
        show.note(
            f"Warning: {release.formulas} cells, headers included, begin with = + - @, a tab or a "
            "carriage return, and a spreadsheet would run them as formulas. Use --escape-formulas "
            "to defuse them.",
            quiet=quiet,
        )
