"""A first look at a table on Spark: its rows, its missing cells, and what its columns hold.

The distinct cells of a column, with how many rows have each, are coded as any column is; so whether
it holds numbers, and what a hierarchy is built from, the whole table decides.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engines.spark.cells import Cells, Domains
from shoal.engines.spark.reading import read_rows
from shoal.engines.spark.work import BEYOND, FILE, ROW, Carried
from shoal.errors import BadCells, InputError, NotAchievable, option
from shoal.methods.choice import check_value
from shoal.principles.requirement import asked_of
from shoal.release.forms import check_names
from shoal.table.coded import code_cells
from shoal.table.coding import check_type
from shoal.table.frames import hold_times
from shoal.table.missing import FIRST, MISSING_LABEL, check_policy
from shoal.table.partition import PersonOf
from shoal.table.sensitive import Sensitive
from shoal.table.settling import with_date_formats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

    from shoal.engines.spark.reading import SparkRows
    from shoal.engines.spark.work import Work
    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Coded
    from shoal.table.schema import Schema

SOME = 20_000  # rows that tell what the cells of a column are
TURN = "_turn"  # of a row among its person's
MOST = 2**25  # distinct cells, or combinations of them, that a driver holds


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan tells of a table; `frame` is without rows that are dropped.

    `capped` rows are not in it either, because their people have more than may be published; the
    others of these people say how many they are.
    """

    header: tuple[str, ...]
    frame: DataFrame
    carried: Carried
    domains: Domains
    rows_in: int
    rows: int
    capped: int = 0

    @property
    def schema(self) -> Schema:
        """The roles of columns, and how these write their dates."""
        return self.domains.schema

    def counted(self, names: Sequence[str]) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the combinations of cells in some columns, by place, and how often each occurs."""
        places = [self.carried.known.index(name) for name in names]
        counts = _counted(self.frame, [self.carried.raw(at) for at in places], " and ".join(names))
        found = [
            self.domains.all[at].places(counts[self.carried.raw(at)]).astype(np.int64)
            for at in places
        ]
        return found, counts["count"].to_numpy()

    def labels(self, name: str) -> tuple[pl.Series, np.ndarray, np.ndarray]:
        """Return the labels of a column, and how many people and how many rows have each."""
        from pyspark.sql import functions as F  # noqa: N812

        at = self.carried.known.index(name)
        raw, cells = self.carried.raw(at), self.domains.all[at]
        whom = F.countDistinct(self.carried.whom) if self.carried.whom else F.count(F.lit(1))
        each = self.frame.groupBy(raw).agg(F.count(F.lit(1)).alias("rows"), whom.alias("people"))
        found = pl.DataFrame(pl.from_arrow(each.toArrow()))
        ranks = self.codes(name, found[raw])
        people, rows = (
            np.bincount(ranks, found[one].to_numpy(), cells.column.distinct).astype(np.int64)
            for one in ("people", "rows")
        )
        return cells.column.spellings, people, rows

    def codes(self, name: str, cells: pl.Series) -> np.ndarray:
        """Return the codes of some cells of a column."""
        known = self.domains.all[self.carried.known.index(name)]
        return known.column.codes[known.places(cells)]

    def some(self, names: Sequence[str]) -> pl.DataFrame:
        """Return columns of some rows, drawn at random; of all rows where these are few."""
        raw = {self.carried.raw(self.carried.names.index(name)): name for name in names}
        rows = self.frame.select(*raw)
        if self.rows > SOME:
            rows = rows.sample(SOME / self.rows, 1)
        return hold_times(pl.DataFrame(pl.from_arrow(rows.toArrow()))).rename(raw)

    def people(self) -> Coded:
        """Return rows about people as many, with as many rows and the values, as there are."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        values = F.struct(*(F.col(self.carried.raw(at)) for at in range(len(self.carried.known))))
        told = F.array_sort(F.collect_set(values)) if self.carried.known else F.lit(None)
        each = self.frame.groupBy(self.carried.kept[-1]).agg(
            F.count(F.lit(1)).alias("rows"), told.alias("values")
        )
        found = each.groupBy("rows", "values").count().limit(MOST + 1).toArrow()
        if found.num_rows > MOST:
            msg = (
                f"The people have more than {MOST:,} different combinations of values, and the "
                "driver of Spark has to hold them all. Use a dry run of the release instead: "
                f"{option('dry_run', 'True')}."
            )
            raise InputError(msg)
        return as_many(self.domains, pl.DataFrame(pl.from_arrow(found)))


def as_many(domains: Domains, told: pl.DataFrame) -> Coded:
    """Return rows about people of whom it is told how many have how many rows and which values.

    Which of its values a person has in several rows is not told: the last one is in all the others.
    """
    whom = np.repeat(np.arange(told.height), told["count"].to_numpy())
    rows = told["rows"].to_numpy().astype(np.int64)[whom]
    person_of = PersonOf(np.repeat(np.arange(len(whom)), rows))
    if not domains.all:
        return domains.coded([], person_of)
    listed = told["values"]
    cells = listed.explode().struct.unnest()
    different = listed.list.len().to_numpy().astype(np.int64)
    first = np.cumsum(different) - different
    within = person_of.turns(np.arange(len(person_of.labels)))
    within = np.minimum(within, person_of.of_row((different - 1)[whom]))
    at = person_of.of_row(first[whom]) + within
    places = [one.places(some)[at] for one, some in zip(domains.all, cells, strict=True)]
    return domains.coded(places, person_of)


def scan(work: Work) -> Scan:
    """Count rows and cells, and check that what is required can hold on the whole table."""
    work.schema.check_quasi()
    found = scan_columns(work)
    check_names(work.form, found.schema, [one.column for one in found.domains.quasi])
    if found.schema.person is None:
        with work.phase("code"):
            _check_whole(found, work.requirements, int(found.rows * work.share))
    return found


def scan_columns(work: Work) -> Scan:
    """Count rows and cells of the columns that a schema names."""
    schema = work.schema
    check_policy(work.missing)
    with work.phase("read"):
        rows = read_rows(
            work.session,
            work.table,
            (*schema.published, *schema.persons),
            work.place / "rows",
            delimiter=work.delimiter,
            encoding=work.encoding,
        )
        work.seen(rows.header)
        schema.check(list(rows.header))
        others = [name for name in rows.header if name in schema.other]
        carried = Carried((*schema.quasi, *schema.sensitive), tuple(others), schema.persons)
        frame, rows_in, kept = _complete(work, rows, carried)
        if carried.whom:
            frame = frame.withColumn(carried.whom, _whom(frame, carried.whom))
        frame, capped = _offered(frame, carried, schema.most_rows, kept)
    with work.phase("code"):
        asked = asked_of(work.requirements)
        cells = []
        for at, name in enumerate(carried.known):
            one, schema = _cells(rows, frame, carried.raw(at), name, schema, asked)
            cells.append(one)
            work.progress("code", (at + 1) / len(carried.known))
        quasi = tuple(cells[: len(schema.quasi)])
        domains = Domains(quasi, tuple(cells[len(quasi) :]), schema)
    return Scan(rows.header, frame, carried, domains, rows_in, kept - capped, capped)


def _complete(work: Work, rows: SparkRows, carried: Carried) -> tuple[DataFrame, int, int]:
    """Return rows without those that are dropped for missing cells; how many there were and are."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    schema = work.schema
    frame = rows.only(carried.names)
    needed = {
        name: _missing(frame, carried.raw(at))
        for at, name in enumerate(carried.names)
        if name not in carried.other
    }
    counts = frame.agg(
        F.count(F.lit(1)),
        *(F.coalesce(F.sum(one.cast("long")), F.lit(0)) for one in needed.values()),
    ).collect()[0]
    total = int(counts[0])
    if not total:
        msg = "The table has a header but no rows."
        raise InputError(msg)
    dropped = []
    for (name, missing), count in zip(needed.items(), counts[1:], strict=True):
        policy = schema.missing_cells.get(name, work.missing)
        if count and policy == "error":
            advice = (
                f"Fill them in, or choose {option('missing', 'drop')} or "
                f"{option('missing', 'value')}."
            )
            raise _located(rows, frame.filter(missing), name, "missing", int(count), advice)
        if count and policy == "drop":
            dropped.append(~missing)
    if not dropped:
        return frame, total, total
    for keep in dropped:
        frame = frame.filter(keep)
    kept = frame.count()
    if not kept:
        msg = "No row is left after dropping rows with missing cells."
        raise InputError(msg)
    return frame, total, kept


def _offered(
    frame: DataFrame, carried: Carried, most: int | None, kept: int
) -> tuple[DataFrame, int]:
    """Return rows without those that are beyond what is published of a person, and their number.

    They go before anything is coded, so that they leave no trace. Which they are is chance: the
    order of keyed digests of rows, which is the same whenever a task is done again.
    """
    if most is None or carried.whom is None:
        return frame, 0
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    key = F.lit(secrets.token_hex())
    cells = [F.coalesce(frame[one].cast("string"), F.lit("\0")) for one in frame.columns]
    order = Window.partitionBy(carried.whom).orderBy(F.sha2(F.concat_ws("\x1f", key, *cells), 256))
    turned = frame.withColumn(TURN, F.row_number().over(order))
    every = F.count(F.lit(1)).over(Window.partitionBy(carried.whom))
    turned = turned.withColumn(BEYOND, F.greatest(every - most, F.lit(0)))
    some = turned.filter(F.col(TURN) <= most).drop(TURN)
    return some, kept - some.count()


def _missing(frame: DataFrame, name: str) -> Expression:
    from pyspark.sql import functions as F  # noqa: N812

    column = frame[name]
    kind = dict(frame.dtypes)[name]
    return column.isNull() | F.isnan(column) if kind in {"double", "float"} else column.isNull()


def _whom(frame: DataFrame, name: str) -> Expression:
    """Return whom rows are about; all missing cells are about one, as `code_persons` has it."""
    from pyspark.sql import functions as F  # noqa: N812

    column, kind = frame[name], dict(frame.dtypes)[name]
    if kind in {"double", "float"}:
        return F.when(~F.isnan(column), column)
    return F.coalesce(column, F.lit(MISSING_LABEL)) if kind == "string" else column


def _cells(
    rows: SparkRows,
    frame: DataFrame,
    raw: str,
    name: str,
    schema: Schema,
    asked: Mapping[str, bool],
) -> tuple[Cells, Schema]:
    """Return the distinct cells of a column, coded, and the schema with what they decided."""
    counts = _counted(frame, [raw], name)
    cells = counts[raw].alias(name)
    check_type(cells)
    table = cells.to_frame()
    schema = with_date_formats(table, schema, "quasi", "sensitive")
    plain = schema.read_numbers(table, "quasi", "sensitive")[name]
    try:
        column = code_cells(plain, schema, asked, counts["count"].to_numpy())
    except BadCells as problem:
        bad = [cells[row - 1] for row in problem.rows]
        where = frame[raw].isin([one for one in bad if one is not None])
        if None in bad:
            where |= _missing(frame, raw)
        found = frame.filter(where)
        what = f"different {problem.what}" if problem.count > 1 else problem.what
        raise _located(rows, found, name, what, problem.count, problem.advice) from None
    return Cells(cells, column), schema


def _counted(frame: DataFrame, names: Sequence[str], what: str) -> pl.DataFrame:
    """Return the different cells, or combinations of cells, and how many rows have each."""
    found = frame.groupBy(*names).count().limit(MOST + 1).toArrow()
    if found.num_rows > MOST:
        msg = (
            f"{what} has more than {MOST:,} different values, and the driver of Spark has to "
            f"hold them all. Round or generalize it first, for example with {option('round')}."
        )
        raise InputError(msg)
    return hold_times(pl.DataFrame(pl.from_arrow(found)))


def _located(
    rows: SparkRows, bad: DataFrame, name: str, what: str, count: int, advice: str
) -> InputError:
    """Say which cells of a column cannot be used, and in which files the first of them are."""
    found = bad.select(FILE, ROW).orderBy(FILE, ROW).limit(FIRST).collect()
    places = []
    for file, row in found:
        last = str(file).rpartition("/")[2]
        places.append(f"row {row + 1} of {rows.files.get(last, last)!r}")
    noun = "cell" if count == 1 else "cells"
    more = ", …" if count > len(places) else ""
    return InputError(
        f"Column {name!r} has {count} {what} {noun}, first in data {', '.join(places)}{more}. "
        f"{advice}"
    )


def _check_whole(found: Scan, asked: Sequence[Requirement], limit: int) -> None:
    """Raise where a requirement cannot hold on the whole table, whoever may be left out."""
    for one in asked:
        value = value_of(found, one) if one.columns else None
        few = 0 if value is None else int(one.principle.must_go(value).sum())
        if 0 < few <= limit:  # the others can keep it
            continue
        try:
            check_value(one, value, found.rows, whole=True)
        except NotAchievable as problem:
            more = "" if not limit else f" {option('suppress')} allows {limit}."
            raise NotAchievable(problem.sentence + more) from None


def value_of(found: Scan, one: Requirement) -> Sensitive:
    """Return the values that a requirement is about, each with how many rows have it."""
    known: dict[str, Any] = {cells.column.name: cells for cells in found.domains.sensitive}
    if len(one.columns) == 1:
        return Sensitive.of((known[one.columns[0]].column,))
    places, times = found.counted(one.columns)
    return Sensitive.of(
        tuple(
            replace(known[name].column, codes=known[name].column.codes[at], times=times)
            for name, at in zip(one.columns, places, strict=True)
        )
    )
