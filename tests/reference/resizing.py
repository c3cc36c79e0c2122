"""Groups that dissolve and are founded, from the definition: plain lists, every sum anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Rules(NamedTuple):
    """What groups have to keep, and what they lose."""

    loss: Callable[[list[int]], float]  # of a group of rows, 0 for none
    holds: Callable[[list[int], int], bool]  # whether rows keep the bounds of groups of a size
    least: int  # size of a group
    room: int


def dissolved(
    rules: Rules, groups: list[list[int]], near: Sequence[Sequence[int]], loan: float
) -> int:
    """Dissolve group after group where the others then lose less than it did, and `loan`, more.

    Members go one after the other, the last first, each to the group of a row near it to which it
    adds least, the first of equals. Everybody has to find a place when asked as if nobody else had
    gone, and again when they go. Returns how many groups are gone.
    """
    done = 0
    for g in range(len(groups)):
        own = groups[g]
        places = [cheapest(rules, groups, g, row, near[row]) for row in reversed(own)]
        if not own or not affordable(places, rules.loss(own) + loan):
            continue
        trial, went = [list(group) for group in groups], []
        for row in reversed(own):
            trial[g] = [other for other in trial[g] if other != row]
            went.append(cheapest(rules, trial, g, row, near[row]))
            if not affordable(went, rules.loss(own) + loan):
                break
            trial[went[-1][1]].append(row)
        if affordable(went, rules.loss(own) + loan):
            groups[:] = trial
            done += 1
    return done


def affordable(places: list[tuple[float, int]], left: float) -> bool:
    """Say whether everybody found a place, for less than what was left at that."""
    for added, to in places:
        if to < 0 or added >= left:
            return False
        left -= added
    return True


def cheapest(
    rules: Rules, groups: list[list[int]], g: int, row: int, near: Sequence[int]
) -> tuple[float, int]:
    """Return what a row adds to the group that it adds least to, and the group."""
    best = (float("inf"), -1)
    for other in near:
        h = next((place for place, group in enumerate(groups) if other in group), g)
        joined = [*groups[h], row]
        if h == g or len(joined) >= rules.room or not rules.holds(joined, len(joined)):
            continue
        added = rules.loss(joined) - rules.loss(groups[h])
        if added < best[0]:
            best = (added, h)
    return best


def founded(
    rules: Rules, groups: list[list[int]], near: Sequence[Sequence[int]], order: Sequence[int]
) -> int:
    """Found groups around rows, of rows that their groups hold without, where that loses less.

    Returns how many there are.
    """
    done = 0
    for first in order:
        if all(groups):
            break
        chosen = gathered(rules, groups, first, near[first])
        if chosen is None:
            continue
        after = [[row for row in group if row not in chosen] for group in groups]
        before = [group for group, left in zip(groups, after, strict=True) if group != left]
        left = [rest for group, rest in zip(groups, after, strict=True) if group != rest]
        # Looked at one by one, and together.
        alone = sum(
            rules.loss(group) - rules.loss([other for other in group if other != row])
            for row in chosen
            for group in groups
            if row in group
        )
        gain = sum(map(rules.loss, before)) - sum(map(rules.loss, left))
        lost = rules.loss(chosen)
        if alone > lost and gain > lost and all(rules.holds(rest, len(rest)) for rest in left):
            after[after.index([])] = chosen
            groups[:] = after
            done += 1
    return done


def gathered(
    rules: Rules, groups: list[list[int]], first: int, near: Sequence[int]
) -> list[int] | None:
    """Return a row and rows near it, as many as a group needs, that can be one and may leave."""
    chosen: list[int] = []
    for row in (first, *near):
        home = next(group for group in groups if row in group)
        left = [other for other in home if other != row]
        remaining = len([other for other in home if other not in chosen]) - 1
        may = remaining >= rules.least and (
            len(home) >= 2 * rules.least or rules.holds(left, len(left))
        )
        if may and rules.holds([*chosen, row], rules.least):
            chosen.append(row)
        if not chosen:
            return None
        if len(chosen) == rules.least:
            return chosen
    return None
