"""Whether what a manifest says was asked for is what it says elsewhere, and what files show.

Some of what was asked leaves no other trace: how long a search may take, how the input was encoded,
which newcomers wait. The shape of that is checked, and nothing else can be.
"""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from itertools import repeat
from typing import TYPE_CHECKING, Any

from shoal.ask.ask import Ask
from shoal.ask.options import is_said, options_of
from shoal.audit.described import required
from shoal.errors import UsageError
from shoal.exact import read_share
from shoal.notation import typed_number
from shoal.release.stated import StatedColumn
from shoal.table.files import FORMATS, part_files
from shoal.table.forms import TWO_TABLES, UNKNOWN, stems
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import LABELS, PSEUDONYM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shoal.release.manifest import Manifest
    from shoal.release.stated import StatedAsk

BY_COLUMN = [one.name for one in options_of(Ask).values() if one.in_asked and one.within]


def check_asked(manifest: Manifest) -> list[str]:
    """Return a sentence for everything that was asked by one part of a manifest, not by another.

    A coarser release was not asked for by columns: these are those of the finer one.
    """
    asked = manifest.asked.to_dict()
    wrong = [*_formats(manifest)]
    if manifest.coarsened_from is not None:
        wrong += [name for name in asked if name != "format"]
    else:
        columns = [*manifest.every_column]
        for name, value in _stated(manifest, columns):
            told = asked.get(name)
            if _plain(told) != _plain(value):
                wrong.append(name)
        wrong += [*_by_name(manifest, columns)]
        wrong += [*_left_out(manifest)]
    return [
        f"What the manifest says in 'asked' about {name!r} contradicts its other parts or its "
        "files."
        for name in dict.fromkeys(wrong)
    ]


def _plain(value: Any) -> Any:
    """Return what is said, in whatever order; None where nothing is."""
    return None if not is_said(value) else set(value) if isinstance(value, list) else value


def _stated(manifest: Manifest, columns: Sequence[StatedColumn]) -> Iterator[tuple[str, Any]]:
    """Yield what is asked for exactly as other parts of a manifest say."""

    def names(role: str) -> list[str]:
        return [one.name for one in columns if one.role == role]

    yield "quasi", names("quasi")
    yield "sensitive", names("sensitive")
    yield "other", [c.name for c in columns if c.role == "other" and not c.survey_weight]
    yield "pseudonymize", names(PSEUDONYM)
    yield "key_file", bool(names(PSEUDONYM))
    yield "nobody_knows", [one.name for one in columns if one.said is not None]
    yield "never_mix", [one.name for one in columns if one.never_mix]
    yield "survey_weight", next((c.name for c in columns if c.survey_weight), None)
    yield "person", manifest.people is not None
    yield "rows", UNKNOWN if manifest.rows_known is False else None
    yield "linked", list(manifest.tables)
    yield "decimal", manifest.decimal
    yield "ledger", manifest.in_series
    yield "withhold_counts", manifest.rows_in is None
    yield "escape_formulas", manifest.escaped
    yield "cells", manifest.cells
    told = manifest.asked.schema or []
    # A step may be the column's own, and nodes do not tell the order of the labels under them.
    silent = [c for c in columns if c.name in told and (c.step is not None or c.kind == "node")]
    yield "schema", [c.name for c in columns if _in_a_file(c) or c in silent]


def _in_a_file(column: StatedColumn) -> bool:
    """Return whether no option can say what is said of a column."""
    name = column.name
    # Regions have step and bounds, whether or not they were given.
    unsaid = dict.fromkeys(
        ("kind", "domain", "never_mix", "survey_weight", "said", "step", "bounds")
    )
    said = column.but(**unsaid) != StatedColumn(name, column.role)
    return (
        column.near is not None
        or (column.bounds is not None and column.step is None)
        or column.type == "ordered"
        or "," in name
        or name != name.strip()
        or name.startswith("-")
        or ("=" in name and said)
    )


def _by_name(manifest: Manifest, columns: Sequence[StatedColumn]) -> Iterator[str]:
    """Yield what is asked of single columns, and not said of them."""
    asked = manifest.asked
    known = {one.name: one for one in columns}
    unsaid = set(asked.schema or [])
    for option in BY_COLUMN:
        told = getattr(asked, option) or {}
        if not told.keys() <= known.keys() - unsaid:
            yield option
        for name, column in known.items():
            if name not in unsaid and not _agrees(option, told.get(name), column, manifest):
                yield option


def _agrees(option: str, told: Any, column: StatedColumn, manifest: Manifest) -> bool:
    """Return whether what was asked of a column is what was done."""
    said = getattr(column, option.removesuffix("_cells"))
    if option == "type":
        if told is None:  # dates and numbers are found out too, and a series keeps what it found
            return manifest.in_series or said not in {*LABELS, "latitude", "longitude"}
        return said == told or (said is None and column.kind == "set" and told not in LABELS)
    if option == "hierarchy":
        if column.kind != "node":
            return told is None or (column.role == "quasi" and manifest.form == TWO_TABLES)
        return told == (True if said is None else said)
    if option == "date_format":
        return told in {None, said}
    if option in {"round", "bottom", "top"} and told is not None and said is not None:
        return str(told).strip().endswith("%") or _number(told, manifest) == _number(said)
    return bool(told == said)


def _number(value: object, manifest: Manifest | None = None) -> Fraction | None:
    """Return a number; one that was asked for may be written as the table writes them."""
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        found = None
        if manifest is not None:
            with suppress(UsageError):  # nothing so unclear is published
                found = typed_number(str(value), manifest.decimal)
        return None if found is None else Fraction(found)


def _formats(manifest: Manifest) -> Iterator[str]:
    """Yield what files show otherwise: their format, and whether Spark wrote them."""
    asked = manifest.asked
    stem = stems(manifest.form)[0]
    spread = bool(part_files(stem, manifest.digests))
    written = next((one for one in FORMATS if f"{stem}.{one}" in manifest.digests), FORMATS[0])
    if (asked.format or FORMATS[0]) != (FORMATS[0] if spread else written):
        yield "format"
    if (asked.engine or "").startswith("Spark(") is not spread:
        yield "engine"
    if spread:
        for option in options_of(Ask).values():
            if option.in_asked and option.not_on_spark and getattr(asked, option.name) is not None:
                yield option.name


def _left_out(manifest: Manifest) -> Iterator[str]:
    """Yield what numbers of rows, requirements and forms contradict."""
    asked = manifest.asked
    series, people = manifest.in_series, manifest.people is not None
    needs = any(one.principle.population for one in required(manifest))
    found: Mapping[str, bool] = {
        "hold_out": (asked.hold_out is not None) != (manifest.held_out is not None)
        or (
            asked.hold_out is not None
            and not series
            and not (people and manifest.dropped)  # of whom some may have gone altogether
            and _held(manifest) != int(read_share(asked.hold_out) * _offered(manifest))
        ),
        "most_rows": asked.most_rows is not None and not people,
        "batch": asked.batch is not None and not series,
        "least_real": asked.least_real is not None and not series,
        "population": needs if asked.population is None else asked.cells is not None,
        "keep_other": manifest.form == TWO_TABLES
        and any(c.role == "other" for c in manifest.columns)
        and asked.keep_other is None,
        "missing": any(map(_has_gaps, manifest.columns, repeat(asked)))
        or (
            (manifest.dropped or 0) > 0
            and "drop" not in {asked.missing, *(c.missing for c in manifest.every_column)}
        ),
        "method": asked.method not in {None, manifest.method} and not manifest.later_round,
    }
    yield from (name for name, wrong in found.items() if wrong)
    if asked.suppress is not None and not series and read_share(asked.suppress):
        yield from (side for side in ("bottom", "top") if _percents(getattr(asked, side)))
    gone = (manifest.suppressed_people if people else manifest.suppressed) or 0
    stay = manifest.people or manifest.rows
    if not series and gone > read_share(asked.suppress) * (stay + gone):
        yield "suppress"


def _held(manifest: Manifest) -> int | None:
    """Return how many people are in the control group."""
    return manifest.held_out if manifest.people is None else manifest.held_out_people


def _offered(manifest: Manifest) -> int:
    """Return of how many people a control group was drawn, where none went for missing cells."""
    if manifest.people is None:
        return manifest.rows_in or 0
    gone = (manifest.suppressed_people, manifest.held_out_people)
    return manifest.people + sum(filter(None, gone))


def _percents(said: Mapping[str, object] | None) -> bool:
    return any(str(one).strip().endswith("%") for one in (said or {}).values())


def _has_gaps(column: StatedColumn, asked: StatedAsk) -> bool:
    """Return whether a quasi column has missing cells that were not to be kept."""
    labels = column.kind == "set" and MISSING_LABEL in column.values
    return (column.has_gap or labels) and (column.missing or asked.missing) != "value"
