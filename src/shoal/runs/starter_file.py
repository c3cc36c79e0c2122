"""The first schema file of a table, with a comment for everything that was decided."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING

from shoal.exact import tidy
from shoal.inspection.inspect import inspect
from shoal.runs.proposal import propose
from shoal.views.commands import Command

if TYPE_CHECKING:
    import polars as pl

    from shoal.inspection.inspect import ColumnInspection, Inspection
    from shoal.runs.proposal import Proposal

WIDTH = 92
PREFIXED = 20  # values from which a code is published by its beginning
BARE = re.compile(r"[A-Za-z0-9_-]+")


def starter(
    table: pl.DataFrame,
    source: str | None,
    encoding: str | None = None,
    *,
    file: str = "shoal.toml",
) -> tuple[str, bool]:
    """Return a schema file for a table, what is suggested and why, and whether it can be run.

    Parameters
    ----------
    source : where the table is, as seen from the file; None where it cannot be named.
    encoding : of the table, where it is text in another one than UTF-8.
    file : the name that the schema file will have.
    """
    found = inspect(table)
    proposal = propose(table, found)
    lines = [*_head(found, source, encoding, file), *_run(found, proposal), *_columns(found)]
    return "\n".join(lines) + "\n", proposal is not None


def quoted(text: str) -> str:
    """Return a text as TOML writes strings."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(text: str) -> str:
    return text if BARE.fullmatch(text) else quoted(text)


def _comment(text: str) -> list[str]:
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return [f"# {line}" for line in textwrap.wrap(plain, WIDTH, break_on_hyphens=False)]


def _list(names: tuple[str, ...]) -> str:
    shown = f"[{', '.join(map(quoted, names))}]"
    if len(shown) <= WIDTH:
        return shown
    return "[\n" + "".join(f"  {quoted(name)},\n" for name in names) + "]"


def _head(found: Inspection, source: str | None, encoding: str | None, file: str) -> list[str]:
    shown = file if file.isprintable() else "THIS_FILE"
    said = [
        *_comment(
            f"How to publish a table of {found.rows:,} rows. Everything here was guessed from its "
            "names and cells: look it over. Paths are relative to this file. Then run beside it:"
        ),
        "#",
        f"#   {Command('anonymize', (), (('schema', shown),)).line}",
        "",
    ]
    if source is not None:
        said += [f"table = {quoted(source)}", ""]
    if encoding is not None:
        said += [f"encoding = {quoted(encoding)}", ""]
    return said


def _run(found: Inspection, proposal: Proposal | None) -> list[str]:
    quasi, identifying = found.named("quasi"), found.named("identifying")
    said = [
        *_comment("Columns that could single a person out; they are generalized."),
        f"quasi = {_list(quasi)}",
    ]
    if found.unique is not None:
        share = "Over 99.9%" if 0.999 < found.unique < 1 else f"{found.unique:.1%}"
        said += _comment(f"{share} of the rows are unique in them.")
    said += [
        "",
        *_comment("Columns to protect; they are published as they are."),
        f"sensitive = {_list((found.protect,) if found.protect else ())}",
    ]
    rivals = [name for name in found.named("sensitive") if name != found.protect]
    if rivals:
        said += _comment(
            f"Private too, and left out here: {', '.join(map(quoted, rivals))}. Each that is added "
            'needs a requirement of its own, as in "NAME: FrequencyL(l=3)".'
        )
    said += [
        "",
        *_comment("Columns that name a person; they are dropped."),
        f"identifying = {_list(identifying)}",
        "",
        *_comment("Columns to publish unchanged: only what nobody could know a person by."),
        "other = []",
        "",
    ]
    return [*said, *_required(proposal)]


def _required(proposal: Proposal | None) -> list[str]:
    if proposal is None:
        return [
            *_comment(
                "No quasi column could be suggested, or none that is complete in any row. Name "
                "some above, then say what must hold:"
            ),
            '# require = "KAnonymity(k=5)"',
            'output = "published"',
            "",
        ]
    said = [line for reason in proposal.reasons for line in _comment(reason)]
    said += [f"require = {quoted(proposal.require)}", f"method = {quoted(proposal.method)}"]
    if proposal.missing != "error":
        said.append(f"missing = {quoted(proposal.missing)}")
    return [*said, 'output = "published"', '# suppress = "1%"  # rows that may be left out', ""]


def _columns(found: Inspection) -> list[str]:
    said: list[str] = []
    types = found.schema.types
    for column in found.columns:
        role = column.role or "left out"
        said += _comment(f"{quoted(column.name)}: {role}: {column.why}.")
        kind = column.type or "unusable"
        said += _comment(f"{kind}: {column.reason}; {column.distinct:,} values.")
        for suspicion in column.suspicions:
            said += _comment(f"! {suspicion.text}")
        if column.role == "quasi" or column.name == found.protect:
            said += [f"[columns.{_key(column.name)}]"]
            if column.name in types:
                said.append(f"type = {quoted(types[column.name])}")
            if column.order:
                said.append(f"order = {_list(column.order)}")
            if column.role == "quasi":
                said += [*_hierarchy(column), "# weight = 2  # its loss counts twice"]
        said.append("")
    for one in found.kinship:
        said += _comment(one.text)
    return said


def _hierarchy(column: ColumnInspection) -> list[str]:
    """Suggest a hierarchy; codes of which there are many get theirs at once."""
    if column.type == "code":
        mark = "" if column.distinct > PREFIXED else "# "
        return [f'{mark}hierarchy = "Prefix()"  # 12345, 1234*, 123**']
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
