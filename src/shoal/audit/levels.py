"""The level that every principle reaches on published groups, without asking for any.

A principle asks for a level; here the level is what is measured: the strictest parameter with
which the principle still holds in every group, as the principle itself says it (`strongest`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.principles.disclosure import BetaLikeness, DeltaDisclosure
from shoal.principles.frequency import AlphaK, FrequencyL, MUniqueness
from shoal.principles.histogram import Histogram
from shoal.principles.l_diversity import DistinctL, EntropyL, RecursiveCL
from shoal.principles.spread import KE, Variance
from shoal.principles.t_closeness import TCloseness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.principles.base import Principle
    from shoal.principles.groups import Groups
    from shoal.table.coded import Sensitive

RECURSIVE = (2, 3)  # the l at which the least c of recursive (c,l)-diversity is measured


@dataclasses.dataclass(frozen=True)
class Level:
    """The level of one principle on a table.

    `asked` says which principle, and what of it is fixed; `found` is it at the strongest level
    that holds in every group, None where no parameter makes it hold.
    """

    asked: Principle
    found: Principle | None

    def to_dict(self) -> dict[str, Any]:
        """Return the level as plain values; `holds` is the notation in which it can be required."""
        (parameter,) = self.asked.graded
        level = None if self.found is None else getattr(self.found, parameter)
        fixed = {
            field.name: getattr(self.asked, field.name)
            for field in dataclasses.fields(self.asked)  # type: ignore[arg-type]
            if field.name != parameter
        }
        return {
            "principle": type(self.asked).__name__,
            "fixed": fixed,
            "parameter": parameter,
            "level": int(level) if isinstance(level, float) and level.is_integer() else level,
            "stronger": "larger" if self.asked.rising else "smaller",
            "holds": None if self.found is None else repr(self.found),
        }


def measure_levels(groups: Groups, value: Sensitive) -> Iterator[Level]:
    """Yield the level of every principle that applies to a sensitive column."""
    for one in _principles(groups, value):
        yield Level(one, one.strongest(groups, value))


def _principles(groups: Groups, value: Sensitive) -> Iterator[Principle]:
    """Yield what is measured; the parameters that are not fixed are any that hold."""
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


def levels_of_groups(groups: Groups, value: Sensitive) -> dict[str, NDArray[np.float64]]:
    """Return some levels of each group, for lists of the riskiest ones."""
    found = {
        type(one).__name__: 1 / one.measure(groups, value).risks
        for one in (DistinctL(l=1), EntropyL(l=1), FrequencyL(l=1))
    }
    if value.columns[0].numeric:
        histogram = Histogram.of(groups, value.codes)
        ends = value.numbers[histogram.named[histogram.codes]].astype(np.float64)
        with np.errstate(over="ignore"):  # of values that are further apart than any double
            lengths = ends[histogram.ends - 1] - ends[histogram.starts]
        found["KE"] = np.minimum(lengths, sys.float_info.max)
    return found
