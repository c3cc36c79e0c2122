"""Whether what a manifest says was asked for is what it says elsewhere, and what files show.

Some of what was asked leaves no other trace: how long a search may take, how the input was encoded,
which newcomers wait. The shape of that is checked, and nothing else can be.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import repeat
from typing import TYPE_CHECKING, Any

from shoal.ask import options
from shoal.ask.ask import Ask
from shoal.ask.options import is_said
from shoal.audit.shapes import (
    Check,
    Wrong,
    finite,
    listed,
    mapped,
    one_of,
    text,
    true,
    whole,
)
from shoal.errors import InputError, UsageError
from shoal.exact import read_share
from shoal.notation import parse
from shoal.principles.requirement import requirements
from shoal.table.files import FORMATS, part_files
from shoal.table.forms import TWO_TABLES, stems
from shoal.table.missing import MISSING_LABEL
from shoal.table.schema import LABELS, PSEUDONYM, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from shoal.ask.options import Option

Told = dict[str, Any]


def _share(value: Any, place: str) -> None:
    try:
        read_share(value)
    except UsageError:
        problem = f"{place} has to be a share such as 1%"
        raise Wrong(problem) from None


def _threshold(value: Any, place: str) -> None:
    """Check a number, or a percentile."""
    (text() if isinstance(value, str) else finite())(value, place)


def _hierarchy(value: Any, place: str) -> None:
    """Check the notation of a hierarchy; of one that its owner listed, only that there is one."""
    (text() if isinstance(value, str) else true)(value, place)


def _term(role: str) -> Check:
    """Return a check for the notation of something in a role."""

    def check(value: Any, place: str) -> None:
        text()(value, place)
        try:
            right = parse(value, files=False).role == role
        except (UsageError, InputError):
            right = False
        if not right:
            problem = f"{place} has to be a {role} in the notation"
            raise Wrong(problem)

    return check


NAMES = listed(text(), least=1, different=True)
SPECIAL: dict[str, Check] = {  # what the kind of an option does not tell
    "schema": NAMES,
    "linked": NAMES,
    "hierarchies": mapped(_hierarchy),
    "round": mapped(_threshold),
    "bottom": mapped(_threshold),
    "top": mapped(_threshold),
    "method": _term("method"),
    "engine": _term("engine"),
    "format": one_of(*FORMATS),
}
OF_KIND: dict[str, Check] = {
    options.TEXT: text(),
    options.NAMES: NAMES,
    options.FLAG: true,
    options.NUMBER: finite(above=0),
    options.SHARE: _share,
    options.BY_NAME: mapped(text()),
    options.NUMBERS: mapped(finite(above=0)),
}


def _shape(name: str, option: Option) -> Check:
    """Return the check of what a manifest says of an option: what is usual is not said."""
    if name in SPECIAL:
        return SPECIAL[name]
    if option.secret:
        return true
    if option.words:
        said = one_of(*(word for word in option.words if word != option.usual))
        return mapped(said) if option.within else said
    if option.kind == options.WHOLE:
        return whole(least=1 + (option.usual or 0))
    return OF_KIND[option.kind]


PUBLIC = {name: one for name, one in options.options_of(Ask).items() if one.in_asked}
ASKED: dict[str, Check] = {one.name: _shape(name, one) for name, one in PUBLIC.items()}
BY_COLUMN = [one.name for one in PUBLIC.values() if one.within]


def check_asked(manifest: Told) -> list[str]:
    """Return a sentence for everything that was asked by one part of a manifest, not by another.

    A coarser release was not asked for by columns: these are those of the finer one.
    """
    asked = manifest["asked"]
    wrong = [*_formats(manifest)]
    if "coarsened_from" in manifest:
        wrong += [name for name in asked if name != "format"]
    else:
        columns = [*_columns(manifest)]
        for name, value in _stated(manifest, columns):
            told = asked.get(name)
            if _plain(told) != _plain(value):
                wrong.append(name)
        wrong += [*_by_name(manifest, columns)]
        wrong += [*_left_out(manifest)]
    return [
        f"The manifest says in 'asked' something else of {name!r} than in its other parts or than "
        "its files show."
        for name in dict.fromkeys(wrong)
    ]


def _plain(value: Any) -> Any:
    """Return what is said, in whatever order; None where nothing is."""
    return None if not is_said(value) else set(value) if isinstance(value, list) else value


def _columns(manifest: Told) -> Iterator[Told]:
    """Yield every published column, those of linked tables under both names."""
    yield from manifest["columns"]
    for table, said in manifest.get("tables", {}).items():
        yield from (one | {"name": f"{table}.{one['name']}"} for one in said["columns"])


def _stated(manifest: Told, columns: Sequence[Told]) -> Iterator[tuple[str, Any]]:
    """Yield what is asked for exactly as other parts of a manifest say."""

    def names(role: str) -> list[str]:
        return [one["name"] for one in columns if one["role"] == role]

    yield "quasi", names("quasi")
    yield "sensitive", names("sensitive")
    yield "other", names("other")
    yield "pseudonymize", names(PSEUDONYM)
    yield "key_file", bool(names(PSEUDONYM))
    yield "nobody_knows", [one["name"] for one in columns if "said" in one]
    yield "never_mix", [one["name"] for one in columns if "never_mix" in one]
    yield "survey_weight", next((c["name"] for c in columns if "survey_weight" in c), None)
    yield "person", "people" in manifest
    yield "rows", UNKNOWN if manifest.get("rows_known") is False else None
    yield "linked", list(manifest.get("tables", {}))
    yield "decimal", manifest.get("decimal")
    yield "ledger", "previous" in manifest
    yield "withhold_counts", "rows_in" not in manifest
    yield "escape_formulas", manifest.get("escaped")
    yield "cells", manifest.get("cells")
    told = manifest["asked"].get("schema", [])
    # A step may be the column's own, and nodes do not tell the order of the labels under them.
    silent = [c for c in columns if c["name"] in told and ("step" in c or c.get("kind") == "node")]
    yield "schema", [c["name"] for c in columns if _in_a_file(c) or c in silent]


def _in_a_file(column: Told) -> bool:
    """Return whether no option can say what is said of a column."""
    name = column["name"]
    said = column.keys() - {"name", "role", "kind", "domain", "never_mix", "survey_weight", "said"}
    said -= {"step", "bounds"}  # regions have both, whether or not they were given
    return (
        "near" in column
        or ("bounds" in column and "step" not in column)
        or column.get("type") == "ordered"
        or "," in name
        or name != name.strip()
        or name.startswith("-")
        or ("=" in name and bool(said))
    )


def _by_name(manifest: Told, columns: Sequence[Told]) -> Iterator[str]:
    """Yield what is asked of single columns, and not said of them."""
    asked = manifest["asked"]
    known = {one["name"]: one for one in columns}
    unsaid = set(asked.get("schema", []))
    for option in BY_COLUMN:
        told = asked.get(option, {})
        if not told.keys() <= known.keys() - unsaid:
            yield option
        for name, column in known.items():
            if name not in unsaid and not _agrees(option, told.get(name), column, manifest):
                yield option


def _agrees(option: str, told: Any, column: Told, manifest: Told) -> bool:
    """Return whether what was asked of a column is what was done."""
    said = column.get(option.removesuffix("_cells"))
    if option == "type":
        if told is None:  # dates and numbers are found out too, and a series keeps what it found
            return "previous" in manifest or said not in {*LABELS, "latitude", "longitude"}
        return said == told or (said is None and column.get("kind") == "set" and told not in LABELS)
    if option == "hierarchy":
        if column.get("kind") != "node":
            return told is None or (column["role"] == "quasi" and manifest["form"] == TWO_TABLES)
        return told == (True if said is None else said)
    if option == "date_format":
        return told in {None, said}
    if option in {"round", "bottom", "top"} and told is not None and said is not None:
        return str(told).strip().endswith("%") or _number(told) == _number(said)
    return bool(told == said)


def _number(value: Any) -> Fraction | None:
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return None


def _formats(manifest: Told) -> Iterator[str]:
    """Yield what files show otherwise: their format, and whether Spark wrote them."""
    asked = manifest["asked"]
    stem = stems(manifest["form"])[0]
    spread = bool(part_files(stem, manifest["digests"]))
    written = next((one for one in FORMATS if f"{stem}.{one}" in manifest["digests"]), FORMATS[0])
    if asked.get("format", FORMATS[0]) != (FORMATS[0] if spread else written):
        yield "format"
    if str(asked.get("engine", "")).startswith("Spark(") is not spread:
        yield "engine"


def _left_out(manifest: Told) -> Iterator[str]:
    """Yield what numbers of rows, requirements and forms contradict."""
    asked = manifest["asked"]
    series, people = "previous" in manifest, "people" in manifest
    sensitive = [c["name"] for c in _columns(manifest) if c["role"] == "sensitive"]
    about = requirements(manifest["require"], sensitive, files=False)
    needs = any(one.principle.population for one in about)
    found: Mapping[str, bool] = {
        "hold_out": ("hold_out" in asked) != ("held_out" in manifest)
        or (
            "hold_out" in asked
            and not people  # of whom some may have gone for missing cells
            and manifest["held_out"] != int(read_share(asked["hold_out"]) * manifest["rows_in"])
        ),
        "most_rows": "most_rows" in asked and not people,
        "batch": "batch" in asked and not series,
        "least_real": "least_real" in asked and not series,
        "population": needs and "population" not in asked,
        "keep_other": manifest["form"] == TWO_TABLES
        and any(c["role"] == "other" for c in manifest["columns"])
        and "keep_other" not in asked,
        "missing": any(map(_has_gaps, manifest["columns"], repeat(asked)))
        or (
            manifest.get("dropped", 0) > 0
            and "drop"
            not in {asked.get("missing"), *(c.get("missing") for c in _columns(manifest))}
        ),
        "method": "method" in asked and not series and asked["method"] != manifest["method"],
    }
    yield from (name for name, wrong in found.items() if wrong)
    gone = manifest.get("suppressed_people" if people else "suppressed", 0)
    stay = manifest["people" if people else "rows"]
    if not series and gone > read_share(asked.get("suppress")) * (stay + gone):
        yield "suppress"


def _has_gaps(column: Told, asked: Told) -> bool:
    """Return whether a quasi column has missing cells that were not to be kept."""
    gap = {"interval": None, "set": MISSING_LABEL}
    return (
        column.get("kind") in gap
        and gap[column["kind"]] in column["domain"]
        and column.get("missing", asked.get("missing")) != "value"
    )
