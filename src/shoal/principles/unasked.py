"""What is measured without being asked for, and what else others need a principle for.

Whoever searches or audits names no principle: what is asked for arrives as objects, and what an
audit reports without being asked stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.frequency import AlphaK, FrequencyL, MUniqueness
from shoal.principles.k_anonymity import DeltaPresence, KAnonymity, KMap
from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
from shoal.principles.proximity import EpsilonM
from shoal.principles.requirement import Requirement
from shoal.principles.spread import KE, Variance
from shoal.principles.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.distances.base import Distance
    from shoal.principles.base import Principle
    from shoal.principles.groups import Groups, GuessBound
    from shoal.table.sensitive import Sensitive


RECURSIVE = (2, 3)  # the l at which the least c of recursive (c,l)-diversity is measured
OF_GROUPS = (DistinctL(l=1), EntropyL(l=1), FrequencyL(l=1))  # what lists of groups show of each
OF_DESCRIPTIONS = (KMap(k=1), DeltaPresence(high=1))  # against a population


def of_columns(groups: Groups, value: Sensitive) -> Iterator[Principle]:
    """Yield what is measured of a sensitive column; parameters that are not fixed hold somehow."""
    numeric, known = value.columns[0].numeric, value.gap is None
    yield DistinctL(l=1)
    yield EntropyL(l=1)
    yield FrequencyL(l=1)
    yield AlphaK(alpha=1, k=1)
    yield from (RecursiveCL(c=1, l=l) for l in RECURSIVE)
    if known:  # what cannot be judged where values are missing is not measured
        yield TCloseness(t=1, ground="equal")
        if numeric:
            yield TCloseness(t=1, ground="ordered")
        yield BetaLikeness(beta=1, enhanced=False)
        yield BetaLikeness(beta=1, enhanced=True)
        yield DeltaDisclosure(delta=1)
        yield MUniqueness(m=1)
    if numeric:
        yield KE(k=int(DistinctL(l=1).strongest(groups, value).l), e=0)
        yield Variance(at_least=0)


def near_by(distance: Distance, epsilon: float) -> Dissimilarity:
    """Return what measures how many members of a group are within ε of one of them."""
    return Dissimilarity(epsilon=epsilon, delta=0, k=1, distance=distance)


def near_listed(bound: GuessBound) -> Principle:
    """Return what counts the members of a group near to the best value that it lists."""
    if not bound.width:
        return FrequencyL(l=1)
    return EpsilonM(epsilon=bound.width, m=1, relative=bound.relative)


def near_any(bound: GuessBound) -> Principle | None:
    """Return what counts the members of a group near to the best number; None for shares of it."""
    if not bound.width:
        return FrequencyL(l=1)
    return None if bound.relative else Window(width=2 * bound.width, m=1)


def of_size(size: int) -> Requirement:
    """Return that every group has so many members."""
    return Requirement(KAnonymity(k=size))
