"""How much is tried: a part of it in `make test`, all of it in `make test-long`.

`make test-long` sets `SHOAL_LONG`. Property tests, and those with the mark `more`, which draw for
themselves, then try all their examples, and not a fifth; of cases that are parameters, those
that `make test` leaves out have the mark `long`, whatever is set, so that every process finds the
same tests.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

LONG = bool(os.environ.get("SHOAL_LONG"))
PART = 5  # of how many examples, or seeds, one is tried in `make test`
SLOW = ("spark", "browser", "postgresql", "r", "mice")  # marks of tests that start a program
DRAWN = "seed"  # the parameter that is another draw of the same, and not another case


def examples(count: int) -> int:
    """Return how many examples a test draws."""
    return count if LONG else -(-count // PART)


def some(cases: Sequence[dict[str, int]], few: int | None = None) -> list[int]:
    """Return the places of the cases to try: every value of every parameter, a fifth of the seeds.

    Each case says of its parameters which of their values it has. Where there are still more than
    `few`, so many of them, evenly spread.

    Examples
    --------
    >>> some([{"form": form, "size": size} for form in range(3) for size in range(2)])
    [0, 3, 4]
    >>> some([{"seed": seed} for seed in range(15)])
    [0, 1, 2]
    >>> some([{"form": form} for form in range(9)], few=2)
    [0, 4]
    """
    seeds = -(-(1 + max((case.get(DRAWN, 0) for case in cases), default=0)) // PART)
    values: dict[int, set[Hashable]] = {
        place: set(case.items()) for place, case in enumerate(cases) if case.get(DRAWN, 0) < seeds
    }
    left = set().union(*values.values())
    kept = []
    while left:
        best = max(values, key=lambda place: len(values[place] & left))
        left -= values[best]
        kept.append(best)
    kept.sort()
    if few is not None and len(kept) > few:
        kept = [kept[turn * len(kept) // few] for turn in range(few)]
    return kept


def places(cases: Sequence[pytest.Item]) -> list[dict[str, int]]:
    """Return which of its values each case of a test has, of each thing that is varied by itself.

    What one `parametrize` names together is varied together: a list of cases loses none.
    """
    marks = cases[0].iter_markers("parametrize")
    named = [mark.args[0] if mark.args else mark.kwargs["argnames"] for mark in marks]
    axes = [
        tuple(name.strip() for name in one.split(",")) if isinstance(one, str) else tuple(one)
        for one in named
    ]
    params = [case.callspec.params for case in cases]  # type: ignore[attr-defined]
    known = {name for axis in axes for name in axis}
    axes += [(name,) for name in params[0] if name not in known]  # of fixtures
    found: list[dict[str, int]] = [{} for _ in cases]
    for axis in axes:
        seen: dict[tuple[int, ...], int] = {}
        for place, values in enumerate(params):
            which = tuple(id(values[name]) for name in axis if name in values)
            found[place][",".join(axis)] = seen.setdefault(which, len(seen))
    return found


def mark_the_rest(items: list[pytest.Item]) -> None:
    """Give the mark `long` to what `make test` leaves out."""
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec"):
            tests.setdefault(item.nodeid.partition("[")[0], []).append(item)
        slow = any(map(item.get_closest_marker, SLOW))
        if slow and not item.get_closest_marker("smoke"):
            item.add_marker(pytest.mark.long)
    for cases in tests.values():
        few = cases[0].get_closest_marker("few")
        kept = some(places(cases), *(few.args if few else ()))
        for place, case in enumerate(cases):
            if place not in kept:
                case.add_marker(pytest.mark.long)
