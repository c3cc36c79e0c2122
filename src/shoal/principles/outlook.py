"""What is known beforehand about any requirement on a table: whether it can hold, and how far.

A principle that survives the union of groups can hold exactly where the whole table, taken as one
group, keeps it: joining all groups of a release that holds gives that group. So the strongest level
that is achievable is the level of the whole table, the other parameters being as asked for.
m-uniqueness can hold exactly where no value is carried by more than n / m rows, which are then
dealt out one by one in the order of their values.

Whoever searches or audits names no principle: what is asked for arrives as objects, and what an
audit reports without being asked stands here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError, option
from shoal.exact import WHOLE
from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure, TCloseness
from shoal.principles.dissimilarity import Dissimilarity
from shoal.principles.frequency import AlphaK, FrequencyL, MUniqueness
from shoal.principles.groups import Groups
from shoal.principles.histogram import as_worst
from shoal.principles.k_anonymity import DeltaPresence, KAnonymity, KMap
from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
from shoal.principles.proximity import EpsilonM, Window
from shoal.principles.requirement import Requirement
from shoal.principles.spread import KE, Variance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shoal.distances.base import Distance
    from shoal.principles.base import GuessBound, Principle
    from shoal.table.coded import Sensitive


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


@dataclass(frozen=True)
class Limit:
    """How far one parameter can go while the others stay as asked for.

    `must` is "at most", "at least" or "under"; `limit` is None where no value is achievable, or,
    for a width, where there is no bound.
    """

    parameter: str
    must: str
    limit: float | None


HELPS = ("reason", "remedies", "suppress")  # what is said where something is not achievable


@dataclass(frozen=True)
class Foreseen:
    """What is said before a search; of people with several rows it is necessary only.

    So it is where values are missing, for what the whole table does not decide.
    """

    people: int | None = field(default=None, kw_only=True)  # where they have several rows
    missing: int | None = field(default=None, kw_only=True)  # values, where no theorem says enough
    reason: str | None = field(default=None, kw_only=True)  # which rows are in the way, if any
    remedies: tuple[str, ...] = field(default=(), kw_only=True)  # requirements that are achievable
    suppress: str | None = field(default=None, kw_only=True)  # a share of rows to leave out
    odds: dict[str, Any] | None = field(default=None, kw_only=True)  # where they were asked for

    @property
    def necessary_only(self) -> bool:
        """Whether what is within the limits may still not be achievable."""
        return self.people is not None or self.missing is not None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as the command prints it in JSON.

        What is in the way and what would help is there only where something is.
        """
        found = asdict(self)
        more = {name: found.pop(name) for name in ("people", "missing", "odds", *HELPS)}
        more = {name: value for name, value in more.items() if value}
        return found | more | ({"necessary_only": True} if self.necessary_only else {})


@dataclass(frozen=True)
class Outlook(Foreseen):
    """Whether a requirement is achievable on a table, and the limits of its parameters."""

    rows: int
    sensitive: tuple[str, ...]
    principle: str
    achievable: bool | None
    limits: tuple[Limit, ...]


def outlook(principle: Principle, sensitive: Sensitive | None, rows: int) -> Outlook:
    """Work out what is achievable of a principle that the whole table decides."""
    whole = Groups(np.zeros(rows, np.int64))
    principle.check_missing(sensitive)
    if isinstance(principle, MUniqueness):
        assert sensitive is not None
        most = rows // int(np.bincount(sensitive.codes).max())
        limits, achievable = [Limit("m", "at most", most)], principle.m <= most
    elif principle.monotone and not principle.population:
        achievable = principle.measure(whole, sensitive).holds
        limits = [*_size_limits(principle, sensitive, rows), _limit(principle, whole, sensitive)]
    else:
        msg = (
            f"Whether {principle!r} is achievable depends on descriptions and a population, which "
            f"a plan does not see: `shoal anonymize {option('dry_run')}` with "
            f"{option('population')} checks it."
        )
        raise UsageError(msg)
    names = () if sensitive is None else tuple(column.name for column in sensitive.columns)
    return Outlook(rows, names, repr(principle), achievable, tuple(limits))


def _limit(principle: Principle, whole: Groups, sensitive: Sensitive | None) -> Limit:
    """Return the strongest level of the whole table."""
    (parameter,) = principle.graded
    found = principle.strongest(whole, sensitive)
    level = None if found is None else getattr(found, parameter)
    if isinstance(level, float) and level.is_integer() and abs(level) < WHOLE:
        level = int(level)
    return Limit(parameter, "at most" if principle.rising else "at least", level)


def _size_limits(principle: Principle, sensitive: Sensitive | None, rows: int) -> list[Limit]:
    """Return what a least number of rows, or of different values, can be beside the level."""
    if isinstance(principle, KE) and sensitive is not None:
        whole = Groups(np.zeros(rows, np.int64))
        return [Limit("k", "at most", len(np.unique(as_worst(whole, sensitive))))]
    return [Limit("k", "at most", rows)] if isinstance(principle, AlphaK) else []
