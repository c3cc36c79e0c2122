"""Hierarchies of labels: as files have them, and as trees in which every node is a range.

Three forms say the same: ARX's CSV (no header, ';' between levels, the label first), nested JSON,
and nested TOML, where a node is the name of what lies under it and the labels are lists.

In a tree, labels stand in tree order.
"""

from __future__ import annotations

import csv
import gzip
import io
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.notation import read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


Levels = tuple[tuple[str, ...], ...]
ROOT = "*"
DEPTH = 32  # levels that a hierarchy may have


def read_levels(path: str | Path) -> Levels:
    """Read a hierarchy, in the form that the name of the file says: .json, .toml, any other ARX."""
    name = Path(path).name
    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        msg = f"Cannot read the hierarchy {name!r}: {reason}."
        raise InputError(msg) from None
    form = Path(name.removesuffix(".gz")).suffix.lower()
    if form in {".json", ".toml"}:
        try:
            said = read_json(text) if form == ".json" else tomllib.loads(text)
        except (InputError, ValueError) as problem:
            msg = f"The hierarchy {name!r} is not {form[1:].upper()}: {problem}."
            raise InputError(msg) from None
        except RecursionError:
            msg = f"The hierarchy {name!r} nests too deeply to be read."
            raise InputError(msg) from None
        return nested_levels(said, name)
    rows = csv.reader(io.StringIO(text), delimiter=";")
    return check_levels(tuple(tuple(row) for row in rows if row), name)


def nested_levels(nested: Any, name: str = "given") -> Levels:
    """Turn `{"Europe": ["Italy", "Malta"], "Asia": {"East": ["Japan"]}}` into levels.

    Where several nodes stand at the top, the root above them is `*`.

    Examples
    --------
    >>> nested_levels({"Europe": ["Italy"], "Asia": {"East": ["Japan"]}})
    (('Italy', 'Italy', 'Europe', '*'), ('Japan', 'East', 'Asia', '*'))
    """
    if not isinstance(nested, dict) or len(nested) != 1:
        nested = {ROOT: nested}
    paths: list[tuple[str, ...]] = []
    _walk(nested, (), paths, name)
    depth = max(map(len, paths), default=0)
    padded = tuple((path[0],) * (depth - len(path)) + path for path in paths)
    return check_levels(padded, name)


def _walk(nested: Any, above: tuple[str, ...], paths: list[tuple[str, ...]], name: str) -> None:
    """Collect the paths from every label to the root."""
    if len(above) > DEPTH:
        msg = f"The hierarchy {name!r} has more than {DEPTH} levels."
        raise InputError(msg)
    if isinstance(nested, dict):
        for node, below in nested.items():
            _walk(below, (str(node), *above), paths, name)
    elif isinstance(nested, list | tuple):
        for label in nested:
            if isinstance(label, dict):
                _walk(label, above, paths, name)
            elif isinstance(label, str | int | float) and not isinstance(label, bool):
                paths.append((str(label), *above))
            else:
                msg = f"In the hierarchy {name!r}, {label!r} is not a label."
                raise InputError(msg)
    else:
        msg = f"In the hierarchy {name!r}, a node has {nested!r} where nodes or a list should be."
        raise InputError(msg)


def check_levels(levels: Levels, name: str) -> Levels:
    """Raise where paths differ in length, a label stands twice, or a node has two parents."""
    if not levels:
        msg = f"The hierarchy {name!r} is empty."
        raise InputError(msg)
    depth = len(levels[0])
    if depth > DEPTH:
        msg = f"The hierarchy {name!r} has more than {DEPTH} levels."
        raise InputError(msg)
    seen: set[str] = set()
    parents: dict[tuple[int, str], str] = {}
    for path in levels:
        if len(path) != depth:
            msg = f"In the hierarchy {name!r}, {path[0]!r} has {len(path)} levels, others {depth}."
            raise InputError(msg)
        if path[0] in seen:
            msg = f"In the hierarchy {name!r}, the label {path[0]!r} is listed twice."
            raise InputError(msg)
        seen.add(path[0])
        for level in range(depth - 1):
            known = parents.setdefault((level, path[level]), path[level + 1])
            if known != path[level + 1]:
                msg = (
                    f"In the hierarchy {name!r}, {path[level]!r} has two parents: "
                    f"{known!r} and {path[level + 1]!r}."
                )
                raise InputError(msg)
    if len({path[-1] for path in levels}) > 1:
        msg = f"The hierarchy {name!r} has more than one root."
        raise InputError(msg)
    return levels


@dataclass(frozen=True, eq=False)
class Tree:
    """Labels in tree order and the nodes above them.

    Node i stands for the labels `first[i] … last[i]`; `up[level, place]` is the node above the
    label at `place`, level 0 being the label itself and the last level the root. `leaves[i]` counts
    the labels under it: those of the table, or of a population where one was given.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    up: NDArray[np.int32]
    leaves: NDArray[np.int64]

    @classmethod
    def of(cls, levels: Levels, column: str) -> Tree:
        """Build the tree of a column from levels that `check_levels` has passed.

        A published name has to say what it covers, so a name may not stand for different labels
        on different levels.
        """
        depth = len(levels[0])
        met: list[dict[str, int]] = [{} for _ in range(depth)]
        keys = np.array(
            [[met[level].setdefault(path[level], len(met[level])) for level in range(depth)]
             for path in levels],
            np.int64,
        )  # fmt: skip
        order = np.lexsort(keys.T)  # by the root, then by what is below it, as first met
        up = np.empty((depth, len(levels)), np.int32)
        names: list[str] = []
        bounds: list[tuple[int, int]] = []
        known: dict[str, int] = {}
        for level in range(depth):
            column_keys = keys[order, level]
            starts = np.flatnonzero(np.r_[True, np.diff(column_keys) != 0])
            ends = np.r_[starts[1:], len(levels)] - 1
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                name = levels[order[start]][level]
                node = known.setdefault(name, len(names))
                if node == len(names):
                    names.append(name)
                    bounds.append((start, end))
                elif bounds[node] != (start, end):
                    msg = (
                        f"In the hierarchy of column {column!r}, the name {name!r} means "
                        "different labels on different levels. Rename one of the nodes."
                    )
                    raise InputError(msg)
                up[level, start : end + 1] = node
        first, last = np.array(bounds, np.int64).reshape(-1, 2).T
        return cls(
            tuple(levels[place][0] for place in order), tuple(names), first, last, up,
            last - first + 1,
        )  # fmt: skip

    def parents(self) -> NDArray[np.int64]:
        """Return the node above each node, -1 above the root."""
        found = np.full(len(self.names), -1, np.int64)
        for below, above in zip(self.up[:-1], self.up[1:], strict=True):
            higher = below != above
            found[below[higher]] = above[higher]
        found[self.up[-1]] = -1
        return found

    def places(self, labels: Sequence[str], column: str) -> NDArray[np.int64]:
        """Return where labels stand in tree order, raising where one is missing."""
        place = {label: position for position, label in enumerate(self.labels)}
        for label in labels:
            if label not in place:
                msg = f"The hierarchy of column {column!r} lacks the label {label!r}."
                raise InputError(msg)
        return np.array([place[label] for label in labels], np.int64)

    def nodes(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the lowest common ancestor of the labels at each pair of places."""
        found = self.up[-1, low]
        for level in range(len(self.up) - 2, -1, -1):
            above = self.up[level, low]
            found = np.where(above == self.up[level, high], above, found)
        return found

    @property
    def ncp(self) -> NDArray[np.float64]:
        """The NCP of each node: (leaves under it - 1) / (leaves - 1)."""
        return (self.leaves - 1) / max(int(self.leaves[self.up[-1, 0]]) - 1, 1)
