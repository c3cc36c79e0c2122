"""A requirement that is still being thought about: what it says, and how far it can go."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from shoal.errors import ShoalError, UsageError
from shoal.exact import tidy
from shoal.principles.planning import frontier, plan_requirement
from shoal.principles.requirement import read_requirement, requirements
from shoal.runs.plan import coded_for
from shoal.runs.run import Run
from shoal.table.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from shoal.principles.base import Principle
    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Sensitive
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema

    Linked = Mapping[str, pl.DataFrame]  # tables by the names that they are linked under

POINTS = 40  # of a frontier
STEPS = 100  # of a width
SIZE = "k"  # the parameter that says how large groups are


def considered(
    table: pl.DataFrame, file: str | Path, linked: Linked | None = None
) -> list[dict[str, Any]]:
    """Return what is to be known of every requirement of a schema file, or what is wrong with it.

    Each is told by itself: that one makes no sense says nothing about the others. `linked` are the
    tables that the file links with this one.
    """
    said = read_settings(file)
    schema, missing = said.schema(), cast("Missing", said.missing or "error")
    found = []
    for text in said.require:
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

    `limits` says how far each number can go while the others stay; `remedies` are requirements
    that are achievable, each with one number changed.
    """
    run = Run(table=table, schema=schema, missing=missing, linked=linked or {})
    asked = read_requirement(text, every(run.schema))
    (full,) = requirements(asked, *run.schema.protected)
    principle = asked.principle
    facts: dict[str, Any] = {
        "text": repr(asked),
        "name": type(principle).__name__,
        "columns": list(full.columns),
        "promise": principle.promise(" and ".join(full.columns)),
        "numbers": _numbers(principle),
        "least": principle.least,
        "achievable": None,
        "limits": {},
        "remedies": [],
    }
    if principle.population:  # what is achievable depends on descriptions
        return facts
    coded, _ = coded_for(run, asked)
    value = coded.value(full.columns) if full.columns else None
    known = plan_requirement(principle, value, len(coded)).to_dict()
    facts["achievable"] = known.get("achievable")
    facts["limits"] = {one["parameter"]: one for one in known.get("limits", ())}
    if facts["achievable"] is False:
        facts["remedies"] = _remedies(asked, facts["limits"], value, len(coded))
    if {"epsilon", "m"} <= set(facts["numbers"]) and value is not None:
        relative = bool(getattr(principle, "relative", False))
        points = islice(frontier(value.columns[0], relative=relative), POINTS)
        facts["frontier"] = [{"m": one.m, "bound": one.epsilon_bound} for one in points]
    return facts


def every(schema: Schema) -> list[str]:
    """Return all sensitive columns, those of linked tables too."""
    return [name for some in schema.protected for name in some]


def changed(text: str, sensitive: Sequence[str], numbers: dict[str, str]) -> str:
    """Return a requirement with some of its numbers changed, in the notation."""
    asked = read_requirement(text, sensitive)
    values = {name: _number(name, said) for name, said in numbers.items()}
    return repr(replace(asked, principle=_with(asked.principle, **values)))


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


def _number(name: str, said: str) -> int | float:
    plain = said.strip().replace(",", "").replace("\u00a0", "").replace(" ", "")
    plain = plain.lower().removeprefix("1in")
    try:
        value = float(plain)
    except ValueError:
        msg = f"{name} must be a number. Got {said!r}."
        raise UsageError(msg) from None
    return int(value) if value.is_integer() and "." not in plain else value


def _numbers(principle: Any) -> dict[str, Any]:
    values = {field.name: getattr(principle, field.name) for field in fields(principle)}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _remedies(
    asked: Requirement, limits: dict[str, dict[str, Any]], value: Sensitive | None, rows: int
) -> list[dict[str, Any]]:
    """Return what could be asked for instead, each tried."""
    found = []
    for name, one in limits.items():
        if one["limit"] is None:
            continue
        number = under(one["limit"]) if one["must"] == "under" else one["limit"]
        try:
            other = _with(asked.principle, **{name: number})
            known = plan_requirement(other, value, rows).to_dict()
        except ShoalError:  # such a number makes no sense for the principle
            continue
        if known.get("achievable"):
            text = repr(replace(asked, principle=other))
            found.append({"text": text, "parameter": name, "value": number})
    return found


def under(bound: float) -> int | float:
    """Return a number with few digits that is strictly under a bound, by a hundredth or less.

    >>> under(10000), under(2.5), under(1)
    (9900, 2.48, 0.99)
    """
    if bound <= 0:
        return 0
    limit = Decimal(str(bound))
    step = Decimal(str(tidy(bound / STEPS)))
    value = (limit / step).to_integral_value(rounding="ROUND_CEILING") * step - step
    return int(value) if value == value.to_integral_value() else float(value)
