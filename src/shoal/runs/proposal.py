"""A requirement to start from: one that a table can keep, with room to spare."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.ask.options import EVERYBODY
from shoal.errors import NotAchievable
from shoal.methods.choice import choose_method
from shoal.methods.splitting import Split
from shoal.principles.requirement import requirements
from shoal.runs.consider import consider, every
from shoal.runs.doing import trial_of
from shoal.runs.look import about, beyond_the_cap, some_people
from shoal.runs.losing import SAMPLE as ESTIMATED
from shoal.runs.losing import estimate, reach_of
from shoal.runs.promising import MOST, Promise, promises
from shoal.runs.run import Run
from shoal.table.coded import persons_of
from shoal.table.missing import complete_rows, is_missing
from shoal.table.settling import settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from shoal.inspection.inspect import Inspection
    from shoal.runs.consider import Linked
    from shoal.table.missing import Missing
    from shoal.table.partition import PersonOf
    from shoal.table.schema import Schema

CHOICES = 3  # promises that are priced
SAMPLE = 2_000  # rows on which promises are compared
MANY = 200_000  # rows from which the fastest method is suggested
TRIED = 2  # promises about several columns, before one of them is left out
DEAR = 0.15  # what protecting further columns may add to the loss of some rows


@dataclass(frozen=True)
class Proposal:
    """What to require, by which method, what to do about missing cells, and why.

    `sensitive` are the columns that it protects: all others had better not be published.
    """

    require: tuple[str, ...]
    method: str
    missing: Missing
    reasons: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    loss: float | None = None  # that is estimated
    going: float = 0.0  # share of the rows that are left out then


def propose(
    table: pl.DataFrame,
    found: Inspection,
    schema: Schema | None = None,
    *,
    least: int = EVERYBODY,
    count: int = CHOICES,
    dear: float = DEAR,
) -> list[Proposal]:
    """Return requirements that are achievable, the most telling first; several are priced.

    Without a schema it is the suggested one. As many of its sensitive columns are protected as can
    be together, the first ones, without losing more than `dear` beyond the first alone. There are
    no proposals where no quasi column is known, or no row is complete in the suggested columns. In
    each, at least so many people share every description, if the table has as many.
    """
    schema = found.schema_of(found.protect) if schema is None else schema
    some = some_people(table, schema.person, SAMPLE)
    schema = _bearable(table, some, found, schema, least, dear=dear)
    proposals: list[Proposal] = []
    for one in achievable(table, found, schema, least=least):
        if count == 1 and len(one.sensitive) < 2:
            return [one]
        price = _price(some, _run(schema, one))
        if count == 1 and price is not None:
            return [one]
        known = [other.loss for other in proposals if other.loss is not None]
        if len(one.require) == 1 and price is not None and price >= min(known, default=math.inf):
            continue  # it promises less than another and loses no less
        proposals.append(replace(one, loss=price))
        if sum(other.loss is not None for other in proposals) == count:
            break
    # What some rows could not keep is proposed only where nothing else is.
    first = sorted(proposals, key=lambda one: one.loss is None)[:count]
    return [one if one.loss is None else estimated(table, schema, one) for one in first]


def estimated(table: pl.DataFrame, schema: Schema, one: Proposal) -> Proposal:
    """Return a proposal with what a release of the whole table will lose, as the page shows it."""
    run, some = _run(schema, one), some_people(table, schema.person, ESTIMATED)
    found = estimate(run, some, whole=table.height, reach=reach_of(table, run))
    return replace(one, loss=found.gcp, going=1 - found.release.manifest.rows / found.rows)


def _run(schema: Schema, one: Proposal) -> Run:
    return Run(schema=schema, require=one.require, missing=one.missing)


def _bearable(
    table: pl.DataFrame,
    some: pl.DataFrame,
    found: Inspection,
    schema: Schema,
    least: int,
    *,
    dear: float,
) -> Schema:
    """Return a schema with as many of its sensitive columns as some rows can protect together.

    The first ones, of which each may add so much to what the first alone loses.
    """
    allowed = math.inf
    if len(schema.sensitive) > 1 and dear < math.inf:
        alone = protecting(schema, schema.sensitive[:1])
        first = next(achievable(table, found, alone, least=least), None)
        lost = None if first is None else _price(some, _run(alone, first))
        allowed = math.inf if lost is None else lost + dear
    for count in range(len(schema.sensitive), 1, -1):
        fewer = protecting(schema, schema.sensitive[:count])
        for one in islice(achievable(table, found, fewer, least=least), TRIED):
            lost = _price(some, _run(fewer, one)) if one.sensitive == fewer.sensitive else None
            if lost is not None and lost <= allowed:
                return fewer
    return protecting(schema, schema.sensitive[:1])


def protecting(schema: Schema, names: Sequence[str]) -> Schema:
    """Return a schema with some of its sensitive columns, the others being left out."""
    gone = {*schema.sensitive} - {*names}

    def kept(entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: said for name, said in entries.items() if name not in gone}

    return replace(
        schema,
        sensitive=tuple(names),
        types=kept(schema.types),
        order=kept(schema.order),
        date_formats=kept(schema.date_formats),
    )


def achievable(
    table: pl.DataFrame, found: Inspection, schema: Schema, *, least: int = EVERYBODY
) -> Iterator[Proposal]:
    """Yield requirements that nothing known before a search forbids, the most telling first."""
    policy, reason = missing_policy(found, schema)
    used = (*schema.quasi, *schema.sensitive)
    if not schema.quasi or (policy == "drop" and _incomplete(table, used)):
        return
    for promise, why in _candidates(table, schema, policy, least):
        k = min(least, _members(table, schema, policy))
        require = (*promise, f"KAnonymity(k={k})")
        try:
            Run(schema=schema, require=require, missing=policy).ready(table)
        except NotAchievable:
            continue
        method, speed = _method(require, found, schema)
        shared = (f"{_shared(k, schema)}.",) if promise else ()
        reasons = (*why, *shared, *reason, *speed)
        yield Proposal(require, method, policy, reasons, schema.sensitive if promise else ())


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
    for one in achievable(table, found, found.schema_of(found.protect)):
        if more is None:
            more = _of_linked(table, schema, linked, one.missing)
        require = (*one.require, *more)
        run = Run(table=some, schema=schema, linked=said, require=require, missing=one.missing)
        try:
            trial_of(run)
        except NotAchievable:
            if len(one.require) > 1:
                continue
        return replace(one, require=require)
    return None


def _of_linked(table: pl.DataFrame, schema: Schema, linked: Linked, missing: Missing) -> list[str]:
    """Return a requirement for each secret of linked tables that the people can keep."""
    found: list[str] = []
    for name in every(schema.only("sensitive", "person")):
        if not name.startswith(tuple(f"{one}." for one in linked)):
            continue
        found += filter(None, [linked_requirement(table, schema, linked, name, missing)])
    return found


def linked_requirement(
    table: pl.DataFrame, schema: Schema, linked: Linked, name: str, missing: Missing
) -> str | None:
    """Return what could be required of one column of a linked table, None where nothing is kept."""
    known = consider(table, schema, f"{name}: FrequencyL(l=2)", missing, linked)
    if not known["achievable"]:
        return None
    # People with several values are near to more of the others than those with one.
    modest = known["limits"]["l"]["limit"] // 3
    return f"{name}: FrequencyL(l={min(MOST, max(2, modest))})"


def _members(table: pl.DataFrame, schema: Schema, policy: Missing) -> int:
    """Return how many people, or rows, are complete enough to be published."""
    kept, settled = settle(table, schema)
    keep = complete_rows(kept, (*settled.quasi, *settled.sensitive), policy)
    return len(persons_of(kept.filter(keep), schema.person))


def _price(some: pl.DataFrame, run: Run) -> float | None:
    """Return what keeping a promise loses on some rows; None where they cannot keep it.

    A row of a person that the search leaves out is lost whole, like one that is suppressed: else
    what leaves out more rows would seem to lose less. What the cap leaves out is the same for all.
    How few the rows are is what limits the time: by the clock, prices would depend on the machine.
    """
    try:
        release = trial_of(replace(run, table=some))
    except NotAchievable:
        return None
    counted = release.manifest.rows + release.suppression.rows
    gone = max(0, release.suppression.capped - beyond_the_cap(some, run.schema))
    return (release.loss * counted + gone) / (counted + gone)


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
    if found.rows <= MANY or not all(one.principle.widths for one in asked if one.columns):
        return repr(best), ()
    return repr(Split()), (f"{best!r} loses less detail than {Split()!r} and takes longer.",)


def missing_policy(found: Inspection, schema: Schema) -> tuple[Missing, tuple[str, ...]]:
    """Return the policy with which the columns of a schema can be used, and why."""
    used = [one for one in found.columns if one.name in {*schema.quasi, *schema.sensitive}]
    lacking = [one for one in used if one.missing]
    if not lacking:
        return "error", ()
    names = ", ".join(one.name for one in lacking)
    return "value", (f"Rows with missing values are kept: {names}.",)


def _candidates(
    table: pl.DataFrame, schema: Schema, policy: Missing, least: int
) -> Iterator[Promise]:
    """Yield requirements from the most telling one to the one that always holds.

    Of several columns each has its own: the most telling ones together, then the others with as
    little as limits them.
    """
    kept, schema, whose = _protected(table, schema, policy)
    by_column = [promises(kept[name], schema, whose) for name in schema.sensitive]
    if by_column and all(by_column):
        first, *others = by_column
        if any(len(one) > 1 for one in others):
            yield _joined([first[0], *(one[0] for one in others)])
        yield from (_joined([one, *(other[-1] for other in others)]) for one in first)
    shared = _shared(min(least, len(whose)), schema)
    yield ((), (f"{shared}; this limits no guess of a sensitive value.",))


def _shared(k: int, schema: Schema) -> str:
    """Say what a least number of people, or of rows, promises."""
    whom = "rows" if schema.person is None else "people"
    return f"At least {k} {whom} share every published combination of quasi-identifiers"


def _protected(
    table: pl.DataFrame, schema: Schema, policy: Missing
) -> tuple[pl.DataFrame, Schema, PersonOf]:
    """Return the rows that can be published, with their numbers read, and whom each is about."""
    table, schema = settle(table, schema)
    table = schema.read_numbers(table, "sensitive")
    kept = table.filter(complete_rows(table, (*schema.quasi, *schema.sensitive), policy))
    return kept, schema, persons_of(kept, schema.person)


def _joined(several: Sequence[Promise]) -> Promise:
    """Return requirements of several columns as one promise."""
    require = tuple(text for texts, _ in several for text in texts)
    return require, tuple(why for _, whys in several for why in whys)


def requirements_for(table: pl.DataFrame, found: Inspection, name: str) -> list[str]:
    """Return all that could be required of one sensitive column, the most telling first."""
    schema = found.schema_of((name,))
    policy, _ = missing_policy(found, schema)
    kept, schema, whose = _protected(table, schema, policy)
    return [f"{name}: {texts[0]}" for texts, _ in promises(kept[name], schema, whose)]
