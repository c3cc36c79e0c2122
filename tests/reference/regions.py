"""What regions are, by their definition: boxes of finitely many places that cuts leave.

A column is a set of places: numbers of a grid, labels in their order, or leaves of a tree. A cell
is a set of places, a region one for each column. Cuts part a box in one column; of numbers and
labels in two, at any place, of a tree between the children of a node, all of them at once. Regions
are what cuts leave if some sequence of them parts the whole into exactly these, where children
without a region are left out.
"""

from collections.abc import Mapping, Sequence
from functools import cache

Cell = frozenset[object]
Box = tuple[Cell, ...]


def are_cut(
    whole: Box, regions: set[Box], trees: Mapping[int, Mapping[Cell, Sequence[Cell]]]
) -> bool:
    """Return whether cuts of a whole can leave these regions.

    `trees` has for columns that are trees the children of each node, a node being its leaves; the
    places of all other columns can be ordered.
    """

    @cache
    def cut(box: Box, inside: frozenset[Box]) -> bool:
        if inside == {box}:
            return True
        for column in range(len(box)):
            ways = tree_cuts(box, column) if column in trees else line_cuts(box, column)
            for parts in ways:
                held = [frozenset(one for one in inside if one[column] <= part) for part in parts]
                enough = sum(map(bool, held)) > 1 and (column in trees or all(held))
                divided = sum(map(len, held)) < len(inside)  # somebody lies on both sides
                if (
                    enough
                    and not divided
                    and all(
                        cut((*box[:column], part, *box[column + 1 :]), some)
                        for part, some in zip(parts, held, strict=True)
                        if some
                    )
                ):
                    return True
        return False

    def line_cuts(box: Box, column: int) -> list[list[Cell]]:
        places = sorted(box[column])  # type: ignore[type-var]
        return [[frozenset(places[:at]), frozenset(places[at:])] for at in range(1, len(places))]

    def tree_cuts(box: Box, column: int) -> list[list[Cell]]:
        nodes = [node for node in trees[column] if node <= box[column]]
        return [list(trees[column][node]) for node in nodes if trees[column][node]]

    return cut(whole, frozenset(regions))


def disjoint_or_equal(regions: Sequence[Box]) -> bool:
    """Return whether any two regions are equal, or have nothing in common in some column."""
    return all(
        one == other or any(not (a & b) for a, b in zip(one, other, strict=True))
        for one in regions
        for other in regions
    )
