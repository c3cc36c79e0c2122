"""Distance by the lowest common ancestor in a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.base import Distance
from shoal.errors import BadParameter, InputError, UsageError
from shoal.table.groupings import Hierarchy
from shoal.table.hierarchy import Levels, check_levels, read_levels
from shoal.table.placing import levels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.table.sensitive import Sensitive


@dataclass(frozen=True, repr=False)
class Hierarchical(Distance):
    """The height of the lowest common ancestor over the height of the hierarchy, from 0 to 1.

    Parameters
    ----------
    hierarchy : one that is built from the column itself, for example `Prefix()`. It needs no file.
    levels : a path for each label instead, from the label itself up to the root.
    file : a file in the form of ARX instead. Its contents become `levels`, so that what is
        published can be checked without it.
    """

    hierarchy: Hierarchy | None = field(default=None, kw_only=False)
    levels: Levels = ()
    file: str | None = None

    metric = True
    opens = ("file",)

    def __post_init__(self) -> None:
        given = [name for name in ("hierarchy", "levels", "file") if getattr(self, name)]
        if len(given) != 1:
            got = " and ".join(given) or "none of them"
            msg = f"Hierarchical takes one of hierarchy, levels and file. Got {got}."
            raise UsageError(msg)
        if self.hierarchy is not None:
            if not isinstance(self.hierarchy, Hierarchy):
                allowed = "a hierarchy such as Prefix()"
                raise BadParameter("Hierarchical", "hierarchy", allowed, self.hierarchy)
            return
        if self.file is not None:
            if not isinstance(self.file, str):
                raise BadParameter("Hierarchical", "file", "the path of a file", self.file)
            object.__setattr__(self, "levels", read_levels(self.file))
            object.__setattr__(self, "file", None)
        if not isinstance(self.levels, tuple | list) or not all(
            isinstance(path, tuple | list) and path for path in self.levels
        ):
            raise BadParameter("Hierarchical", "levels", "a list of paths", self.levels)
        levels = tuple(tuple(str(node) for node in path) for path in self.levels)
        object.__setattr__(self, "levels", check_levels(levels, "levels"))

    @property
    def scaled(self) -> bool:  # type: ignore[override]
        """Whether the hierarchy is built from the values of the table."""
        return self.hierarchy is not None

    @property
    def needs_numbers(self) -> bool:  # type: ignore[override]
        """Whether the hierarchy gathers numbers or dates by their size."""
        return self.hierarchy is not None and self.hierarchy.needs_numbers

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the height at which each pair meets, as a share of the whole height."""
        return self.lengths(sensitive)(left, right)

    def lengths(
        self, sensitive: Sensitive
    ) -> Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]:
        """Return `between`, with the nodes of all values looked up once."""
        levels = self.nodes(sensitive)

        def lengths(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
            meet = np.zeros(len(left))
            for nodes in levels:
                meet += nodes[left] != nodes[right]
            return meet / max(len(levels) - 1, 1)

        return lengths

    def nodes(self, sensitive: Sensitive) -> list[NDArray[np.int64]]:
        """Return for each level, from the labels to the root, the node of every distinct value."""
        self.check(sensitive)
        levels = self.levels
        labels = [label for (label,) in sensitive.texts()]
        if self.hierarchy is not None:  # by all rows that were offered, and as they spell numbers
            column, whole = sensitive.column, sensitive.column.whole
            levels = levels_of(whole, self.hierarchy)
            if column.numeric:
                ranks = np.searchsorted(whole.exact, column.exact)
                labels = whole.spellings.gather(ranks).to_list()
        known = {path[0]: path for path in levels}
        lacking = [label for label in labels if label not in known]
        if lacking:
            msg = f"The hierarchy lacks the label {lacking[0]!r} of {sensitive.name}."
            raise InputError(msg)
        found = []
        for level in range(len(levels[0])):
            names: dict[str, int] = {}
            nodes = [names.setdefault(known[label][level], len(names)) for label in labels]
            found.append(np.array(nodes, np.int64))
        return found
