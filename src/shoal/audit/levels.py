"""The level that every principle reaches on published groups, apart from what was asked.

A principle asks for a level; here the level is what is measured: the strictest parameter with
which the principle still holds in every group, as the principle itself says it (`strongest`).
"""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.principles.histogram import Histogram
from shoal.principles.surveyed import OF_GROUPS, of_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.principles.base import Principle
    from shoal.principles.groups import Groups
    from shoal.table.coded import Sensitive


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
    for one in of_columns(groups, value):
        yield Level(one, one.strongest(groups, value))


def levels_of_groups(groups: Groups, value: Sensitive) -> dict[str, NDArray[np.float64]]:
    """Return some levels of each group, for lists of the riskiest ones."""
    found = {type(one).__name__: 1 / one.measure(groups, value).risks for one in OF_GROUPS}
    if value.columns[0].numeric:
        histogram = Histogram.of(groups, value.codes)
        ends = value.numbers[histogram.named[histogram.codes]].astype(np.float64)
        with np.errstate(over="ignore"):  # of values that are further apart than any double
            lengths = ends[histogram.ends - 1] - ends[histogram.starts]
        found["KE"] = np.minimum(lengths, sys.float_info.max)
    return found
