"""What was found becomes part files in random order, and what is stated of them.

A worker writes published rows into files under random names. Rows come from all shards alike, in an
order that is drawn here, so neither a file nor a place in it tells where a row was before.
"""

from __future__ import annotations

import math
import os
import secrets
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.audit.tables import digest_of
from shoal.engines.spark.cells import only_published
from shoal.engines.spark.shard import as_they_came
from shoal.engines.spark.work import GROUP, PERSON, TABLE, pickled, read_slice
from shoal.exact import with_lost
from shoal.platforms import sync
from shoal.progress import limit_threads
from shoal.release.cells import integer_type, type_of_ends
from shoal.release.cover import Cover
from shoal.release.forms import has_means, is_interval
from shoal.release.layout import Layout, Suppression
from shoal.release.means import decimals_of, means_of
from shoal.release.recoding import Recoding
from shoal.release.statement import state
from shoal.release.writing import write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from shoal.engines.spark.cells import Domains
    from shoal.engines.spark.cuts import Forest
    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Carried, ShardFound, Work
    from shoal.release.manifest import Manifest
    from shoal.table.column import Column


BATCH = 2**16  # rows that are put together at a time
NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Printing:
    """Everything that a worker has to know to spell and write published rows."""

    domains: Domains
    carried: Carried
    names: tuple[str, ...]  # published columns, in the order of the input
    quasi: tuple[Column, ...]  # over the values that are published
    moved: tuple[NDArray[np.int32] | None, ...]  # where ranks are now
    ends: tuple[pl.DataType | None, ...]  # the types that the ends of intervals have
    types: dict[str, pl.DataType | None]
    form: str
    threads: int
    place: str
    found: tuple[str, ...]  # files of what was found, each with a slice for every part
    parts: int

    def recoding(
        self, source: pl.DataFrame, cells: dict[str, Cover], groups: NDArray, people: NDArray | None
    ) -> Recoding:
        """Return what some published rows are made of."""
        every = np.arange(len(groups), dtype=np.int32)
        return Recoding(
            source=source,
            names=list(self.names),
            schema=self.domains.schema,
            covers=cells,
            layout=Layout(every, every, NOBODY, groups, None, persons=people),
            escape=False,
            form=self.form,
            carried=self.types,
        )


@dataclass(frozen=True, eq=False)
class PartWritten:
    """One published file: its name, digest and rows, and what its rows lost, by column."""

    name: str
    digest: str
    rows: int
    lost: tuple[float, ...]


def write_parts(printing: Printing, batches: Iterable[Any]) -> Iterator[Any]:
    """Write the parts that batches number, a file each; yield what they are called."""
    import pyarrow as pa

    limit_threads(printing.threads)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            if (written := _write_part(printing, number)) is not None:
                yield pa.RecordBatch.from_pydict({"part": [pickled(written)]})


def _write_part(printing: Printing, number: int) -> PartWritten | None:
    """Write one part, in random order; return None where it has no rows."""
    lost: list[list[float]] = [[] for _ in printing.quasi]
    rows = 0

    def spelled() -> Iterator[pl.DataFrame]:
        nonlocal rows
        for found in _gathered(printing, number):
            recoding, ncp = _spelled(printing, found)
            for mine, of_column in zip(lost, ncp, strict=True):
                mine.append(float(of_column.sum()))
            rows += found.height
            yield from recoding.typed(found.height)

    frames = spelled()
    first = next(frames, None)
    if first is None:
        return None
    name = f"part-{secrets.token_hex(16)}.parquet"
    path = Path(printing.place) / name
    write_parquet(_chained(first, frames), path, lambda _: None)
    sync(path)
    return PartWritten(name, digest_of(path), rows, tuple(map(math.fsum, lost)))


def _chained(first: pl.DataFrame, others: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    yield from others


def _gathered(printing: Printing, number: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of a part in random order, in frames of a good size."""
    slices = (read_slice(Path(path), number, printing.parts) for path in printing.found)
    held = [one for one in slices if one is not None]
    if not held:
        return
    wide = {name for one in held for name, kind in one.schema.items() if _is_wide(name, kind)}
    rows = pl.concat([one.with_columns(pl.col(wide).cast(pl.String)) for one in held])
    del held
    order = np.argsort(np.frombuffer(os.urandom(8 * rows.height), np.int64))
    for first in range(0, rows.height, BATCH):
        yield rows[order[first : first + BATCH]]


def _is_wide(name: str, kind: pl.DataType) -> bool:
    """Return whether a column holds sums that are too large for a shard, so are text in all."""
    return name.startswith("sum") and kind == pl.String


def _spelled(printing: Printing, found: pl.DataFrame) -> tuple[Recoding, list[NDArray]]:
    """Return what rows are made of, and what each of them lost, by column."""
    cells, lost = {}, []
    for at, column in enumerate(printing.quasi):
        covered = _covered(found, at, column, printing.moved[at])
        lost.append(covered.loss())
        means = None
        if has_means(column, printing.form, printing.domains.schema):
            sums = found[f"sum{at}"]
            units = (
                np.array([int(text) for text in sums], object)
                if sums.dtype == pl.String
                else sums.to_numpy()
            )
            finer = decimals_of(printing.domains.quasi[at].column) - decimals_of(column)
            means = means_of(column, units // 10**finer, found[f"size{at}"].to_numpy())
        cells[column.name] = replace(covered, means=means, type=printing.ends[at]).distinct()
    people = found[PERSON].to_numpy() if PERSON in found.columns else None
    source = as_they_came(printing.domains, printing.carried, found)
    return printing.recoding(source, cells, found[GROUP].to_numpy(), people), lost


def _covered(
    found: pl.DataFrame, at: int, column: Column, moved: NDArray[np.int32] | None
) -> Cover:
    """Return what the cell of each row covers of a column."""

    def now(ranks: NDArray) -> NDArray[np.int32]:
        return (ranks if moved is None else moved[ranks]).astype(np.int32)

    if f"low{at}" in found.columns:
        low, high = (now(found[f"{end}{at}"].to_numpy()) for end in ("low", "high"))
        if not column.numeric and column.tree is None:  # of numbers, missing ones alone are left
            return Cover.of_lists(column, low, np.ones(len(low), np.int64))
        most = now(found[f"most{at}"].to_numpy()) if f"most{at}" in found.columns else None
        return Cover(column, low, high, most=most)
    listed = found[f"set{at}"]
    sizes = listed.list.len().to_numpy().astype(np.int64)
    ranks = now(listed.explode().to_numpy())
    return Cover.of_lists(column, ranks, sizes)


# What the driver puts together


def settle_columns(
    domains: Domains, found: Sequence[ShardFound]
) -> tuple[tuple[Column, ...], tuple[NDArray[np.int32] | None, ...]]:
    """Return the quasi columns over the values that are published, and where ranks are now."""
    columns = [one.column for one in domains.quasi]
    if all(one.published == one.rows for one in found):
        return tuple(columns), (None,) * len(columns)
    settled = []
    for at, column in enumerate(columns):
        published: dict[int, int] = {}
        for one in found:
            if one.counts is None:
                continue  # all of it was left out
            for cell, times in zip(*(part.tolist() for part in one.counts[at]), strict=True):
                published[cell] = published.get(cell, 0) + times
        settled.append(only_published(column, published))
    return tuple(one for one, _ in settled), tuple(moved for _, moved in settled)


def published_kinds(
    columns: Sequence[Column],
    before: Sequence[Column],
    moved: Sequence[NDArray[np.int32] | None],
    found: Sequence[ShardFound],
) -> dict[str, Cover]:
    """Return the published nodes or ends of columns, and of others anything, to be described."""
    kept = {}
    for at, (column, old) in enumerate(zip(columns, before, strict=True)):
        low = high = np.zeros(1, np.int32)
        if column.tree is not None or is_interval(column):
            pairs = np.unique(np.concatenate([one.pairs[at] for one in found if one.pairs]))
            low, high = (end.astype(np.int32) for end in np.divmod(pairs, old.distinct))
            now = moved[at]
            if now is not None:
                low, high = now[low], now[high]
        kept[column.name] = Cover(column, low, high, which=np.arange(len(low), dtype=np.int32))
    return kept


def settle_types(found: Sequence[ShardFound], *, spelled: bool) -> dict[str, pl.DataType | None]:
    """Return the types of carried text, as all shards together allow; `spelled`: and spell it."""
    said: dict[str, list[tuple[pl.DataType | None, bool]]] = {}
    for one in found:
        for name, kind in (one.types or {}).items():
            said.setdefault(name, []).append(kind)
    return {name: _together(kinds, spelled=spelled) for name, kinds in said.items()}


def _together(
    said: Sequence[tuple[pl.DataType | None, bool]], *, spelled: bool
) -> pl.DataType | None:
    kinds = {kind for kind, _ in said}
    if len(kinds) == 1:
        return kinds.pop()
    if None in kinds:
        return None
    if pl.Float64() in kinds:
        return None if spelled else pl.Float64()
    if pl.String() in kinds:
        return pl.String()
    if pl.Decimal(38, 0) in kinds or any(below for _, below in said):
        return pl.Decimal(38, 0)
    return integer_type(0, 2**64 - 1)


def with_losses(
    columns: Sequence[Column], parts: Sequence[PartWritten], suppressed: int
) -> dict[str, float]:
    """Return what is lost by column, rows left out counting as lost entirely."""
    rows = sum(part.rows for part in parts)
    return {
        column.name: with_lost(math.fsum(part.lost[at] for part in parts) / rows, rows, suppressed)
        for at, column in enumerate(columns)
    }


def describing(printing: Printing, cells: dict[str, Cover]) -> Recoding:
    """Return what a manifest is said from: no rows, but all columns."""
    people = NOBODY if printing.carried.persons else None
    return replace(printing.recoding(pl.DataFrame(), cells, NOBODY, people), carried={})


def scatter(work: Work, scan: Scan, forest: Forest, found: list[ShardFound]) -> Manifest:
    """Write what was found as part files in random order; return what is stated of them."""
    with work.phase("write"):
        work.files.mkdir()
        domains = scan.domains
        columns, moved = settle_columns(domains, found)
        before = [one.column for one in domains.quasi]
        cells = published_kinds(columns, before, moved, found)
        decides = domains.schema.decimal is None
        printing = Printing(
            domains,
            scan.carried,
            tuple(name for name in scan.header if name in domains.schema.published),
            columns,
            moved,
            tuple(type_of_ends(cells[one.name]) if is_interval(one) else None for one in columns),
            settle_types(found, spelled=decides),
            work.form,
            work.engine.threads,
            str(work.files),
            tuple(str(work.place / "found" / one.file) for one in found if one.published),
            work.parts(scan.rows),
        )
        parts = _write(work, printing)
    shutil.rmtree(work.place / "found", ignore_errors=True)
    recoding = describing(printing, cells)
    ncp = with_losses(columns, parts, suppressed(found, scan.capped).rows)
    return _stated(work, scan, forest, found, recoding, parts, ncp)


def _write(work: Work, printing: Printing) -> list[PartWritten]:
    """Let each worker write a part: its rows lie ready in what was found in every shard."""
    numbers = work.session.range(0, printing.parts, 1, printing.parts)
    parts: list[PartWritten] = work.spread(numbers, write_parts, printing)
    known = {part.name for part in parts}
    for path in work.files.iterdir():
        if path.name not in known:  # what a worker left that did not live to say so
            path.unlink()
    return sorted(parts, key=lambda part: part.name)


def _stated(
    work: Work,
    scan: Scan,
    forest: Forest,
    found: list[ShardFound],
    recoding: Recoding,
    parts: list[PartWritten],
    ncp: dict[str, float],
) -> Manifest:
    """Return the manifest, before anything is measured."""
    people = None if scan.schema.person is None else sum(one.people for one in found)
    manifest = state(
        recoding,
        rows_in=scan.rows_in,
        rows=sum(one.published for one in found),
        suppression=suppressed(found, scan.capped),
        groups=sum(one.groups for one in found),
        requirements=work.requirements,
        method=forest.method,
        ncp=ncp,
        title=work.title,
        people=people,
        alone=None if people is None or scan.schema.rows_known else sum(one.alone for one in found),
        sensitive=[one.column for one in scan.domains.sensitive],
    )
    manifest.digests = {f"{TABLE}/{part.name}": part.digest for part in parts}
    return manifest


def suppressed(found: list[ShardFound], capped: int) -> Suppression:
    """Return what all shards left out together, and rows that none of them was offered."""
    each = [one.suppression for one in found if one.suppression is not None]
    of_people = [one.of_people for one in each if one.of_people is not None]
    together = Suppression(
        in_the_way=sum(one.in_the_way for one in each),
        costly=sum(one.costly for one in each),
        of_people=sum(of_people) if of_people else None,
        capped=sum(one.capped for one in each),
        torn=sum(one.torn for one in each),
        before=each[0].before if len(each) == 1 else 0.0,
        after=each[0].after if len(each) == 1 else 0.0,
    )
    stays = sum(one.capped for one in found)
    return together.capping((capped - stays, stays)) if capped else together
