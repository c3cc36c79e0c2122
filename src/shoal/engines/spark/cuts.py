"""Cutting a table that nobody holds whole: from a sample of its quasi columns, as a small tree.

Where cuts lie depends on quasi columns alone. Rows that are never mixed are in different trees.
Whoever has the tree knows the shard of a row from its ranks; what cannot be cut, because all its
rows are at one place, is dealt into several shards, by the rank of the sensitive value, so that
each has about the same values. For a method that may not look at values it stays one shard.

Which method searches what the cuts make is said here too.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.engines.base import as_people, check_method
from shoal.errors import UsageError
from shoal.methods.base import Task
from shoal.methods.choice import choose_method, method_for
from shoal.methods.suppression import check_share
from shoal.table.coded import persons_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shoal.engines.spark.scan import Scan
    from shoal.engines.spark.work import Work
    from shoal.methods.base import Method
    from shoal.table.coded import Coded


LEAF = -1
ABOUT = 1.25  # times as many rows as were asked for are not cut once more: halves would be small


@dataclass(eq=False)
class Cuts:
    """A forest of cuts: node i parts by `rank <= cut[i]` in column `column[i]`, or is a leaf.

    `parent` and `children` lead through it; `dealt[i]` says into how many shards a leaf is dealt,
    where it `deals`.
    """

    deals: bool = True
    roots: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    children: list[tuple[int, int]] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    dealt: list[int] = field(default_factory=list)

    def add(self, parent: int) -> int:
        """Add a leaf and return its number."""
        self.column.append(LEAF)
        self.cut.append(0)
        self.children.append((LEAF, LEAF))
        self.parent.append(parent)
        self.dealt.append(1)
        return len(self.column) - 1

    def grow(
        self, coded: Coded, rows: NDArray[np.int64], scale: float, largest: int, parent: int = LEAF
    ) -> int:
        """Cut sampled rows, each of which stands for `scale` rows; return the number of the root.

        A part is halved where that loses least.
        """
        node = self.add(parent)
        if len(rows) * scale <= largest * ABOUT:
            return node
        found = halves(coded, rows)
        if found is None:
            if self.deals:
                self.dealt[node] = int(-(-len(rows) * scale // largest))
            return node
        place, rank = found
        low = coded.quasi[place].codes[rows] <= rank
        self.column[node], self.cut[node] = place, rank
        self.children[node] = (
            self.grow(coded, rows[low], scale, largest, node),
            self.grow(coded, rows[~low], scale, largest, node),
        )
        return node

    def walk(self, ranks: Sequence[NDArray[np.int32]], roots: NDArray[np.int64]) -> NDArray:
        """Return the leaf of each row, from the root of its tree and its ranks."""
        column, cut = np.array(self.column), np.array(self.cut)
        children = np.array(self.children)
        nodes = roots.copy()
        going = np.flatnonzero(column[nodes] != LEAF)
        while len(going):
            at = nodes[going]
            for place in np.unique(column[at]):
                here = column[at] == place
                some = going[here]
                right = ranks[place][some] > cut[at[here]]
                nodes[some] = children[at[here], right.astype(np.int64)]
            going = going[column[nodes[going]] != LEAF]
        return nodes

    def leaves(self, node: int) -> list[int]:
        """Return the leaves under a node."""
        waiting, found = [node], []
        while waiting:
            one = waiting.pop()
            if self.column[one] == LEAF:
                found.append(one)
            else:
                waiting.extend(self.children[one])
        return found


def halves(coded: Coded, rows: NDArray[np.int64]) -> tuple[int, int] | None:
    """Return a column and the last rank of its lower half, None where all rows are at one place.

    It is the cut that `Split()` would make: of all medians, and of what lies just under them where
    rows tie, the one that loses least. So shards are the first buckets of a search of the whole
    table, and little is lost where they meet. Cutting the widest column cost `Split()` 5 to 8%.
    """
    from shoal.kernels.cuts import child_cut, cut_loss, earliest_least, lower_median
    from shoal.kernels.space import NODE

    shape = coded.space.shape_arrays
    kinds, coords, offsets, _ = shape
    ranks = coded.space.ranks_of(rows)
    columns = ranks.shape[1]
    histogram = np.empty(max(int(np.diff(offsets).max(initial=1)), 1), np.int32)
    seen = np.zeros((2, len(coords)), np.int32)
    low, high, distinct = (np.empty((2, columns), np.int32) for _ in range(3))
    sizes = np.empty(2, np.int64)
    found: list[tuple[int, int]] = []
    scores = []
    for place in range(columns):
        least, most = ranks[:, place].min(), ranks[:, place].max()
        if least == most:
            continue
        median = lower_median(ranks, place, least, most, histogram, np.empty(len(rows), np.int32))
        near = median - 1
        if kinds[place] >= NODE:
            width = kinds[place] - NODE
            near = child_cut(ranks, place, least, most, coords, offsets[place], width, histogram)
        for cut in (median, near):
            if least <= cut < most:
                found.append((place, int(cut)))
                scores.append(
                    cut_loss(
                        ranks,
                        place,
                        cut,
                        0,
                        0,
                        *shape,
                        seen,
                        len(found),
                        low,
                        high,
                        distinct,
                        sizes,
                    )
                )
    return found[earliest_least(np.array(scores), len(scores))] if found else None


def deal(values: NDArray, parts: int, begun: int) -> NDArray[np.int64]:
    """Deal rows to so many shards by the rank of their values, going on after the `begun` ones."""
    dealt = np.empty(len(values), np.int64)
    dealt[np.argsort(values, kind="stable")] = (begun + np.arange(len(values))) % parts
    return dealt


SAMPLE = 2**24  # cells that cuts are made from: with four columns, all of four million rows


@dataclass(frozen=True, eq=False)
class Forest:
    """Cuts, the roots of rows that are never mixed, and the method that searches."""

    cuts: Cuts
    roots: pl.DataFrame | None
    method: Method


def cut_table(work: Work, scan: Scan) -> Forest:
    """Cut a table from a sample, and choose the method."""
    with work.phase("search"):
        largest = work.engine.shard
        alone = [one for one in work.requirements if not one.principle.by_itself]
        if alone and scan.rows > largest:
            msg = (
                f"{alone[0]!r} compares each group with the whole table, so Shoal has to search "
                f"all rows together. {scan.rows:,} rows are more than one shard holds. Use "
                "Local(), or a larger shard."
            )
            raise UsageError(msg)
        task, coded_rows = _sampled(work, scan)
        chosen = (
            method_for(as_people(task), form=work.form)
            if work.method is None
            else choose_method(work.method, work.requirements)
        )
        check_method(chosen, task)
        check_share(chosen, work.share)
        cuts = Cuts(deals=chosen.chooses_rows)
        if not scan.schema.never_mix:
            rows = np.arange(coded_rows, dtype=np.int64)
            cuts.grow(task.coded, rows, scan.rows / max(coded_rows, 1), largest)
            return Forest(cuts, None, chosen)
        return Forest(cuts, _roots(scan, task, cuts, largest), chosen)


def _sampled(work: Work, scan: Scan) -> tuple[Task, int]:
    """Return a sample of rows as a task; all of them where there are few."""
    names = [scan.carried.raw(at) for at in range(len(scan.carried.known))]
    names += [scan.carried.whom] if scan.carried.whom else []
    frame = scan.frame.select(*names)
    most = SAMPLE // len(names)
    if scan.rows > most:
        frame = frame.sample(fraction=most / scan.rows, seed=secrets.randbits(31))
    rows = pl.DataFrame(pl.from_arrow(frame.toArrow()))
    places = [one.places(rows[scan.carried.raw(at)]) for at, one in enumerate(scan.domains.all)]
    whom = persons_of(rows, scan.carried.whom)
    return Task(scan.domains.coded(places, whom), work.requirements), rows.height


def _roots(scan: Scan, task: Task, cuts: Cuts, largest: int) -> pl.DataFrame:
    """Grow a tree for every combination that is never mixed; small ones share a shard."""
    names = list(scan.schema.never_mix)
    places, times = scan.counted(names)
    by_name = {one.column.name: one.column for one in scan.domains.quasi}
    ranks = {name: by_name[name].codes[at] for name, at in zip(names, places, strict=True)}
    combined = pl.DataFrame({**ranks, "times": times}).group_by(names).agg(pl.col("times").sum())
    combined = combined.sort("times", descending=True)
    sample = pl.DataFrame(
        {c.name: c.codes for c in task.coded.quasi if c.name in names}
    ).with_row_index("row")
    grouped = {
        key: rows["row"].to_numpy().astype(np.int64)
        for key, rows in sample.group_by(names, maintain_order=True)
    }
    roots, held, shared = [], 0, LEAF
    for *key, count in combined.select(*names, "times").iter_rows():
        rows = grouped.get(tuple(key), np.empty(0, np.int64))
        if count > largest and len(rows):
            roots.append(cuts.grow(task.coded, rows, count / len(rows), largest))
            continue
        if shared == LEAF or held + count > largest:
            shared, held = cuts.add(LEAF), 0
        roots.append(shared)
        held += count
    return combined.select(names).with_columns(pl.Series("root", roots, pl.Int64))
