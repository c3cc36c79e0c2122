"""A requirement to start from: one that a table can keep, with room to spare."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable
from shoal.exact import percent, tidy
from shoal.methods.choice import choose_method
from shoal.methods.splitting import Split
from shoal.principles.planning import width_bound
from shoal.principles.proximity import EpsilonM
from shoal.principles.requirement import requirements
from shoal.runs.consider import consider, every
from shoal.runs.look import about, some_people
from shoal.runs.run import Run
from shoal.table.coding import code_column, code_persons
from shoal.table.missing import complete_rows, is_missing
from shoal.table.settling import settle
from shoal.views.usual import EVERYBODY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from shoal.inspection.inspect import Inspection
    from shoal.runs.consider import Linked
    from shoal.table.column import Column
    from shoal.table.missing import Missing
    from shoal.table.schema import Schema

MOST = 5  # the m and l to start from where the table allows it
CHOICES = 3  # promises that are priced
SAMPLE = 2_000  # rows that they are tried on
MANY = 200_000  # rows from which the fastest method is suggested
LARGE = 3_000  # codes of which all pairs are compared
ALPHA = 0.95  # a share above which nothing is promised


@dataclass(frozen=True)
class Proposal:
    """What to require, by which method, what to do about missing cells, and why."""

    require: tuple[str, ...]
    method: str
    missing: Missing
    reasons: tuple[str, ...]
    loss: float | None = None  # of a trial on some rows


def propose(
    table: pl.DataFrame,
    found: Inspection,
    schema: Schema | None = None,
    *,
    least: int = EVERYBODY,
    count: int = CHOICES,
) -> list[Proposal]:
    """Return requirements that are achievable, the most telling first; several are priced.

    There are none where no quasi column is known, or no row is complete in the suggested columns.
    In each, at least so many people share every description, if the table has as many.
    """
    schema = found.schema if schema is None else schema
    proposals: list[Proposal] = []
    some = some_people(table, schema.person, SAMPLE)
    for one in achievable(table, found, schema, least=least):
        if count == 1:
            return [one]
        price = _price(some, Run(schema=schema, require=one.require, missing=one.missing))
        known = [other.loss for other in proposals if other.loss is not None]
        if len(one.require) == 1 and price is not None and price >= min(known, default=math.inf):
            continue  # it promises less than another and loses no less
        proposals.append(replace(one, loss=price))
        if sum(other.loss is not None for other in proposals) == count:
            break
    # What some rows could not keep is proposed only where nothing else is.
    return sorted(proposals, key=lambda one: one.loss is None)[:count]


def achievable(
    table: pl.DataFrame, found: Inspection, schema: Schema, *, least: int = EVERYBODY
) -> Iterator[Proposal]:
    """Yield requirements that nothing known before a search forbids, the most telling first."""
    policy, reason = missing_policy(found, schema)
    used = (*schema.quasi, *schema.sensitive)
    if not schema.quasi or (policy == "drop" and _incomplete(table, used)):
        return
    for promise, why in _candidates(table, schema, policy, least):
        require = (*promise, f"KAnonymity(k={min(least, _members(table, schema, policy))})")
        try:
            Run(schema=schema, require=require, missing=policy).ready(table)
        except NotAchievable:
            continue
        method, speed = _method(require, found, schema)
        shared = (f"At least {least} people share every description, as far as there are so many.",)
        reasons = (*why, *(shared if promise else ()), *reason, *speed)
        yield Proposal(require, method, policy, reasons)


def propose_linked(
    table: pl.DataFrame, found: Inspection, schema: Schema, linked: Mapping[str, pl.DataFrame]
) -> Proposal | None:
    """Return what people can keep together with what linked tables say of them.

    People who can be taken for one another have equally many rows in every table, so what the first
    table could keep by itself some of them may not: each requirement is tried on some people. The
    schema is that of all tables, `found` says what the columns of the first are.
    """
    some = some_people(table, schema.person, SAMPLE)
    said = {name: about(one, str(schema.person), some) for name, one in linked.items()}
    more: list[str] | None = None
    for one in achievable(table, found, found.schema):
        if more is None:
            more = _of_linked(table, schema, linked, one.missing)
        require = (*one.require, *more)
        run = Run(table=some, schema=schema, linked=said, require=require, missing=one.missing)
        try:
            run.release()
        except NotAchievable:
            if len(one.require) > 1:
                continue
        return replace(one, require=require)
    return None


def _of_linked(table: pl.DataFrame, schema: Schema, linked: Linked, missing: Missing) -> list[str]:
    """Return a requirement for each secret of linked tables that the people can keep."""
    found = []
    for name in every(schema.only("sensitive", "person")):
        if not name.startswith(tuple(f"{one}." for one in linked)):
            continue
        known = consider(table, schema, f"{name}: FrequencyL(l=2)", missing, linked)
        if known["achievable"]:
            # People with several values are near to more of the others than those with one.
            modest = known["limits"]["l"]["limit"] // 3
            found.append(f"{name}: FrequencyL(l={min(MOST, max(2, modest))})")
    return found


def _members(table: pl.DataFrame, schema: Schema, policy: Missing) -> int:
    """Return how many people, or rows, are complete enough to be published."""
    kept, settled = settle(table, schema)
    keep = complete_rows(kept, (*settled.quasi, *settled.sensitive), policy)
    return int(keep.sum()) if schema.person is None else kept.filter(keep)[schema.person].n_unique()


def _price(some: pl.DataFrame, run: Run) -> float | None:
    """Return what keeping a promise loses on some rows; None where they cannot keep it.

    A row of a person that the search leaves out is lost whole, like one that is suppressed: else
    what leaves out more rows would seem to lose less. What the cap leaves out is the same for all.
    How few the rows are is what limits the time: by the clock, prices would depend on the machine.
    """
    try:
        release = replace(run, table=some).release()
    except NotAchievable:
        return None
    counted = release.manifest["rows"] + release.manifest["suppressed"]
    gone = max(0, release.manifest.get("capped", 0) - _beyond_the_cap(some, run.schema))
    return (release.loss * counted + gone) / (counted + gone)


def _beyond_the_cap(some: pl.DataFrame, schema: Schema) -> int:
    """Return how many rows are more than one person may have."""
    if schema.person is None or schema.most_rows is None:
        return 0
    counts = some[schema.person].value_counts()["count"].to_numpy()
    return int(np.maximum(counts - schema.most_rows, 0).sum())


def _incomplete(table: pl.DataFrame, names: tuple[str, ...]) -> bool:
    """Whether every row has a missing cell in some of the columns."""
    lacking = np.zeros(table.height, bool)
    for name in names:
        lacking |= is_missing(table[name]).to_numpy()
    return bool(lacking.all())


def _method(
    require: tuple[str, ...], found: Inspection, schema: Schema
) -> tuple[str, tuple[str, ...]]:
    """Return the method for a requirement: the best, or a fast one that loses little more."""
    asked = requirements(require, schema.sensitive)
    best = choose_method(None, asked)
    if found.rows <= MANY or not all(
        isinstance(one.principle, EpsilonM) for one in asked if one.columns
    ):
        return repr(best), ()
    return repr(Split()), (f"{best!r} loses less than {Split()!r}, and takes longer.",)


def missing_policy(found: Inspection, schema: Schema) -> tuple[Missing, tuple[str, ...]]:
    """Return the policy with which the columns of a schema can be used, and why."""
    used = [one for one in found.columns if one.name in {*schema.quasi, *schema.sensitive}]
    lacking = [one for one in used if one.missing]
    if not lacking:
        return "error", ()
    names = ", ".join(one.name for one in lacking)
    if all(one.type in {"categorical", "ordered", "code", "boolean"} for one in lacking):
        return "value", (f"Missing cells of {names} count as a value of their own.",)
    return "drop", (f"Rows with missing cells are left out; such cells are in: {names}.",)


def _candidates(
    table: pl.DataFrame, schema: Schema, policy: Missing, least: int
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield requirements from the most telling one to the one that always holds."""
    table, schema = settle(table, schema)
    table = schema.read_numbers(table, "sensitive")
    kept = table.filter(complete_rows(table, (*schema.quasi, *schema.sensitive), policy))
    for name in schema.sensitive:
        kind = schema.types.get(name)
        column = code_column(kept[name], kind=kind, order=schema.order.get(name))
        whose = None if schema.person is None else code_persons(kept[schema.person])
        if column.numeric and kind == "numeric":
            widths = list(_widths(column, rows=whose is None))
            yield from widths[:1]
            yield from widths[2:3]
        if kind == "code":
            yield from _alike(column)
        yield from _shares(column, whose)
    k, whom = min(least, kept.height), "rows"
    if schema.person is not None:
        k, whom = min(least, kept[schema.person].n_unique()), "people"
    yield (
        (),
        (f"Every description is shared by at least {k} {whom}; it promises nothing about values.",),
    )


def _alike(column: Column) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield that codes which begin alike are not too many in a group."""
    if column.distinct > LARGE or min(map(len, column.spellings)) < 3:
        return
    yield (
        (f"Dissimilarity(epsilon=0.5, delta=0.5, k={MOST}, distance=Hierarchical(Prefix()))",),
        (f"At most half of the others of a group have a {column.name} that begins alike.",),
    )


def _widths(column: Column, *, rows: bool) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    for m in range(MOST, 1, -1):
        bound = width_bound(column, m)
        width = tidy((bound or 0) / 2)
        whole = column.numbers.dtype.kind == "i"
        if width > 0 and not (whole and width < 1):
            yield (
                (f"EpsilonM(epsilon={width}, m={m})",),
                (
                    f"Nobody's {column.name} can be told to within {width:,} with more than 1 in "
                    f"{m} certainty.",
                    f"For m={m}, epsilon must stay under {bound}; `shoal plan` shows more."
                    if rows
                    else "`shoal plan` shows what else people can keep.",
                ),
            )


def _shares(
    column: Column, whose: NDArray[np.int64] | None
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield that no value is too frequent, among rows, or among the people whose rows they are."""
    if whose is None:
        rows, most, whom = len(column.codes), int(np.bincount(column.codes).max()), "rows"
    else:
        held = np.unique(np.stack([column.codes, whose]), axis=1)[0]  # by each person once
        rows, most, whom = len(np.unique(whose)), int(np.bincount(held).max()), "people"
    largest = rows // most
    share = f"{percent(most / rows, 1)} of the {whom} have the most frequent value of {column.name}"
    if largest >= 2:
        l = min(MOST, max(2, largest - 1))
        why = f"No value of {column.name} is carried by more than one in {l} of a group."
        yield (f"FrequencyL(l={l})",), (why, f"At most l={largest} is achievable: {share}.")
    alpha = math.ceil(20 * most / rows + 1) / 20
    if alpha <= ALPHA:
        why = f"No value of {column.name} is carried by more than {percent(alpha, 0)} of a group."
        yield (f"AlphaK(alpha={alpha}, k={min(MOST, rows)})",), (why, f"Not much: {share}.")
