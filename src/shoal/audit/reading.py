"""What published cells cover of known values, read by what the manifest says that they are.

Cells may be nodes. A manifest holds the nodes that were published and those above them, never the
labels under them. Which values a node covers, its rule says (`Prefix()`, `Bins(width=5)`; the ends
of a run), or, for a hierarchy that was listed, its owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.audit.cells import interval_ends, read_set
from shoal.errors import InputError, option
from shoal.table.coding import NUMBER, code_column, code_lenient
from shoal.table.dates import not_dates
from shoal.table.ends import ranks_within
from shoal.table.groupings import Hierarchy
from shoal.table.missing import MISSING_LABEL
from shoal.table.placing import distinct_of, named_above
from shoal.table.schema import NUMERIC

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import polars as pl
    from numpy.typing import NDArray

    from shoal.release.stated import StatedColumn
    from shoal.table.column import Column
    from shoal.table.hierarchy import Levels
    from shoal.table.placing import Distinct


@dataclass(frozen=True, kw_only=True, repr=False)
class Stated(Hierarchy):
    """The hierarchy of a published column, as far as its manifest and its owner tell.

    Parameters
    ----------
    column : the name of the column.
    nodes : the named nodes, each with its parent (None: the root) and its leaves.
    rule : the hierarchy that they are nodes of, None where it was listed and is not at hand.
    """

    column: str
    nodes: tuple[tuple[str, str | None, int], ...]
    rule: Hierarchy | None

    @classmethod
    def of_manifest(cls, stated: StatedColumn, owned: Hierarchy | None = None) -> Stated:
        """Take what a manifest says of a column; its owner may know better."""
        said = stated.hierarchy
        nodes = tuple((n.name, n.parent, n.leaves) for n in stated.tree.nodes)
        rule = owned if owned is not None else None if said is None else Hierarchy.of(said)
        return cls(column=stated.name, nodes=nodes, rule=rule)

    @property
    def needs_numbers(self) -> bool:  # type: ignore[override]
        """Whether it gathers numbers (or dates) by their size."""
        return self.rule is not None and self.rule.needs_numbers

    @cached_property
    def parents(self) -> dict[str, str | None]:
        """The node above each node."""
        return {name: parent for name, parent, _ in self.nodes}

    @cached_property
    def leaves(self) -> dict[str, int]:
        """How many values of published rows each node covers."""
        return {name: leaves for name, _, leaves in self.nodes}

    @property
    def root(self) -> str:
        """The node that covers everything."""
        return next(name for name, parent in self.parents.items() if parent is None)

    def path(self, name: str) -> tuple[str, ...]:
        """Return a node and those above it."""
        found = [name]
        while (above := self.parents[found[-1]]) is not None:
            found.append(above)
        return tuple(found)

    @cached_property
    def inner(self) -> frozenset[str]:
        """The nodes that cover values which only its rule can tell."""
        return frozenset(
            name
            for name, leaves in self.leaves.items()
            if leaves > 1 and self.parents[name] is not None
        )

    def covering(self, names: Collection[str], distinct: Distinct) -> list[list[str]]:
        """Return for every value the named nodes that cover it, the root among them.

        Without the rule, a value that is published by its own name is under the nodes above that.
        Any other cannot be placed where an inner node is named.
        """
        if self.rule is not None:
            above = named_above(self.rule, names, distinct)
            whole = [self.root] if self.root in names else []
            return [list(dict.fromkeys([*path, *whole])) for path in above]
        alone = {name for name in self.parents if name not in self.inner and name != self.root}
        found = []
        for label in distinct.labels:
            if label in alone:
                found.append([name for name in self.path(label) if name in names])
                continue
            if unknown := sorted(self.inner.intersection(names)):
                raise InputError(UNPLACED.format(self.column, label, unknown[0], self.column))
            found.append([self.root] if self.root in names else [])
        return found

    def levels(self, distinct: Distinct) -> Levels:
        """Return the named nodes above every value, which stands for itself up to them."""
        paths = []
        for label, above in zip(
            distinct.labels, self.covering(self.parents, distinct), strict=True
        ):
            depths = [len(self.path(name)) for name in above]
            lowest = above[depths.index(max(depths))] if above else self.root
            chain = self.path(lowest)
            if not set(above) <= set(chain):
                msg = f"In the manifest, nodes of column {self.column!r} overlap: {above}."
                raise InputError(msg)
            paths.append(chain if chain[0] == label else (label, *chain))
        deepest = max(map(len, paths))
        return tuple((path[0],) * (deepest - len(path)) + path for path in paths)


UNPLACED = (
    "Column {0!r} was published with a hierarchy that its manifest does not contain, so only "
    f"its owner knows whether {{1!r}} lies under {{2!r}}. Name the hierarchy, for example "
    f"{option('hierarchy')} "
    "'{3}=FILE' (in Python, hierarchies=)."
)


def code_by_kind(known: pl.Series, kind: str, type: str | None) -> Column:
    """Code known values as the cells of a published column of some kind and type are to be read."""
    if kind == "interval":
        return code_lenient(known, kind=type or "numeric")
    if kind == "node" and type in {*NUMERIC, "date"}:
        return code_lenient(known, kind=type)
    return code_column(known, kind="categorical")


def ranks_between(
    texts: pl.Series, column: Column
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lowest and highest number that lies in each interval, and which could be read.

    Of a cell of missing numbers alone there is none to be read.
    """
    low, high = (end.fill_null(MISSING_LABEL) for end in interval_ends(texts))
    bad = [not_dates(e) if column.dates else ~e.str.contains(NUMBER) for e in (low, high)]
    return *ranks_within(column, low, high), ~(bad[0] | bad[1]).to_numpy()


def labels_in(texts: pl.Series, column: Column) -> Iterator[NDArray[np.int64] | None]:
    """Yield the ranks of the labels that each set holds, None where a cell is no set."""
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    for text in texts:
        labels = read_set(text)
        if labels is None:
            yield None
        else:
            held = {rank_of[label] for label in labels if label in rank_of}
            yield np.array(sorted(held), np.int64)


def values_under(
    texts: pl.Series, column: Column, hierarchy: Hierarchy
) -> dict[str, NDArray[np.int64]]:
    """Return the ranks of the values under each cell that is the name of a node, or a value's own.

    A cell that a manifest does not name is left out: it cannot be read.
    """
    if hierarchy.needs_numbers and not column.numeric:
        msg = f"{hierarchy!r} needs numbers or dates, and column {column.name!r} has other cells."
        raise InputError(msg)
    names = set(texts)
    if isinstance(hierarchy, Stated):
        names &= hierarchy.parents.keys()
    ranks: dict[str, set[int]] = {name: set() for name in names}
    rank_of = {label: rank for rank, label in enumerate(column.spellings)}
    distinct = distinct_of(column)
    above = (
        hierarchy.covering(names, distinct)
        if isinstance(hierarchy, Stated)
        else named_above(hierarchy, names, distinct)
    )
    for label, path in zip(distinct.labels, above, strict=True):
        for name in path:
            ranks[name].add(rank_of[label])
    if MISSING_LABEL in rank_of and isinstance(hierarchy, Stated):
        for name in names.intersection({MISSING_LABEL, hierarchy.root}):
            ranks[name].add(rank_of[MISSING_LABEL])
    known = isinstance(hierarchy, Stated)
    return {n: np.array(sorted(found), np.int64) for n, found in ranks.items() if known or found}
