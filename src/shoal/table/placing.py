"""The values of a table, and of people who are not in it, under the nodes of a hierarchy.

A hierarchy is built from the values of the table alone; a node covers values, not just those that
occur, so people of a population stand under the nodes that cover their values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError
from shoal.table.distinct import Distinct
from shoal.table.hierarchy import Tree
from shoal.table.missing import MISSING_LABEL

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from shoal.table.column import Column
    from shoal.table.groupings import Hierarchy
    from shoal.table.hierarchy import Levels

Path = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Placed:
    """A tree, where the values of the table stand in it, and where those of people do."""

    tree: Tree
    places: NDArray[np.int64]
    standing: NDArray[np.int64] | None


def distinct_of(column: Column) -> Distinct:
    """Return the distinct values of a column, without the label of missing ones."""
    labels = column.spellings.to_list()
    kept = [place for place, label in enumerate(labels) if label != MISSING_LABEL]
    values = column.numbers if column.numeric else None
    whole = Distinct(
        column.name, labels, values, column.counts, dates=column.dates, ordered=column.ordered
    )
    return whole.part(kept)


def place(column: Column, hierarchy: Hierarchy, people: Column | None) -> Placed:
    """Build the tree of a column's values, with a place for everybody's.

    A missing cell is a label under the root, unless the hierarchy has a place for it. Of a listed
    hierarchy the tree has the labels that occur; the whole of it has to be sound all the same.
    """
    own = distinct_of(column)
    labels = column.spellings.to_list()
    levels = levels_of(column, hierarchy)
    whole = Tree.of(levels, column.name)
    whole.places(labels, column.name)
    present = set(labels)
    known = {path[0]: path for path in levels if path[0] in present}
    theirs = {} if people is None else _paths(hierarchy, own, tuple(known.values()), people)
    paths = known | {path[0]: path for path in theirs.values()}
    tree = Tree.of(tuple(paths.values()), column.name)
    places = tree.places(labels, column.name)
    standing = None
    if people is not None:
        leaf = [theirs[label][0] for label in people.spellings]
        standing = tree.places(leaf, column.name)
    return Placed(tree.counting(np.sort(places)), places, standing)


def levels_of(column: Column, hierarchy: Hierarchy) -> Levels:
    """Return the paths of a column's values; a missing cell is a label under the root."""
    if hierarchy.needs_numbers and column.values is None:
        msg = (
            f"{hierarchy!r} needs numbers or dates, and column {column.name!r} has other cells. "
            "Choose another hierarchy, or give the column a type."
        )
        raise InputError(msg)
    own = distinct_of(column)
    levels = hierarchy.levels(own) if own.labels else ((MISSING_LABEL,),)
    return _with_missing(levels) if len(own.labels) < column.distinct else levels


def _paths(hierarchy: Hierarchy, own: Distinct, levels: Levels, people: Column) -> dict[str, Path]:
    """Return the path of every label of people, through that of the table's value if it is one."""
    known = {path[0]: path for path in levels}
    same = dict(zip(own.keys(own.labels), own.labels, strict=True))
    theirs = distinct_of(people)
    found: dict[str, Path] = {}
    others = []
    for rank, (label, key) in enumerate(zip(theirs.labels, own.keys(theirs.labels), strict=True)):
        if label in known or key in same:
            found[label] = known[label if label in known else same[key]]
        else:
            others.append(rank)
    rest = theirs.part(others)
    depth, root = len(levels[0]), levels[0][-1]
    beside = (
        hierarchy.beside(own, levels, rest)
        if own.labels
        else tuple((label,) * depth for label in rest.labels)
    )
    for label, path in zip(rest.labels, beside, strict=True):
        # Where a label of the table is itself a name on the way up, as a day that others have
        # with a time, it covers the value.
        found[label] = next((known[name] for name in path[1:] if name in known), path)
    if MISSING_LABEL in set(people.spellings):
        alone = (MISSING_LABEL,) * max(depth - 1, 1) + (root,) * (depth > 1)
        found[MISSING_LABEL] = known.get(MISSING_LABEL, alone)
    return found


def named_above(
    hierarchy: Hierarchy, names: Collection[str], distinct: Distinct
) -> list[list[str]]:
    """Return for every value which of the named nodes cover it, a name of its own among them."""
    known = sorted(names)
    same: dict[object, str] = {}
    for name, key in zip(known, distinct.keys(known), strict=True):
        if key is not None:
            same.setdefault(key, name)
    above = hierarchy.covering(names, distinct)
    found = []
    for label, key, path in zip(
        distinct.labels, distinct.keys(distinct.labels), above, strict=True
    ):
        own = label if label in names else same.get(key)
        found.append(list(dict.fromkeys([*([] if own is None else [own]), *path])))
    return found


def _with_missing(levels: Levels) -> Levels:
    """Return levels with a place for missing cells, which is under the root if none is said."""
    if any(path[0] == MISSING_LABEL for path in levels):
        return levels
    depth = len(levels[0])
    return (*levels, (MISSING_LABEL,) * max(depth - 1, 1) + levels[0][-1:] * (depth > 1))
