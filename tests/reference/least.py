"""The least loss of all groupings of a few rows, by looking at every one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

T = TypeVar("T")


def partitions(items: Sequence[T]) -> Iterator[list[list[T]]]:
    """Yield every way to part items into groups."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [first, *part], *parts[place + 1 :]]


def least(
    rows: int, holds: Callable[[list[int]], bool], ncp: Callable[[list[int]], float]
) -> float | None:
    """Return the least sum over rows of the NCP of their group, None where no grouping holds."""
    best = None
    for parts in partitions(list(range(rows))):
        loss = sum(len(part) * ncp(part) for part in parts)
        if (best is None or loss < best) and all(map(holds, parts)):
            best = loss
    return best
