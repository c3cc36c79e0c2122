"""The first schema file of a table, with a comment for everything that was decided."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from shoal.ask.ask import quoted
from shoal.ask.options import EVERYBODY
from shoal.errors import NotAchievable, OutputError, UnknownColumn, UsageError, option
from shoal.exact import percent, unique_share
from shoal.inspection.assuming import open_table
from shoal.inspection.inspect import inspect
from shoal.platforms import path_from
from shoal.release.places import PUBLIC, write_whole
from shoal.runs.look import beyond_the_cap, lowered
from shoal.runs.losing import SAMPLE
from shoal.runs.proposal import DEAR, estimated, propose, protecting, requirements_for
from shoal.runs.schema_columns import (
    code_lines,
    comment,
    lines_of_columns,
    listed,
    prefixes_of,
    proposed_weight,
    reading_lines,
)
from shoal.table.databases.access import is_address, to_keep
from shoal.table.dates import check_format
from shoal.table.files import check_spelling
from shoal.table.schema import Schema
from shoal.views.terminal import Command

if TYPE_CHECKING:
    import polars as pl

    from shoal.inspection.assuming import Opened
    from shoal.inspection.inspect import Inspection
    from shoal.runs.proposal import Proposal
    from shoal.table.columns import Reads


Ask = Callable[[str, str], str]  # a question and what is taken for its answer if there is none


def proposed_schema(
    table: pl.DataFrame,
    source: str | None,
    *,
    opened: Opened | None = None,
    query: str | None = None,
    file: str = "shoal.toml",
    ask: Ask | None = None,
) -> tuple[str, bool]:
    """Return a schema file for a table, what is suggested and why, and whether it can be run.

    Parameters
    ----------
    source : where the table is, as seen from the file; None where it cannot be named.
    opened : how the table was read, and what was assumed.
    query : what was read from a database.
    file : the name that the schema file will have.
    ask : called with each question that decides what is proposed; without it nothing is asked.
    """
    found = inspect(table)
    schema, least, dear = found.schema_of(found.protect), EVERYBODY, DEAR
    if ask is not None:
        (schema, least), dear = decide(found, ask), math.inf
    if schema.person is not None:
        schema = replace(schema, most_rows=usual_rows(table[schema.person]))
    choices = propose(table, found, schema, least=least, dear=dear)
    if ask is not None and len(choices) > 1:
        choices = _chosen(choices, ask)
    schema = protecting(schema, choices[0].sensitive if choices else schema.sensitive[:1])
    trees = _with_trees(table, replace(schema, hierarchies=prefixes_of(found, schema)), choices)
    rivals = [name for name in found.named("sensitive") if name not in schema.published]
    others = {name: next(iter(requirements_for(table, found, name)), None) for name in rivals}
    assumed = () if opened is None else opened.assumed
    lines = [
        *_head(found, source, query, file),
        *reading_lines(assumed),
        *_run(found, schema, choices, others, _people_going(table, schema, least)),
        *lines_of_columns(found, schema, code_lines(opened), trees),
    ]
    return "\n".join(lines) + "\n", bool(choices)


def _with_trees(
    table: pl.DataFrame, schema: Schema, choices: Sequence[Proposal]
) -> dict[str, float | None]:
    """Return for each column with a hierarchy what a release with all of them loses."""
    lost = None
    if schema.hierarchies and choices and choices[0].loss is not None:
        with suppress(NotAchievable):
            lost = estimated(table, schema, choices[0]).loss
    return dict.fromkeys(schema.hierarchies, lost)


def decide(found: Inspection, ask: Ask) -> tuple[Schema, int]:
    """Ask what only the owner knows: dates, what others know, what to protect, how many people."""
    known = {column.name: column for column in found.columns}
    formats: dict[str, str] = {}
    for column in found.columns:
        if len(column.date_formats) > 1 or (column.date_formats and column.type != "date"):
            shown = " or ".join(column.date_formats)
            way = ask(f"How does {column.name!r} write dates: {shown}? (empty: leave it out)", "")
            if way:
                formats[column.name] = check_format(column.name, way)
    guessed = (*found.named("quasi"), *formats)
    doubts = [f"  {one.name}: {one.question}" for one in found.columns if one.question]
    asked = "\n".join(["In doubt:", *doubts, ""]) if doubts else ""
    quasi = _named(
        ask(f"{asked}Which columns may others know about a person?", ",".join(guessed)),
        tuple(known),
    )
    secret = [name for name in found.protect if name not in quasi]
    protect = _named(ask("Which columns are to be protected?", ",".join(secret)), tuple(known))
    said = ask("Minimum group size (how many people share every combination)?", str(EVERYBODY))
    if not said.strip().isdigit() or int(said) < 1:
        msg = f"A number of people is a whole number of at least 1. Got {said!r}."
        raise UsageError(msg)
    used = (*quasi, *protect)
    types = {name: str(known[name].type) for name in used if known[name].type}
    types |= dict.fromkeys((name for name in formats if name in used), "date")
    told = {
        name: known[name].date_formats[0]
        for name in used
        if types.get(name) == "date" and known[name].date_formats
    }
    schema = Schema(
        quasi=quasi,
        sensitive=protect,
        identifying=[name for name in found.named("identifying") if name not in used],
        person=next((name for name in found.named("person") if name not in used), None),
        types=types,
        order={name: known[name].order for name in used if known[name].order},
        date_formats=told | {name: way for name, way in formats.items() if name in used},
    )
    return schema, int(said)


def _named(said: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that an answer names, raising where there is no such one."""
    names = [name.strip() for name in said.split(",") if name.strip()]
    for name in names:
        if name not in columns:
            raise UnknownColumn(name, columns)
    return names


def _chosen(choices: list[Proposal], ask: Ask) -> list[Proposal]:
    """Ask which promise to keep, each with its price, and put it first."""
    first, second, *_ = choices
    lines = [
        f"  {place}. {_words(one, second if one is first else first)}"
        for place, one in enumerate(choices, 1)
    ]
    said = ask("\n".join(["Which promise should hold?", *lines]), "1").strip()
    if not said.isdigit() or not 1 <= int(said) <= len(choices):
        msg = f"The promises are numbered from 1 to {len(choices)}. Got {said!r}."
        raise UsageError(msg)
    return [choices[int(said) - 1], *(one for one in choices if one is not choices[int(said) - 1])]


def _words(one: Proposal, other: Proposal) -> str:
    """Return what a proposal promises and another does not, with its price."""
    price = "its price is not known" if one.loss is None else f"{percent(one.loss, 1)} lost"
    said = next((why for why in one.reasons if why not in other.reasons), one.reasons[0])
    return f"{said.removesuffix('.')}: {price}."


def _head(found: Inspection, source: str | None, query: str | None, file: str) -> list[str]:
    shown = file if file.isprintable() else "THIS_FILE"
    typed = () if query is None else (("query", query),)
    said = [
        *comment(
            f"How to publish a table of {found.rows:,} rows. Shoal guessed everything here from "
            "column names and cells: check it. A comment that begins with ? is a question that "
            "only you can answer. Paths are relative to this file. Then run beside it:"
        ),
        "#",
        f"#   {Command('anonymize', (), (('schema', shown), *typed)).line}",
        "",
    ]
    if source is not None:
        said += [f"table = {quoted(source)}", ""]
    return said


def _run(
    found: Inspection,
    schema: Schema,
    choices: Sequence[Proposal],
    others: Mapping[str, str | None],
    going: str,
) -> list[str]:
    quasi, identifying = schema.quasi, schema.identifying
    said = [
        *comment("Columns that others may know about a person. Shoal generalizes them."),
        f"quasi = {listed(quasi)}",
    ]
    if found.unique is not None and quasi == found.named("quasi"):
        said += comment(f"{unique_share(found.unique)} of the rows are unique in them.")
    said += [
        "",
        *comment("Columns to protect. Shoal publishes their values unchanged, but in groups."),
        f"sensitive = {listed(schema.sensitive)}",
    ]
    if weight := proposed_weight(found):
        said += [
            "",
            *comment("How many people of the population a row stands for; published as a mean."),
            f"survey_weight = {quoted(weight)}",
        ]
    if others:
        said += comment(
            "These are sensitive, too, and are not published. To publish one, add it above and "
            "require something of it, for example:"
        )
        said += [line for name, text in others.items() for line in comment(_for_one(name, text))]
    said += [
        "",
        *_person(found, schema, going),
        *comment("Columns that identify a person. Shoal does not publish them."),
        f"identifying = {listed(identifying)}",
        "",
        *comment("Columns to publish unchanged: only what no reader could know about a person."),
        "other = []",
        "",
    ]
    return [*said, *_required(choices, comment(incomplete(found)), found.rows)]


def incomplete(found: Inspection) -> str:
    """Say how many rows have missing cells in the suggested columns."""
    share = percent(found.incomplete / max(found.rows, 1), 1)
    return f"{found.incomplete:,} of {found.rows:,} rows ({share}) have missing cells here."


def _for_one(name: str, text: str | None) -> str:
    """Return what could be required of a sensitive column that is left out."""
    if text is None:
        return f"{quoted(name)}: nearly all rows have the same value, so no limit on it would help."
    return quoted(text)


def usual_rows(whom: pl.Series) -> int:
    """Return how many rows all but 5 of 100 people have at most, at least 1."""
    counts = whom.drop_nulls().value_counts()["count"]
    return max(int(counts.quantile(0.95, "lower") or 1), 1)


def _people_going(table: pl.DataFrame, schema: Schema, least: int) -> str:
    """Say how many rows of people with many go, before anything is searched."""
    gone = beyond_the_cap(table, schema) + lowered(table, schema, least)
    if not gone:
        return "This leaves no row out by itself. What is required below may leave out rows."
    share = percent(gone / table.height, 1)
    return (
        f"This leaves out at least {gone:,} of {table.height:,} rows ({share}), so that at least "
        f"{least} people share each number of rows."
    )


def _person(found: Inspection, schema: Schema, going: str) -> list[str]:
    """Return whom rows are about, and how many rows of one are published."""
    if schema.person is None:
        return []
    most = schema.most_rows
    why = next(column.why for column in found.columns if column.name == schema.person)
    return [
        *comment(f"The person behind each row: {why}. Shoal counts people, and omits this column."),
        f"person = {quoted(schema.person)}",
        *comment(
            f"About 95 in 100 people have at most {most} rows. Of the others, at most {most} are "
            "published, drawn at random. A reader who knows how many rows a person has then finds "
            f"several people with that number. {going}"
        ),
        f"most_rows = {most}",
        "",
    ]


def _required(choices: Sequence[Proposal], missing: list[str], rows: int) -> list[str]:
    if not choices:
        return [
            *comment(
                "No quasi column could be suggested, or none that is complete in any row. Name "
                "some above, then say what must hold:"
            ),
            f'# require = "KAnonymity(k={EVERYBODY})"',
            'output = "published"',
            "",
        ]
    first, *others = choices
    said = [line for reason in first.reasons for line in comment(reason)]
    if first.loss is not None:
        lost = percent(first.loss, 1)
        some = f", estimated from {SAMPLE:,} rows" if rows > SAMPLE else ""
        gone = (
            f", and leaves out about {percent(first.going, 1)} of the rows" if first.going else ""
        )
        said += comment(f"It loses about {lost} of the detail{gone}{some}.")
    said += [f"require = {listed(first.require)}", f"method = {quoted(first.method)}"]
    for other in others:
        said += [
            "",
            *comment(f"Or: {_words(other, first)}"),
            f"# require = {quoted(other.require)}",
        ]
    if first.missing != "error":
        said += ["", *missing, f"missing = {quoted(first.missing)}"]
    return [*said, "", 'output = "published"', '# suppress = "1%"  # Shoal may remove 1%', ""]


def init(
    table: str | Path,
    output: str | Path = "shoal.toml",
    *,
    query: str | None = None,
    force: bool = False,
    ask: Ask | None = None,
    decimal: str | None = None,
    **reading: Unpack[Reads],
) -> bool:
    """Write a commented schema file for a table; returns whether it can be run as it is.

    Parameters
    ----------
    table : where the table is.
    output : the schema file to write.
    query : what to read from a database.
    force : whether a file that exists is replaced.
    ask : called with each question that decides what is proposed, and what is taken for its answer
        if there is none; without it nothing is asked.
    decimal, reading : how the file is read, where you know: `sheet`, `delimiter`, `encoding`,
        `header_row`, `header_lines`, `skip_last` and `missing_codes`. Shoal proposes the rest and
        writes it into the schema file.
    """
    target, table = Path(output), str(table)
    if target.is_dir() or not target.absolute().parent.is_dir():
        msg = f"Cannot write {target.name!r}: it is a directory, or its directory is missing."
        raise OutputError(msg)
    if os.path.realpath(target) == os.path.realpath(table):
        msg = f"The schema file would replace the table. Choose another {option('output')}."
        raise UsageError(msg)
    if os.path.lexists(target) and not force:
        msg = (
            f"{target.name!r} exists. Choose another {option('output')}, or replace it with "
            f"{option('force')}."
        )
        raise OutputError(msg)
    folder = target.absolute().parent
    if not is_address(table):
        check_spelling(path_from(table, folder), "no schema file can have it")
    check_spelling(target.name, "no schema file can have it")
    opened = open_table(table, query=query, decimal=decimal, **reading)
    place = to_keep(table, folder) if is_address(table) else path_from(table, folder)
    text, complete = proposed_schema(
        opened.plain, place, opened=opened, query=query, file=target.name, ask=ask
    )
    write_whole(target, text, force=force, mode=PUBLIC)
    return complete
