"""The descriptions of groups while they are searched for: what they span, and whom they match."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.groups import Groups
from shoal.release.cover import Cover

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Coded
    from shoal.table.column import Column
    from shoal.table.people import Population


def inside(
    coded: Coded, groups: Groups, places: NDArray[np.int64], at: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which persons match the description of the group that they stand at.

    `places` is `Population.places` of the table, `at[person]` a group, or -1 for none.
    """
    found = at >= 0
    for column, places_in in zip(coded.quasi, places.T, strict=True):
        found &= Cover.of(column, groups).contains(places_in, at)
    return found


@dataclass(frozen=True, eq=False)
class Standing:
    """The persons of a population beside a table that is searched.

    A description fits somebody of whom there are several rows where it covers all of them.
    """

    people: Population
    coded: Coded

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Where each row of the population stands."""
        return self.people.places(self.coded)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where each person stands, to choose a half."""
        from shoal.table.people import middles

        return middles(self.rows, self.people.person_of, self.coded)

    def inside(self, groups: Groups, at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which persons match the description of the group that they stand at."""
        table, whose = self.coded.table, self.people.person_of
        covering = Groups(table.person_of.of_row(groups.labels))
        fits, _ = whose.ends(inside(table, covering, self.rows, whose.of_row(at)))
        return fits


def apart(
    coded: Coded, groups: Groups, lower: NDArray[np.int64], upper: NDArray[np.int64], j: int
) -> NDArray[np.bool_]:
    """Return which pairs of halves, cut in column j, have descriptions that do not overlap.

    Halves of a column with a hierarchy may be described by nodes one of which holds the other.
    """
    tree = coded.quasi[j].tree
    if tree is None:
        return np.ones(len(lower), bool)
    nodes = Cover.of(coded.quasi[j], groups).nodes
    one, other = nodes[lower], nodes[upper]
    disjoint: NDArray[np.bool_] = (tree.last[one] < tree.first[other]) | (
        tree.last[other] < tree.first[one]
    )
    return disjoint


def between_children(column: Column, groups: Groups, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the last rank of the left half when each group's node is cut between two children.

    Of the places between children, the one that leaves the halves most equal; the only rank where
    a group has one. `ranks` ascend within each group, group by group.
    """
    assert column.tree is not None
    found = ranks[groups.starts[:-1]].copy()
    owner = np.repeat(np.arange(len(groups)), groups.sizes)
    here = np.flatnonzero((owner[1:] == owner[:-1]) & (ranks[1:] != ranks[:-1]))
    met = column.nodes(ranks[here].astype(np.int32), ranks[here + 1].astype(np.int32))
    whole = Cover.of(column, groups).nodes[owner[here]]
    here = here[column.tree.ncp[met] == column.tree.ncp[whole]]
    left = here + 1 - groups.starts[owner[here]]
    uneven = np.abs(groups.sizes[owner[here]] - 2 * left)
    order = np.lexsort((here, uneven, owner[here]))
    owners, first = np.unique(owner[here[order]], return_index=True)
    found[owners] = ranks[here[order[first]]]
    return found


def exact_matches(coded: Coded, groups: Groups, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the persons whose quasi values are those of each group of rows with equal ones."""
    own, theirs = exact_marks(coded, places)
    counts = np.bincount(theirs, minlength=int(own.max()) + 1)
    found: NDArray[np.int64] = counts[own[groups.order[groups.starts[:-1]]]]
    return found


def exact_marks(
    coded: Coded, places: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a mark for each row of a table and of a population: equal where all values are."""
    rows = len(coded)

    def both(column: Column, theirs: NDArray[np.int64]) -> tuple[NDArray, int]:
        codes = column.codes.astype(np.int64)
        own = 2 * codes + 1 if column.places is None else column.places[codes]
        marks = np.concatenate([own, theirs]) + 1
        return marks, int(marks.max()) + 1

    marks = Groups.alike(rows + len(places), map(both, coded.quasi, places.T)).labels
    return marks[:rows], marks[rows:]
