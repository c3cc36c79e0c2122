"""The principles that are measured where nobody asks for any, each at its weakest.

Whoever searches or audits names no principle: what is asked for arrives as objects, and what an
audit reports without being asked stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.frequency import AlphaK, FrequencyL, MUniqueness
from shoal.principles.k_anonymity import DeltaPresence, KAnonymity, KMap
from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
from shoal.principles.requirement import Requirement
from shoal.principles.spread import KE, Variance
from shoal.principles.t_closeness import TCloseness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.distances.base import Distance
    from shoal.principles.base import Principle
    from shoal.principles.groups import Groups
    from shoal.table.coded import Sensitive

RECURSIVE = (2, 3)  # the l at which the least c of recursive (c,l)-diversity is measured
OF_GROUPS = (DistinctL(l=1), EntropyL(l=1), FrequencyL(l=1))  # what lists of groups show of each
OF_DESCRIPTIONS = (KMap(k=1), DeltaPresence(high=1))  # against a population


def of_columns(groups: Groups, value: Sensitive) -> Iterator[Principle]:
    """Yield what is measured of a sensitive column; parameters that are not fixed hold somehow."""
    numeric = value.columns[0].numeric
    yield DistinctL(l=1)
    yield EntropyL(l=1)
    yield FrequencyL(l=1)
    yield AlphaK(alpha=1, k=1)
    yield from (RecursiveCL(c=1, l=l) for l in RECURSIVE)
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


def of_size(size: int) -> Requirement:
    """Return that every group has so many members."""
    return Requirement(KAnonymity(k=size))
