"""Distance by the lowest common ancestor in a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.distances.base import Distance
from shoal.errors import BadParameter, InputError
from shoal.table.hierarchy import check_levels, read_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.table.coded import Sensitive


@dataclass(frozen=True, kw_only=True, repr=False)
class Hierarchical(Distance):
    """The height of the lowest common ancestor over the height of the hierarchy, from 0 to 1.

    Parameters
    ----------
    levels : a path for each label, from the label itself up to the root.
    file : a file in the form of ARX instead. Its contents become `levels`, so that what is
        published can be checked without it.
    """

    levels: tuple[tuple[str, ...], ...] = ()
    file: str | None = None

    metric = True
    opens = ("file",)

    def __post_init__(self) -> None:
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

    def between(
        self, sensitive: Sensitive, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the height at which each pair meets, as a share of the whole height."""
        levels = self.nodes(sensitive)
        meet = np.zeros(len(left))
        for nodes in levels:
            meet += nodes[left] != nodes[right]
        return meet / max(len(levels) - 1, 1)

    def nodes(self, sensitive: Sensitive) -> list[NDArray[np.int64]]:
        """Return for each level, from the labels to the root, the node of every distinct value."""
        self.check(sensitive)
        known = {path[0]: path for path in self.levels}
        labels = [label for (label,) in sensitive.labels()]
        lacking = [label for label in labels if label not in known]
        if lacking:
            msg = f"The hierarchy lacks the label {lacking[0]!r} of {sensitive.name}."
            raise InputError(msg)
        found = []
        for level in range(len(self.levels[0])):
            names: dict[str, int] = {}
            nodes = [names.setdefault(known[label][level], len(names)) for label in labels]
            found.append(np.array(nodes, np.int64))
        return found
