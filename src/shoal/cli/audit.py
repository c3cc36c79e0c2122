"""`shoal audit`: what published files keep, measured from the files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import show


def audit(
    source: Annotated[
        str, typer.Argument(help="Release directory, or a published table.", show_default=False)
    ],
    quasi: show.Quasi = None,
    sensitive: show.Sensitive = None,
    require: show.Requires = None,
    schema: show.SchemaFile = None,
    original: Annotated[
        str | None,
        typer.Option(help="The table that a release without groups was made from; owners only."),
    ] = None,
    quiet: show.Quiet = False,
    json: show.Json = False,
) -> None:
    """Measure what published files keep; exit 1 where a requirement does not hold."""
    import shoal
    from shoal.report.text import print_audit

    said = show.settings(schema)
    show.announce_compiling(quiet=quiet)
    asked = require or said.require or None
    if Path(source).is_dir():
        found = shoal.audit_files(source, require=asked, original=original)
    else:
        chosen = show.merged_schema(said, quasi=quasi, sensitive=sensitive)
        if not chosen.quasi or not asked:
            msg = "A plain table needs --quasi, --require and, for all but KAnonymity, --sensitive."
            raise shoal.UsageError(msg)
        found = shoal.audit_files(source, chosen, require=asked, original=original)
    if json:
        show.print_json(found.to_dict())
    else:
        print_audit(found)
    if not found.holds:
        raise typer.Exit(1)
