"""One table, many releases: what the next release of a series holds.

A group lives unchanged, cells and values, as long as it is published. People who left stay as rows
that stand for nobody; newcomers form groups among themselves; whoever comes back comes back to the
old group; a group with too few real people is dropped whole, and its people never come back.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.ask.options import SHARE, options_of
from shoal.audit.identification import release_groups
from shoal.errors import InputError, NotAchievable, UsageError, option
from shoal.exact import read_share
from shoal.methods.choice import choose_method
from shoal.principles.k_anonymity import KAnonymity
from shoal.principles.requirement import Requirement
from shoal.release.ledger import GROUP, HERE, WHO
from shoal.runs.doing import release_here
from shoal.runs.lasting import fixed_grid, look_back, take_groups, without_person
from shoal.table.coding import code_lenient
from shoal.table.files import FORMATS
from shoal.table.forms import INTERVALS, TWO_TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shoal.progress import Progress
    from shoal.release.layout import Randomness
    from shoal.release.ledger import Ledger
    from shoal.runs.release import Release
    from shoal.runs.run import Run
    from shoal.table.column import Column
    from shoal.table.schema import Schema


@dataclass
class Turn:
    """What a run found: who is where, and what is to be told of it.

    Attributes
    ----------
    links : the input row of the person of each row of the ledger, -1 for nobody.
    absent : people of the table now whom no published row stands for.
    notes : what the owner is told, in numbers.
    log : who and why, for the private log.
    """

    links: NDArray[np.int64]
    absent: int = 0
    dropped: int = 0
    notes: list[str] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    method: str | None = None


def fixed_by(run: Run, columns: list[str]) -> dict[str, Any]:
    """Return what a ledger fixes for all of its runs."""
    now: dict[str, Any] = {"format": run.format or FORMATS[0], "require": run.requirements}
    found: dict[str, Any] = {"columns": columns}
    for name, known in options_of(run.asks).items():
        if known.fixed:
            owner = run if hasattr(run, name) else run.schema
            value = now.get(name, getattr(owner, name))
            share = known.kind == SHARE and value is not None
            found[known.fixed] = str(read_share(value)) if share else _kept(value)
    trims = {name: one.words for name, one in run.schema.trims.items()}
    return found | {"rounding_and_thresholds": trims} | fixed_grid(run)


def _kept(value: Any) -> Any:
    """Return a value as a ledger keeps it: plain ones as they are, others in the notation."""
    if isinstance(value, list | tuple):
        return [_kept(one) for one in value]
    if isinstance(value, dict):
        return {name: _kept(one) for name, one in value.items()}
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def check_fixed(ledger: Ledger, now: Mapping[str, Any]) -> None:
    """Raise where a run asks for something else than the runs before."""
    for key, said in now.items():
        before = ledger.fixed.get(key)
        if key == "columns" or (before is None and not said):
            continue  # the order of columns is that of the first table
        if before != said:
            msg = (
                f"The ledger has {key.replace('_', ' ')!r} = {_shown(before)}, and this run has "
                f"{_shown(said)}. Use the setting of the ledger. A new series, with another "
                f"{option('ledger')}, is possible only for people who were never published."
            )
            raise UsageError(msg)


def check_types(ledger: Ledger, schema: Schema) -> None:
    """Raise where a run says another type of a column than it has for good."""
    for name, said in schema.types.items():
        before = ledger.fixed.get("types", {}).get(name, said)
        if before != said:
            msg = (
                f"The ledger reads {name!r} as {before}, and this run reads it as {said}. Use the "
                f"type of the ledger, or leave out {option('type', f'{name}={said}')}."
            )
            raise UsageError(msg)


def _shown(said: Any) -> str:
    if isinstance(said, dict):
        said = [f"{name}={one}" for name, one in said.items()]
    return (", ".join(map(str, said)) if isinstance(said, list) else str(said or "")) or "nothing"


def as_before(schema: Schema, ledger: Ledger) -> Schema:
    """Return a schema with what the first table of a series decided: thresholds, types, dates."""
    return replace(
        schema,
        **ledger.fixed.get("thresholds", {}),
        types={**schema.types, **ledger.fixed.get("types", {})},
        date_formats={**ledger.fixed.get("date_formats", {}), **schema.date_formats},
    )


def thresholds_of(schema: Schema) -> dict[str, dict[str, str]]:
    """Return where the numbers of a series are cut off, percentiles of the first table included."""
    return {
        how: {name: str(one) for name, one in getattr(schema, how).items()}
        for how in ("bottom", "top")
    }


def check_people(table: pl.DataFrame, schema: Schema) -> list[str]:
    """Return whom rows are about, one row a person, or raise."""
    name = str(schema.person)
    texts = table[name].cast(pl.String)
    if texts.is_null().any():
        msg = f"{texts.is_null().sum():,} rows have no {name!r}. Fill it in, or remove these rows."
        raise InputError(msg)
    twice = len(texts) - texts.n_unique()
    if twice:
        msg = f"A series needs one row per person: remove {twice:,} rows, for example the older."
        raise UsageError(msg)
    return texts.to_list()


def take_turn(
    ledger: Ledger, table: pl.DataFrame, run: Run, chance: Randomness, progress: Progress
) -> Turn:
    """Bring a ledger up to the table as it is now."""
    schema = run.schema
    people = check_people(table, schema)
    marks = ledger.mark(people)
    row_of = dict(zip(marks, range(len(marks)), strict=True))
    turn = Turn(np.empty(0, np.int64))
    known = set(ledger.rows[WHO].to_list())
    look_back(ledger, table, schema, people, row_of, turn)
    here = [mark in row_of for mark in ledger.rows[WHO]]
    ledger.rows = ledger.rows.with_columns(pl.Series(HERE, here, pl.Boolean))
    _drop_groups(ledger, run.least_real, turn, {m: people[row] for m, row in row_of.items()})
    barred = [row for mark, row in row_of.items() if mark in ledger.gone]
    if barred:
        turn.notes.append(
            f"People not published: {len(barred):,}. Their group was removed before, and they "
            "stay out of the series."
        )
        turn.log += [(people[row], "their group was removed") for row in barred]
    new = sorted(r for mark, r in row_of.items() if mark not in known and mark not in ledger.gone)
    if new and len(new) < run.batch and ledger.rounds:
        turn.notes.append(f"New people not published yet: {len(new):,} of {run.batch:,} needed.")
    elif new:
        born = _born(ledger, table[new], run, turn, progress)
        if born is not None:
            _take_in(ledger, table[new], schema, born, [marks[row] for row in new], chance)
    turn.links = np.array([row_of.get(mark, -1) for mark in ledger.rows[WHO]], np.int64)
    turn.absent = table.height - turn.dropped - int((turn.links >= 0).sum())
    return turn


def _drop_groups(ledger: Ledger, least: int, turn: Turn, names: Mapping[str, str]) -> None:
    """Drop groups with too few real people, for ever."""
    real = ledger.rows.group_by(GROUP).agg(pl.col(HERE).sum())
    few = real.filter(pl.col(HERE) < least)[GROUP].to_list()
    gone = ledger.rows.filter(pl.col(GROUP).is_in(few))
    ledger.gone |= set(gone[WHO].to_list())
    ledger.rows = ledger.rows.filter(~pl.col(GROUP).is_in(few))
    if few:
        turn.notes.append(f"Removed {len(few):,} groups with fewer than {least:,} people left.")
        turn.log += [(names.get(mark, "a person who left"), "group dropped") for mark in gone[WHO]]


def _born(
    ledger: Ledger, newcomers: pl.DataFrame, run: Run, turn: Turn, progress: Progress
) -> Release | None:
    """Let newcomers form groups among themselves; None where they wait."""
    try:
        born = release_here(of_newcomers(run, newcomers, ledger), progress, trial=True)
    except NotAchievable as problem:
        check_wait(run, ledger, newcomers.height, problem)
        turn.notes.append(
            f"New people not published yet: {newcomers.height:,}. They are too few, or too "
            "similar, to form groups that meet the requirement."
        )
        return None
    turn.method = born.manifest.method
    turn.dropped = born.facts["dropped"]
    if born.suppression.rows:
        turn.notes.append(f"New people left out until later: {born.suppression.rows:,}.")
    return born


def check_wait(run: Run, ledger: Ledger, count: int, problem: NotAchievable) -> None:
    """Raise where newcomers cannot be published, and may not wait for that.

    The first ones have nothing to wait beside. Too few for a group may wait, with any method: how
    many they are is no secret.
    """
    method = choose_method(run.method, run.requirements)
    if not ledger.rounds:
        sought = repr(KAnonymity(k=run.least_real))
        if run.least_real <= _least(run):
            raise problem
        msg = (
            f"{problem.sentence} Shoal also requires {sought} because of "
            f"{option('least_real', run.least_real)}: a lower number there may help."
        )
        raise NotAchievable(msg) from None
    if method.chooses_rows or count < max(_least(run), run.least_real):
        return
    msg = (
        f"{problem.sentence} This concerns the {count:,} new people. {method!r} does not let "
        "people wait because of their values: a reader who sees them wait would learn "
        f"something about them. Publish more new people at a time: {option('batch')}."
    )
    raise NotAchievable(msg)


def _take_in(
    ledger: Ledger,
    newcomers: pl.DataFrame,
    schema: Schema,
    born: Release,
    marks: list[str],
    chance: Randomness,
) -> None:
    """Give new groups their numbers, in random order, and keep their rows."""
    if "types" not in ledger.fixed:
        columns = (*born.coded.quasi, *born.coded.sensitive)
        ledger.fixed["types"] = {one.name: _type(one, schema) for one in columns}
    groups = release_groups(born)
    if groups is None:
        msg = "A series needs groups, and this method forms none. Choose another method."
        raise UsageError(msg)
    (order,) = chance.permutations(len(groups))
    rows = born.coded.rows
    stored = newcomers[rows].select(pl.col(ledger.fixed["columns"]).cast(pl.String))
    stored = stored.with_columns(
        _respelled(ledger.rows[name], stored[name], ledger.fixed["types"][name], schema)
        for name in schema.quasi
        if name not in schema.hierarchies
    )
    mine = pl.DataFrame(
        {
            WHO: [marks[row] for row in rows.tolist()],
            GROUP: (len(ledger.groups) + order[groups.labels]).astype(np.int64),
            HERE: np.ones(len(rows), bool),
        }
    )
    ledger.rows = pl.concat([ledger.rows, mine.hstack(stored)])
    take_groups(ledger, born, groups, order)


def _type(column: Column, schema: Schema) -> str:
    """Return the type that a column has for good."""
    said = schema.types.get(column.name)
    source = column if column.grown is None else column.grown.source
    if said is not None:
        return said
    return "date" if source.dates else "numeric" if source.numeric else "categorical"


def of_newcomers(run: Run, newcomers: pl.DataFrame, ledger: Ledger) -> Run:
    """Return the run over people who form groups among themselves, or raise where they are too few.

    Their numbers are rounded and cut off already, and a second time might change them again. All of
    them are real, so groups of the least number of real people are what is required beside.
    """
    if newcomers.height < run.least_real:
        msg = (
            f"Every group needs at least {run.least_real:,} people who are in the table, and "
            f"only {newcomers.height:,} new people can form groups. Lower "
            f"{option('least_real')}, or publish when there are more new people."
        )
        raise NotAchievable(msg)
    plain = without_person(run.schema, ledger.fixed.get("types"))
    plain = replace(plain, round={}, bottom={}, top={})
    asked, form = run.requirements, run.form
    if run.least_real > _least(run):
        asked = [*asked, Requirement(KAnonymity(k=run.least_real))]
        form = INTERVALS if form == TWO_TABLES else form  # what is searched is the same
    return replace(
        run,
        table=newcomers,
        schema=plain,
        require=asked,
        form=form,
        ledger=None,
        batch=1,
        least_real=1,
    )


def _least(run: Run) -> int:
    """Return the size that groups have by what is required."""
    return max(one.principle.least for one in run.requirements)


def _respelled(old: pl.Series, new: pl.Series, kind: str, schema: Schema) -> pl.Series:
    """Return new cells as equal old ones are spelled: a living group is spelled as it was."""
    if kind not in {"numeric", "date", "latitude", "longitude"} or not len(old):
        return new
    both = pl.concat([old, new]).to_frame()
    codes = code_lenient(schema.read_numbers(both, "quasi")[new.name], kind=kind).codes.tolist()
    known = dict(zip(codes[: len(old)], old.to_list(), strict=True))
    cells_now = zip(codes[len(old) :], new.to_list(), strict=True)
    return pl.Series(new.name, [known.get(code, cell) for code, cell in cells_now], pl.String)
