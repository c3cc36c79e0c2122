"""What is known beforehand about any requirement on a table: whether it can hold, and how far.

A principle that survives the union of groups can hold exactly where the whole table, taken as one
group, keeps it: joining all groups of a release that holds gives that group. So the strongest level
that is achievable is the level of the whole table, the other parameters being as asked for.
m-uniqueness can hold exactly where no value is carried by more than n / m rows, which are then
dealt out one by one in the order of their values.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import UsageError
from shoal.exact import WHOLE
from shoal.principles.frequency import AlphaK, MUniqueness
from shoal.principles.groups import Groups
from shoal.principles.spread import KE
from shoal.wording import option

if TYPE_CHECKING:
    from shoal.principles.base import Principle
    from shoal.table.coded import Sensitive


@dataclass(frozen=True)
class Limit:
    """How far one parameter can go while the others stay as asked for.

    `must` is "at most", "at least" or "under"; `limit` is None where no value is achievable, or,
    for a width, where there is no bound.
    """

    parameter: str
    must: str
    limit: float | None


@dataclass(frozen=True)
class Outlook:
    """Whether a requirement is achievable on a table, and the limits of its parameters."""

    rows: int
    sensitive: tuple[str, ...]
    principle: str
    achievable: bool | None
    limits: tuple[Limit, ...]
    people: int | None = None  # with several rows: what is said is then necessary only

    @property
    def necessary_only(self) -> bool:
        """Whether what is within the limits may still not be achievable."""
        return self.people is not None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, as the command prints it in JSON."""
        found = asdict(self)
        if self.people is None:
            del found["people"]
            return found
        return found | {"necessary_only": True}


def outlook(principle: Principle, sensitive: Sensitive | None, rows: int) -> Outlook:
    """Work out what is achievable of a principle that the whole table decides."""
    whole = Groups(np.zeros(rows, np.int64))
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
        return [Limit("k", "at most", len(np.unique(sensitive.codes)))]
    return [Limit("k", "at most", rows)] if isinstance(principle, AlphaK) else []
