"""The lines of a proposed schema file: comments, lists, how the table is read, what columns are."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from shoal.ask.ask import key_of, quoted
from shoal.exact import percent, tidy
from shoal.inspection.advise import weighing
from shoal.table.column import hierarchy_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.inspection.assumed import Assumption
    from shoal.inspection.assuming import Opened
    from shoal.inspection.inspect import ColumnInspection, Inspection
    from shoal.table.groupings import Hierarchy
    from shoal.table.schema import Schema


WIDTH = 92


def comment(text: str) -> list[str]:
    """Return the lines of a comment."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return [f"# {line}" for line in textwrap.wrap(plain, WIDTH, break_on_hyphens=False)]


def listed(names: tuple[str, ...]) -> str:
    """Return a list of names, a line each where they are many."""
    shown = quoted(names)
    if len(shown) <= WIDTH:
        return shown
    return "[\n" + "".join(f"  {quoted(name)},\n" for name in names) + "]"


def reading_lines(assumed: Sequence[Assumption]) -> list[str]:
    """Return how the file is read, where that has to be said, each with its reason."""
    said: list[str] = []
    for one in assumed:
        if one.column or (one.sure and not one.needed):
            continue
        said += comment(one.why if one.sure else f"? {one.why}")
        ways = [f"# {one.key} = {quoted(way)}" for way in one.choices]
        if one.needed:
            said += ways if one.value is None else [f"{one.key} = {quoted(one.value)}"]
        said.append("")
    return said


def code_lines(opened: Opened | None) -> dict[str, list[str]]:
    """Return for each column the lines that say which of its cells mean missing."""
    if opened is None:
        return {}
    why: dict[str, list[str]] = {}
    for one in opened.assumed:
        if one.key == "missing_codes":
            why.setdefault(one.column, []).extend(
                comment(one.why if one.sure else f"? {one.why} Do they mean missing?")
            )
    return {
        name: [*why.get(name, ()), f"missing_codes = {quoted(list(codes))}"]
        for name, codes in opened.layout.missing_codes.items()
    }


STEPS = 100  # that numbers are suggested to be rounded to
PREFIXED = 20  # values from which a code is published by its beginning


def lines_of_columns(
    found: Inspection,
    schema: Schema,
    codes: Mapping[str, list[str]],
    trees: Mapping[str, float | None],
) -> list[str]:
    """Return the lines of all columns: why each has its role, and its keys.

    `trees` says what a release loses with a hierarchy of each column that could have one.
    """
    said: list[str] = []
    weight = proposed_weight(found)
    for column in found.columns:
        role = f"{schema.role(column.name) or 'left out'}: {column.why}"
        if column.name == weight:
            role = "survey weight: the name suggests how many people a row stands for"
        said += comment(f"{quoted(column.name)}: {role}.")
        kind = column.type or "unusable"
        values = "1 value" if column.distinct == 1 else f"{column.distinct:,} values"
        said += comment(f"{kind}: {column.reason}; {values}.")
        if column.question:
            said += comment(f"? {column.question}")
        for suspicion in column.suspicions:
            said += comment(f"! {suspicion.text}")
        if column.name in schema.published:
            said += [*_settings(column, schema, trees), *codes.get(column.name, ())]
        elif column.name in schema.persons and column.name in codes:
            said += [f"[columns.{key_of(column.name)}]", *codes[column.name]]
        said.append("")
    for one in found.kinship:
        said += comment(one.text)
    return said


def _settings(
    column: ColumnInspection, schema: Schema, trees: Mapping[str, float | None]
) -> list[str]:
    """Return what a schema file says of one column that is published."""
    said = [f"[columns.{key_of(column.name)}]"]
    if column.name in schema.types:
        said.append(f"type = {quoted(schema.types[column.name])}")
    if column.order:
        said.append(f"order = {listed(column.order)}")
    if column.name in schema.date_formats:
        said.append(f"date_format = {quoted(schema.date_formats[column.name])}")
    said += _rounding(column)
    if column.name in schema.quasi:
        said += [
            *_hierarchy(column, trees.get(column.name)),
            "# weight = 2  # its loss counts twice",
        ]
    return said


def proposed_weight(found: Inspection) -> str | None:
    """Return the column that is a survey weight by its name, if it can be used as one."""
    return next(
        (
            one.name
            for one in found.columns
            if weighing(one.name)
            and one.type == "numeric"
            and not one.missing
            and float(one.values["low"]) >= 0
        ),
        None,
    )


def _rounding(column: ColumnInspection) -> list[str]:
    """Suggest to round numbers with decimals to what people know of one another."""
    if column.type != "numeric" or column.distinct <= PREFIXED:
        return []
    low, high = float(column.values["low"]), float(column.values["high"])
    step = tidy((high - low) / STEPS)
    finer = step <= 1 and low.is_integer() and high.is_integer()  # than whole numbers are
    said = [f"# round = {step}  # applied first"] if step and not finer else []
    return [*said, '# top = "99%"  # higher values are set to this']


def prefixes_of(found: Inspection, schema: Schema) -> dict[str, Hierarchy]:
    """Return the hierarchy that each quasi column of many codes could have, to price it.

    None is proposed: the node of a group has all the codes that its list has, and others.
    """
    return {
        one.name: hierarchy_of("Prefix()")
        for one in found.columns
        if one.type == "code" and one.name in schema.quasi and one.distinct > PREFIXED
        if len(str(one.values.get("pattern", ""))) > 2
    }


def _hierarchy(column: ColumnInspection, lost: float | None) -> list[str]:
    """Suggest a hierarchy in a comment, with what a release by it loses where that is known."""
    if column.type == "code":
        price = "" if lost is None else f": about {percent(lost, 1)} of the detail lost"
        return [f'# hierarchy = "Prefix()"  # 1234*, 123** instead of lists of codes{price}']
    if column.type == "date":
        return ['# hierarchy = "Calendar()"  # day, month, quarter, year']
    if column.type == "ordered":
        return ['# hierarchy = "Grouped(size=3)"']
    if column.type == "numeric" and column.distinct > PREFIXED:
        span = float(column.values["high"]) - float(column.values["low"])
        width = tidy(span / 8)
        return [f'# hierarchy = "Bins(width={width})"'] if width else []
    if column.type == "categorical":
        return [f"# hierarchy = {quoted(column.name + '.csv')}  # label;group;*"]
    return []
