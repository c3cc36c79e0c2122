"""A requirement that is still being thought about: what it says, and how far it can go."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from shoal.errors import ShoalError, UsageError
from shoal.exact import unit_of
from shoal.notation import typed_number
from shoal.principles.ordered import Ranked
from shoal.principles.remedies import beside_heap, crowd_of, left_out, remedies
from shoal.principles.requirement import read_requirement, requirements
from shoal.runs.plan import coded_for
from shoal.runs.run import Run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shoal.ask.ask import Ask
    from shoal.principles.base import Principle
    from shoal.principles.foresight import RequirementPlan
    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Coded
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema
    from shoal.table.sensitive import Sensitive

    Linked = Mapping[str, pl.DataFrame]  # tables by the names that they are linked under

POINTS = 40  # of a frontier
TYPICAL = "EpsilonM(epsilon=100, m=2)"  # what most requirements are like: what it loads, they do
SIZE = "k"  # the parameter that says how large groups are


def considered(table: pl.DataFrame, ask: Ask, linked: Linked | None = None) -> list[dict[str, Any]]:
    """Return what is to be known of every requirement that is asked for, or what is wrong with it.

    Each is told by itself: that one makes no sense says nothing about the others. `linked` are the
    tables that are linked with this one.
    """
    run = Run.of(replace(ask, require=()))
    schema, missing = run.schema, run.missing
    found = []
    for text in cast("Sequence[str]", ask.require):
        try:
            found.append(consider(table, schema, text, missing, linked))
        except ShoalError as problem:
            found.append({"text": text, "problem": problem.sentence, "fix": problem.fix})
    return found


def consider(
    table: pl.DataFrame,
    schema: Schema,
    text: str,
    missing: Missing = "error",
    linked: Linked | None = None,
) -> dict[str, Any]:
    """Return what a requirement promises, its numbers, whether it is achievable, and what is.

    `limits` says how far each number can go while the others stay. Where it is not achievable,
    `reason` says which rows are in the way, `remedies` are requirements that are achievable,
    `apart` says what other values allow than one in the way, and `fix` has options that help.
    """
    if schema.person in table.columns and schema.most_rows is not None:
        nth = pl.int_range(pl.len()).over(schema.person)
        table = table.filter(nth < schema.most_rows)  # chance says which; here it is the first
    run = Run(table=table, schema=schema, missing=missing, linked=linked or {})
    asked = read_requirement(text, every(run.schema))
    (full,) = requirements(asked, *run.schema.protected)
    principle = asked.principle
    facts: dict[str, Any] = {
        "text": repr(asked),
        "name": type(principle).__name__,
        "columns": list(full.columns),
        **principle.page(full.columns),
        "promise": full.promise(),
        "numbers": _numbers(principle),
        "least": principle.least,
        "achievable": None,
        "limits": {},
        "reason": None,
        "remedies": [],
        "apart": None,
        "fix": [],
    }
    if principle.population:  # what is achievable depends on descriptions
        return facts
    coded, value, known = _foreseen(run, asked, full)
    if not linked and (fewest := _fewest_rows(table, schema)) is not None:
        coded, value, known = _foreseen(replace(run, table=fewest), asked, full)
        known = replace(known, achievable=known.achievable and None)  # beside others perhaps not
    if value is not None and all(column.dates for column in value.columns):
        facts["promise"] = full.promise(unit_of(["date"]))
    facts["achievable"] = known.achievable
    facts["limits"] = {one.parameter: asdict(one) for one in known.limits}
    if facts["achievable"] is False:
        facts |= _ways_out(asked, value, coded)
    widths = principle.widths
    if {"epsilon", "m"} <= set(facts["numbers"]) and widths and value is not None:
        ranked = Ranked.of(value.columns[0])
        points = islice(ranked.frontier(relative=widths.relative), POINTS)
        facts["frontier"] = [{"m": one.m, "bound": one.epsilon_bound} for one in points]
    return facts


def _ways_out(asked: Requirement, value: Sensitive | None, coded: Coded) -> dict[str, object]:
    """Return which rows are in the way of a requirement, and what helps."""
    gone = left_out(asked.principle, value, len(coded))
    return {
        "reason": getattr(crowd_of(asked.principle, value, coded.whom), "text", None),
        "remedies": [
            one.to_dict() | {"narrower": [each.to_dict() for each in one.narrower()]}
            for one in remedies(asked, value, len(coded))
        ],
        "apart": beside_heap(asked, value, coded.whom),
        "fix": [("suppress", gone[1])] if gone else [],
    }


def _foreseen(
    run: Run, asked: Requirement, full: Requirement
) -> tuple[Coded, Sensitive | None, RequirementPlan]:
    """Return what is known of a requirement before a search, and of what."""
    coded, _ = coded_for(run, asked)
    value = coded.value(full.columns) if full.columns else None
    _check_limits(asked, value, len(coded))
    return coded, value, asked.principle.outlook(value, len(coded))


def _fewest_rows(table: pl.DataFrame, schema: Schema) -> pl.DataFrame | None:
    """Return as few rows of each person as somebody has, where people have different numbers.

    A search publishes so few where a requirement does not allow more; chance says which.
    """
    if schema.person not in table.columns or not schema.rows_known:
        return None
    nth = pl.int_range(pl.len()).over(schema.person)
    fewest = table.filter(nth < pl.len().over(schema.person).min())
    return None if fewest.height == table.height else fewest


def _check_limits(asked: Requirement, value: Sensitive | None, rows: int) -> None:
    """Raise where a requirement limits nothing."""
    if asked.principle.limits_nothing(value, rows):
        more = "Choose at least 2." if asked.principle.rising else "Ask for more."
        msg = f"{asked!r} limits nothing: every guess may be right. {more}"
        raise UsageError(msg)


def every(schema: Schema) -> list[str]:
    """Return all sensitive columns, those of linked tables too."""
    return [name for some in schema.protected for name in some]


def changed(
    text: str, sensitive: Sequence[str], numbers: dict[str, str], decimal: str | None = None
) -> str:
    """Return a requirement with some of its numbers changed, in the notation.

    They may be written as the table writes numbers, with its `decimal` sign.
    """
    asked = read_requirement(text, sensitive)
    values = {name: _number(name, said, decimal) for name, said in numbers.items()}
    return repr(replace(asked, principle=_with(asked.principle, **values)))


def carried(
    texts: Sequence[str], before: Sequence[Sequence[str]], now: Sequence[Sequence[str]]
) -> list[str]:
    """Return what is required once other columns are protected: as before of those that still are.

    Both name the columns of the table, then those of each linked one. What was about all of them
    names its own where there are others now; what was about columns that went goes with them, and
    what never made sense stays as it is.

    >>> carried(["FrequencyL(l=3)", "KAnonymity(k=5)"], [["pay"]], [["pay", "ward"]])
    ['pay: FrequencyL(l=3)', 'KAnonymity(k=5)']
    >>> carried(["pay: FrequencyL(l=3)", "ward: FrequencyL(l=2)"], [["pay", "ward"]], [["ward"]])
    ['ward: FrequencyL(l=2)']
    """
    left = {name for some in now for name in some}
    found = []
    for text in texts:
        try:
            (one,) = requirements(text, *(before or [[]]))
        except ShoalError:
            found.append(text)
            continue
        columns = tuple(name for name in one.columns if name in left)
        if columns == one.columns and (one.named or columns in {(), *map(tuple, now[:1])}):
            found.append(text)
        elif columns:
            found.append(repr(replace(one, columns=columns, named=True)))
    return found


def bare(texts: Sequence[str], tables: Sequence[Sequence[str]]) -> list[str]:
    """Return the columns to protect that no requirement is about."""
    about: set[str] = set()
    for text in texts:
        with suppress(ShoalError):
            (one,) = requirements(text, *(tables or [[]]))
            about.update(one.columns)
    return [name for some in tables for name in some if name not in about]


def instead(texts: Sequence[str], tables: Sequence[Sequence[str]], text: str) -> list[str]:
    """Return requirements with another one in place of the one about the same columns.

    Of several, the one by the same principle goes.

    >>> both = ["EpsilonM(epsilon=9, m=5)", "KAnonymity(k=11)"]
    >>> instead(both, [["pay"]], "KAnonymity(k=5)")
    ['EpsilonM(epsilon=9, m=5)', 'KAnonymity(k=5)']
    """
    asked = [requirements(one, *(tables or [[]]))[0] for one in (*texts, text)]
    other, about = asked[-1], [one.columns for one in asked[:-1]]
    alike = [place for place, columns in enumerate(about) if columns == other.columns]
    same = [place for place in alike if type(asked[place].principle) is type(other.principle)]
    if not alike:
        return list(texts)
    place = (same or alike)[0]
    return [*texts[:place], text, *texts[place + 1 :]]


def joined(texts: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return requirements with more of them, before those that ask for nothing but sizes.

    >>> joined(["KAnonymity(k=5)"], ["pay: FrequencyL(l=3)"])
    ['pay: FrequencyL(l=3)', 'KAnonymity(k=5)']
    """
    last = [text for text in texts if _sizes_only(text)]
    return [*(text for text in texts if text not in last), *more, *last]


def _sizes_only(text: str) -> bool:
    try:
        return read_requirement(text, ()).principle.sizes_only
    except ShoalError:
        return False


def numbers_of(text: str, sensitive: Sequence[str]) -> dict[str, Any]:
    """Return the numbers of a requirement, by their names."""
    return _numbers(read_requirement(text, sensitive).principle)


def as_sure(texts: Sequence[str], sensitive: Sequence[str], most: int) -> list[str]:
    """Return requirements under which nobody is found with more than a chance of 1 in so many.

    Who asks for sizes of groups asks for this one instead; otherwise it is required beside the
    others, unless those need groups as large.

    >>> as_sure(["EpsilonM(epsilon=10, m=5)", "KAnonymity(k=7)"], ["pay"], 12)
    ['EpsilonM(epsilon=10, m=5)', 'KAnonymity(k=12)']
    >>> as_sure(["EpsilonM(epsilon=10, m=5)"], ["pay"], 12)
    ['EpsilonM(epsilon=10, m=5)', 'KAnonymity(k=12)']
    >>> as_sure(["EpsilonM(epsilon=10, m=5)"], ["pay"], 5)
    ['EpsilonM(epsilon=10, m=5)']
    """
    asked = [read_requirement(text, sensitive).principle for text in texts]
    found = [
        changed(text, sensitive, {SIZE: str(most)}) if _about_size(one) else text
        for text, one in zip(texts, asked, strict=True)
    ]
    if not any(map(_about_size, asked)) and all(one.least < most for one in asked):
        found.append(f"KAnonymity(k={most})")
    return found


def _about_size(principle: Principle) -> bool:
    return principle.sizes_only and SIZE in _numbers(principle)


def _with(principle: Any, **values: Any) -> Principle:
    """Return a principle, which is a dataclass, with other numbers."""
    return replace(principle, **values)


def _number(name: str, said: str, decimal: str | None) -> int | float:
    value = typed_number(re.sub(r"^\s*1\s*in\s*", "", said, flags=re.IGNORECASE), decimal)
    if value is None:
        msg = f"{name} must be a number. Got {said!r}."
        raise UsageError(msg)
    return float(value) if "." in f"{value:f}" else int(value)


def _numbers(principle: Any) -> dict[str, Any]:
    values = {field.name: getattr(principle, field.name) for field in fields(principle)}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
