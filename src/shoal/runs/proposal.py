"""A requirement to start from: one that a table can keep, with room to spare."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable
from shoal.exact import tidy
from shoal.methods.choice import choose_method
from shoal.methods.split import Split
from shoal.principles.planning import width_bound
from shoal.principles.proximity import EpsilonM
from shoal.principles.requirement import requirements
from shoal.runs.run import Run
from shoal.table.coding import code_column
from shoal.table.missing import complete_rows, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from shoal.inspection.inspect import Inspection
    from shoal.table.coding import Column
    from shoal.table.missing import Missing

MOST = 5  # the m, l and k to start from where the table allows it
MANY = 200_000  # rows from which the fastest method is suggested
ALPHA = 0.95  # a share above which nothing is promised


@dataclass(frozen=True)
class Proposal:
    """What to require, by which method, what to do about missing cells, and why."""

    require: str
    method: str
    missing: Missing
    reasons: tuple[str, ...]


def propose(table: pl.DataFrame, found: Inspection) -> Proposal | None:
    """Return a requirement that is achievable.

    None where no quasi column is known, or no row is complete in the suggested columns.
    """
    schema = found.schema
    policy, reason = missing_policy(found)
    used = (*schema.quasi, *schema.sensitive)
    if not schema.quasi or (policy == "drop" and _incomplete(table, used)):
        return None
    for require, why in _candidates(table, found, policy):
        try:
            Run(schema=schema, require=require, missing=policy).ready(table)
        except NotAchievable:
            continue
        method, speed = _method(require, found)
        return Proposal(require, method, policy, (*why, *reason, *speed))
    return None


def _incomplete(table: pl.DataFrame, names: tuple[str, ...]) -> bool:
    """Whether every row has a missing cell in some of the columns."""
    lacking = np.zeros(table.height, bool)
    for name in names:
        lacking |= is_missing(table[name]).to_numpy()
    return bool(lacking.all())


def _method(require: str, found: Inspection) -> tuple[str, tuple[str, ...]]:
    """Return the method for a requirement: the best, or a fast one that loses little more."""
    asked = requirements(require, found.schema.sensitive)
    best = choose_method(None, asked)
    if found.rows <= MANY or not all(isinstance(one.principle, EpsilonM) for one in asked):
        return repr(best), ()
    return repr(Split()), (f"{best!r} loses less than {Split()!r}, and takes longer.",)


def missing_policy(found: Inspection) -> tuple[Missing, tuple[str, ...]]:
    """Return the policy with which the suggested columns can be used, and why."""
    used = [one for one in found.columns if one.name in {*found.named("quasi"), found.protect}]
    lacking = [one for one in used if one.missing]
    if not lacking:
        return "error", ()
    names = ", ".join(one.name for one in lacking)
    if all(one.type in {"categorical", "ordered", "code", "boolean"} for one in lacking):
        return "value", (f"Missing cells of {names} count as a value of their own.",)
    return "drop", (f"Rows with missing cells are left out; such cells are in: {names}.",)


def _candidates(
    table: pl.DataFrame, found: Inspection, policy: Missing
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield requirements from the most telling one to the one that always holds."""
    schema = found.schema
    kept = table.filter(complete_rows(table, (*schema.quasi, *schema.sensitive), policy))
    for name in schema.sensitive:
        kind = schema.types.get(name)
        column = code_column(kept[name], kind=kind, order=schema.order.get(name))
        if column.numeric and kind == "numeric":
            yield from _widths(column)
        yield from _shares(column)
    k = min(MOST, kept.height)
    yield (
        f"KAnonymity(k={k})",
        (f"Every description is shared by at least {k} rows; it promises nothing about values.",),
    )


def _widths(column: Column) -> Iterator[tuple[str, tuple[str, ...]]]:
    for m in range(MOST, 1, -1):
        bound = width_bound(column, m)
        width = tidy((bound or 0) / 2)
        whole = column.numbers.dtype.kind == "i"
        if width > 0 and not (whole and width < 1):
            yield (
                f"EpsilonM(epsilon={width}, m={m})",
                (
                    f"At most one in {m} of a group lies within {width} of anybody's "
                    f"{column.name}.",
                    f"For m={m}, epsilon must stay under {bound}; `shoal plan` shows more.",
                ),
            )


def _shares(column: Column) -> Iterator[tuple[str, tuple[str, ...]]]:
    rows = len(column.codes)
    most = int(np.bincount(column.codes).max())
    largest = rows // most
    share = f"the most frequent value of {column.name} has {most / rows:.1%} of the rows"
    if largest >= 2:
        l = min(MOST, max(2, largest - 1))
        why = f"No value of {column.name} is carried by more than one in {l} of a group."
        yield f"FrequencyL(l={l})", (why, f"At most l={largest} is achievable: {share}.")
    alpha = math.ceil(20 * most / rows + 1) / 20
    if alpha <= ALPHA:
        why = f"No value of {column.name} is carried by more than {alpha:.0%} of a group."
        yield f"AlphaK(alpha={alpha}, k={min(MOST, rows)})", (why, f"Not much: {share}.")
