"""The codebook of a release as its tables, read back, tell it; and whether the one there is it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from shoal.audit.cells import interval_ends
from shoal.release.cells import typed_kind
from shoal.release.codebook import HEADER, HeldCells, codebook_of
from shoal.table.column import INTEGER
from shoal.table.columns import is_dictionary
from shoal.table.forms import CODEBOOK
from shoal.table.schema import LABELS, PSEUDONYM
from shoal.utility.bias import cautions, cell_bias
from shoal.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from shoal.audit.published import Published
    from shoal.table.schema import Schema

# A day, or a day and a time, as ISO 8601 writes them.
WORDS = ("done", "caution")
HELD = ("type", "domain", "values", "caution")
ISO_DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.]+)?$"


def codebook(published: Published, held: Mapping[str, HeldCells] | None = None) -> pl.DataFrame:
    """Return the codebook of published tables.

    `held` is what columns hold that are published as they are, where more rows say so than these.
    """
    manifest = published.stated
    decimals = {
        one.name
        for one in manifest.columns
        if one.has_ends and not one.dates and not _whole(published, one.name)
    }
    known = dict(_held(published)) if held is None else held
    told = cautions(cell_bias(published.table, manifest)) if published.whole else {}
    return codebook_of(manifest, known, decimals, told)


def untrue_codebook(directory: Path, published: Published) -> list[str]:
    """Return a sentence for every line of a codebook that the tables and the manifest contradict.

    Another version of Shoal may word what was done and what to mind otherwise. Where not all rows
    were read, it is not known what the columns hold that are published as they are.
    """
    known = _lines(codebook(published).write_csv().encode())
    try:
        told = _lines((directory / CODEBOOK).read_bytes())
    except (OSError, pl.exceptions.PolarsError):
        return []  # the audit has said so
    if told.columns != known.columns:
        return [f"{CODEBOOK} has other columns than a codebook has."]
    compared = [key for key in HEADER if published.stated.shoal == __version__ or key not in WORDS]

    def by_column(lines: pl.DataFrame) -> dict[tuple[str, str], dict[str, str]]:
        return {(line["file"], line["name"]): line for line in lines.iter_rows(named=True)}

    right, there = by_column(known), by_column(told)
    problems = [f"{CODEBOOK} has no line for {name!r}." for _, name in right.keys() - there.keys()]
    problems += [
        f"{CODEBOOK} has a line for {name!r}, which is not published."
        for _, name in there.keys() - right.keys()
    ]
    for at in right.keys() & there.keys():
        unknown = () if published.whole or right[at]["form"] != "exact" else HELD
        if other := [
            key for key in compared if key not in unknown and right[at][key] != there[at][key]
        ]:
            problems.append(
                f"{CODEBOOK} says something else of {at[1]!r} than the published tables and the "
                f"manifest: {', '.join(other)}."
            )
    if not problems and told.height != known.height:
        problems.append(f"{CODEBOOK} has several lines for one column.")
    return sorted(problems)


def _lines(data: bytes) -> pl.DataFrame:
    """Read a codebook, all of it as text."""
    return pl.read_csv(data, infer_schema=False).fill_null("")


def _whole(published: Published, name: str) -> bool:
    """Return whether all published numbers of a quasi column are whole."""
    table = published.table if published.people is None else published.people
    ends = interval_ends(table[name].unique().cast(pl.String))
    return all(end.drop_nulls().str.contains(INTEGER).all() for end in ends)


def _held(published: Published) -> Iterator[tuple[str, HeldCells]]:
    """Yield what the columns hold that are published as they are."""
    schema = published.schema
    for one in published.stated.columns:
        name, role = one.name, one.role
        if role not in {"quasi", PSEUDONYM}:
            table = published.table if name in published.table.columns else published.people
            assert table is not None
            yield name, _cells(table[name], schema, role)
    for name, linked in published.linked.items():
        own = schema.linked[name]
        for column in own.published:
            yield column, _cells(linked[column], own, str(own.role(column)))


def _cells(column: pl.Series, schema: Schema, role: str) -> HeldCells:
    """Describe the cells of a column that is published as it is."""
    name = column.name
    some = column.unique()
    some = some.cast(pl.String) if is_dictionary(some) else some
    plain = schema.read_numbers(some.to_frame(), role)[name]
    if schema.types.get(name) in LABELS:
        return HeldCells.of(plain.cast(pl.String), plain)
    kind = typed_kind(plain, spelled=False)
    found = HeldCells.of(plain.cast(kind) if kind is not None else plain, plain)
    known = plain.drop_nulls()
    if plain.dtype == pl.String and len(known) and known.str.contains(ISO_DAY).all():
        return replace(found, type="date", ends=(known.min(), known.max()))
    return found
