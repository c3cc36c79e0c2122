"""Whether any partition of a few rows keeps what is required, by looking at them all.

``holds`` judges one group by itself, given as the tuple of its rows.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations

Group = tuple[int, ...]


def exists(rows: int, holds: Callable[[Group], bool]) -> bool:
    """Say whether rows 0 … rows - 1 can be parted into groups that all hold.

    The group of the first row that is left is any subset of what is left; whether the others can be
    parted depends on nothing else.
    """
    judge = cache(holds)

    @cache
    def can_be_parted(left: Group) -> bool:
        if not left:
            return True
        first, others = left[0], left[1:]
        return any(
            judge((first, *chosen))
            and can_be_parted(tuple(row for row in others if row not in chosen))
            for size in range(len(others) + 1)
            for chosen in combinations(others, size)
        )

    return can_be_parted(tuple(range(rows)))


def least_loss(
    rows: int, holds: Callable[[Group], bool], loss: Callable[[Group], float]
) -> float | None:
    """Return the least sum of losses over all partitions into groups that hold, if there is any."""
    judge, price = cache(holds), cache(loss)

    @cache
    def best(left: Group) -> float | None:
        if not left:
            return 0.0
        first, others = left[0], left[1:]
        found: list[float] = []
        for size in range(len(others) + 1):
            for chosen in combinations(others, size):
                if not judge((first, *chosen)):
                    continue
                rest = best(tuple(row for row in others if row not in chosen))
                if rest is not None:
                    found.append(price((first, *chosen)) + rest)
        return min(found, default=None)

    return best(tuple(range(rows)))


def descriptions(parts: Sequence[Group], cells: Sequence[Sequence[object]]) -> list[set]:
    """Return the groups with equal descriptions together; ``cells[row]`` are numbers or labels."""
    alike: dict[tuple, set] = {}
    for part in parts:
        columns = list(zip(*(cells[row] for row in part), strict=True))
        shown = tuple(
            frozenset(column) if isinstance(column[0], str) else (min(column), max(column))
            for column in columns
        )
        alike.setdefault(shown, set()).update(part)
    return list(alike.values())
