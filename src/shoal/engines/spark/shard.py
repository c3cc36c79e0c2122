"""What a worker does with rows: it finds the shard of each, and searches one shard by itself.

Nothing here knows Spark. Batches of Arrow come in and go out; what was found is written to a file,
so that keys drawn at random are never drawn a second time when a lost part of the work is done
again.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engines.local import Local as Here
from shoal.engines.spark.cuts import deal
from shoal.engines.spark.work import (
    BEYOND,
    BLOB,
    FILE,
    GROUP,
    PERSON,
    ROW,
    SHARD,
    ShardFound,
    packed,
    pickled,
    unpacked,
    write_slices,
)
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Task
from shoal.progress import limit_threads
from shoal.release.building import with_mean_weights
from shoal.release.cover import Cover
from shoal.release.forms import has_means, is_interval
from shoal.release.layout import alone_with_their_rows
from shoal.release.means import cell_sums
from shoal.release.recoding import typed_kinds
from shoal.table.coded import persons_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from shoal.engines.spark.cells import Domains
    from shoal.engines.spark.work import Carried, Errand
    from shoal.principles.groups import Groups
    from shoal.table.column import Column
    from shoal.table.partition import PersonOf

LOCAL = 36  # bits of a number that count within a shard


# Finding the shard of each row


def assign(errand: Errand, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield rows with the place of each cell, what else travels with it, and their shard."""
    import pyarrow as pa

    begun: dict[int, int] = {}
    for batch in batches:
        if not batch.num_rows:
            continue
        places = [
            one.places(pl.Series(pl.from_arrow(batch.column(at))))
            for at, one in enumerate(errand.domains.all)
        ]
        shards = errand.shard[_units(errand, places, begun)]
        columns = {SHARD: pa.array(shards.astype(np.int32))}
        columns |= {errand.carried.raw(at): pa.array(one) for at, one in enumerate(places)}
        names = batch.schema.names[len(places) :]
        columns |= {name: batch.column(batch.schema.get_field_index(name)) for name in names}
        found = pa.RecordBatch.from_pydict(columns)
        yield found if (shards >= 0).all() else found.filter(pa.array(shards >= 0))


def pack(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the rows of batches by their shards, as bytes."""
    frames = (pl.DataFrame(pl.from_arrow(batch)) for batch in batches if batch.num_rows)
    return packed((rows[SHARD].to_numpy(), rows.drop(SHARD)) for rows in frames)


def _units(
    errand: Errand, places: list[NDArray[np.int32]], begun: dict[int, int]
) -> NDArray[np.int64]:
    """Return the unit of each row: its leaf, or the part of it that the row is dealt to."""
    domains, cuts = errand.domains, errand.cuts
    ranks = [
        one.column.codes[at]
        for one, at in zip(domains.quasi, places[: len(domains.quasi)], strict=True)
    ]
    if errand.roots is None:
        roots = np.zeros(len(places[0]), np.int64)
    else:
        names = domains.schema.never_mix
        by_name = {one.column.name: codes for one, codes in zip(domains.quasi, ranks, strict=True)}
        apart = pl.DataFrame({name: by_name[name] for name in names})
        joined = apart.join(errand.roots, on=list(names), how="left", maintain_order="left")
        roots = joined["root"].to_numpy().astype(np.int64)
    leaves = cuts.walk(ranks, roots)
    units = errand.first[leaves]
    dealt = np.array(cuts.dealt)[leaves]
    for leaf in np.unique(leaves[dealt > 1]):
        rows = np.flatnonzero(leaves == leaf)
        values = _values(domains, places, rows)
        parts = cuts.dealt[leaf]
        units[rows] += deal(values, parts, begun.setdefault(int(leaf), 0))
        begun[int(leaf)] += len(rows)
    return units


def _values(domains: Domains, places: list[NDArray[np.int32]], rows: NDArray) -> NDArray:
    """Return what rows are dealt by: the rank of the first sensitive value."""
    if not domains.sensitive:
        return np.zeros(len(rows), np.int32)
    return domains.sensitive[0].column.codes[places[len(domains.quasi)][rows]]


# Searching one shard


def search(errand: Errand, batches: Iterable[Any], *, ordered: bool) -> Iterator[Any]:
    """Search the shard that all rows of some batches are of; yield what was found in it."""
    import pyarrow as pa

    limit_threads(errand.threads)
    given = list(unpacked(batches))
    if not given:
        return
    shard = given[0][0]
    rows = pl.concat([some for _, some in given])
    del given
    if ordered:
        rows = rows.sort(FILE, ROW)
    try:
        found = _search(errand, rows, shard)
    except NotAchievable as problem:
        found = ShardFound(
            shard, rows.height, members=_members(errand, rows), problem=problem.sentence
        )
    except UsageError as problem:
        found = ShardFound(shard, rows.height, members=0, refused=problem.sentence)
    yield pa.RecordBatch.from_pydict({BLOB: [pickled(found)]})


def _search(errand: Errand, rows: pl.DataFrame, shard: int) -> ShardFound:
    domains, carried, here = errand.domains, errand.carried, Here()
    known = [rows[carried.raw(at)].to_numpy() for at in range(len(carried.known))]
    coded = domains.coded(known, persons_of(rows, carried.whom))
    task = Task(coded, errand.requirements)
    if shard in errand.spared:
        solved, groups, suppression = here.solve_needed(task, errand.method, errand.spared[shard])
    else:
        solved, groups, suppression = here.solve(task, errand.method, errand.share)
    kept = solved.coded.rows
    some = coded.part(kept)
    columns = _cells(errand, some.quasi, groups)  # type: ignore[arg-type]
    names = (*carried.known, *carried.other)
    source = pl.DataFrame(
        {
            carried.raw(at): rows[carried.raw(at)].gather(kept)
            for at in range(len(domains.quasi), len(names))
        }
    )
    schema = domains.schema
    if schema.survey_weight is not None:
        at = carried.raw(names.index(schema.survey_weight))
        weights = source.select(pl.col(at).alias(schema.survey_weight))
        means = with_mean_weights(weights, schema, groups)
        source = source.with_columns(means[schema.survey_weight].alias(at))
    whom, persons = some.person_of, {}
    if whom.given:
        persons[PERSON] = whom.of_row(_numbered(errand.keys[1], shard, len(whom)))
    table = pl.DataFrame(
        {
            GROUP: _numbered(errand.keys[0], shard, len(groups))[groups.labels],  # type: ignore[union-attr]
            **persons,
            **{one.name: one for one in columns},
            **{one.name: one for one in source},
        }
    )
    # Which file a row goes to is drawn before it is written down, so it is drawn once.
    drawn = np.frombuffer(os.urandom(4 * len(kept)), np.uint32) % errand.parts
    file = secrets.token_hex(16)
    write_slices(Path(errand.place) / file, table, drawn, errand.parts)
    return ShardFound(
        shard,
        len(coded),
        _members(errand, rows),
        file,
        published=len(kept),
        groups=len(groups),
        people=len(whom),
        capped=_beyond(rows, kept, whom),
        alone=alone_with_their_rows(some, groups) if whom.given else 0,  # type: ignore[arg-type]
        suppression=suppression,
        counts=tuple(
            tuple(np.unique(known[at][kept], return_counts=True))  # type: ignore[misc]
            for at in range(len(some.quasi))
        )
        if errand.share or whom.given
        else None,
        pairs=tuple(_pairs(one, groups) for one in some.quasi),  # type: ignore[arg-type]
        types=_types(errand, source),
    )


def _beyond(rows: pl.DataFrame, published: NDArray[np.int64], whom: PersonOf) -> int:
    """Return how many rows were never offered of the people whose rows are published."""
    if BEYOND not in rows.columns:
        return 0
    each = pl.DataFrame({PERSON: whom.labels, BEYOND: rows[BEYOND].gather(published)})
    return int(each.unique(PERSON)[BEYOND].sum())


def _members(errand: Errand, rows: pl.DataFrame) -> int:
    """Return how many people a shard is about, where every row is somebody's own how many rows."""
    return len(persons_of(rows, errand.carried.whom))


def _numbered(key: bytes, shard: int, count: int) -> NDArray[np.int64]:
    """Return numbers that nothing else is given and that tell nothing of the shard."""
    from shoal.kernels.permuting import permuted

    return permuted(key, np.arange(count, dtype=np.int64) + (shard << LOCAL))


def _cells(errand: Errand, quasi: tuple[Column, ...], groups: Groups) -> list[pl.Series]:
    """Return what is published of quasi columns, as ranks, for every row."""
    import pyarrow as pa

    found = []
    for at, column in enumerate(quasi):
        covered = Cover.of(column, groups)
        if covered.starts is None:
            ends = {"low": covered.low, "high": covered.high}
            if covered.most is not None:
                ends["most"] = covered.most
            found += [
                pl.Series(f"{end}{at}", ranks).gather(groups.labels) for end, ranks in ends.items()
            ]
        else:
            ends = pa.array(covered.starts.astype(np.int32))
            listed = pl.Series(pl.from_arrow(pa.ListArray.from_arrays(ends, covered.ranks)))
            found.append(listed.gather(groups.labels).alias(f"set{at}"))
        if has_means(column, errand.form, errand.domains.schema):
            sums, sizes = cell_sums(column, groups)
            held = pl.Series(list(map(str, sums))) if sums.dtype == object else pl.Series(sums)
            found += [
                held.gather(groups.labels).alias(f"sum{at}"),
                pl.Series(f"size{at}", sizes).gather(groups.labels),
            ]
    return found


def _pairs(column: Column, groups: Groups) -> NDArray[np.int64] | None:
    """Return the different ends of a column's nodes, as one number each.

    Those of intervals stand one by one, each as if it were a cell.
    """
    covered = Cover.of(column, groups)
    if is_interval(column):
        return covered.ends().astype(np.int64) * (column.distinct + 1)
    if column.tree is None:
        return None
    return np.unique(covered.low.astype(np.int64) * column.distinct + covered.high)


def _types(errand: Errand, source: pl.DataFrame) -> dict[str, tuple[Any, bool]]:
    """Return which type the text of carried columns could have, as far as this shard knows."""
    domains, carried = errand.domains, errand.carried
    spelled = as_they_came(domains, carried, source)
    plain = domains.schema.read_numbers(spelled, "sensitive", "other")
    kinds = typed_kinds(plain, domains.schema)
    return {
        name: (kind, _below(plain[name]))
        for name, kind in kinds.items()
        if plain[name].dtype == pl.String and plain[name].drop_nulls().len()
    }


def _below(column: pl.Series) -> bool:
    return bool(column.drop_nulls().str.starts_with("-").any())


def as_they_came(domains: Domains, carried: Carried, source: pl.DataFrame) -> pl.DataFrame:
    """Return the sensitive and other columns of some rows with their cells and names."""
    first = len(domains.quasi)
    columns = [
        one.as_they_came(source[carried.raw(first + at)])
        for at, one in enumerate(domains.sensitive)
    ]
    begin = first + len(domains.sensitive)
    columns += [
        source[carried.raw(begin + at)].alias(name) for at, name in enumerate(carried.other)
    ]
    return pl.DataFrame(columns)
