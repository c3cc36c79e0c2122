"""What is necessary where people have several rows: too many of them may not have near values.

Whoever has a value in a run of values that are all near to one another is near to every other who
has one there. So of c such people, a group of size s may hold at most s / m, and c has to be at
most floor(people / m) in all. With one row a person that is EM's Theorem 1 and enough; with several
it is not: who is near to whom goes by all of their values at once. It speaks of people with all of
their rows: with fewer published, more may be achievable.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from shoal.principles.base import OneDimensional
from shoal.principles.must_go import most_together
from shoal.principles.outlook import Limit, Outlook, outlook
from shoal.principles.planning import Plan, gap_between, points_of, rounded_gap
from shoal.principles.proximity import EpsilonM

if TYPE_CHECKING:
    from shoal.principles.base import Principle
    from shoal.table.coded import Sensitive


def plan_people(
    value: Sensitive, *, rows: int, epsilon: float | None, m: int | None, relative: bool
) -> Plan:
    """Answer what is asked about the values of people, as far as it is necessary.

    `achievable` is False where it is known not to be, and None where a search has to tell.
    """
    people = len(value.members)
    most = None
    if epsilon is not None:
        most = people // together(EpsilonM(epsilon=epsilon, m=1, relative=relative), value)
    return Plan(
        rows=rows,
        sensitive=value.name,
        relative=relative,
        epsilon=epsilon,
        m=m,
        achievable=False if most is not None and m is not None and m > most else None,
        largest_m=most,
        epsilon_bound=None if m is None else width_bound(value, m, relative=relative),
        frontier=tuple(points_of(people, partial(width_bound, value, relative=relative)))
        if epsilon is None and m is None
        else None,
        people=people,
    )


def outlook_of_people(
    principle: Principle, value: Sensitive | None, rows: int, people: int
) -> Outlook:
    """Say what is necessary for a principle where people have several rows.

    Raises where it is not defined for several values a person.
    """
    if principle.population:
        return outlook(principle, value, rows)  # raises: a plan does not see it
    crowd = principle.crowd(value) if value is not None else 0
    limits: list[Limit] = []
    if value is None and len(principle.graded) == 1:
        limits.append(Limit(principle.graded[0], "at most", people))
    if isinstance(principle, OneDimensional) and value is not None:
        most = people // together(principle, value)
        limits.append(Limit(principle.share_name, "at most", most))
    impossible = bool(crowd) or principle.least > people
    names = () if value is None else tuple(column.name for column in value.columns)
    return Outlook(
        rows, names, repr(principle), False if impossible else None, tuple(limits), people=people
    )


def together(principle: OneDimensional, value: Sensitive) -> int:
    """Return maxsize in people: the most who have a value in one run of near ones."""
    reach = principle.band(value).reach
    return most_together(np.arange(len(reach)), reach, value.sets, value.gap)


def width_bound(value: Sensitive, m: int, *, relative: bool) -> float | None:
    """Return what the width must stay strictly under for m, None for no bound."""
    from shoal.kernels.windows import narrowest_crowd

    people = len(value.members)
    share = people // m
    if share == 0:
        return 0
    sets = value.sets
    (column,) = value.columns
    assert column.values is not None
    lacking = np.zeros(people, np.bool_)  # whoever lacks a value is in every crowd
    lacking[sets.owners[sets.codes == value.gap]] = True
    share -= int(lacking.sum())
    if share <= 0:
        return 0
    order = np.argsort(sets.codes, kind="stable")
    order = order[~lacking[sets.owners[order]]]
    values = column.values[value.places[sets.codes[order], 0]]
    members = sets.owners[order].astype(np.int32)
    inside = np.zeros(people, np.int64)
    low, high = narrowest_crowd(values, members, share + 1, inside, int(relative))
    if low < 0:
        return None
    return rounded_gap(gap_between(column, values[low], values[high], relative=relative))
