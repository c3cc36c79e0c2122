"""Anatomy: exact quasi-identifiers and exact sensitive values, in two tables.

Groups of different values, drawn from buckets of equal ones (Xiao, Tao, VLDB 2006, Figure 3).
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.errors import AuditFailed, NotAchievable, UsageError
from shoal.notation import Term, whole_number
from shoal.principles.frequency import FrequencyL
from shoal.principles.groups import Groups, Measurement
from shoal.release.layout import Randomness
from shoal.release.places import new_directory
from shoal.table.coded import code_table
from shoal.table.coding import code_column
from shoal.table.reading import give_frame, read_table, take_frame
from shoal.table.schema import RESERVED
from shoal.table.sensitive import Sensitive
from shoal.table.settling import settle
from shoal.utility.queries import TwoTables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.table.missing import Missing
    from shoal.table.schema import Schema


@dataclass(frozen=True, repr=False)
class Anatomy(Term):
    """Publish quasi-identifiers in one table and sensitive values in another, linked by group.

    Every group has at least l members and no value twice, so that a person's value is known with
    certainty 1/l at most (`FrequencyL`). Nothing is generalized. A reader sees who is in the
    table, and nothing keeps the values of a group apart: near values are no concern of it.

    Parameters
    ----------
    l : the least number of values a person's may be.

    References
    ----------
    Xiao, Tao: Anatomy: Simple and Effective Privacy Preservation. VLDB 2006.
    """

    l: int

    role = "rival"

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", whole_number(self, "l", self.l, least=1))

    def publish(
        self, frame: Any, schema: Schema, *, missing: Missing = "error", seed: int | None = None
    ) -> Anatomized:
        """Take a table apart; several sensitive columns are taken together.

        Chance comes from the operating system; a seed, for tests only, makes it repeatable.

        >>> import polars, shoal
        >>> people = polars.DataFrame({"age": [23, 27, 35], "ill": ["flu", "gout", "none"]})
        >>> schema = shoal.Schema(quasi="age", sensitive="ill")
        >>> both = Anatomy(l=2).publish(people, schema)
        >>> both.quasi.columns, both.sensitive.columns
        (['group', 'age'], ['group', 'ill'])
        """
        if not schema.sensitive:
            msg = "Anatomy is about a sensitive column: name one in the schema."
            raise UsageError(msg)
        table, schema = settle(take_frame(frame), schema)
        schema.check_quasi()
        coded = code_table(table, schema, missing=missing)
        value = coded.value(schema.sensitive)
        most = int(np.bincount(value.codes).max())
        if most * self.l > len(coded):
            msg = (
                f"{self!r} is not achievable: one value of {value.name} is carried by {most} of "
                f"{len(coded)} rows, more than 1 in {self.l}. l can be {len(coded) // most} at "
                "most."
            )
            raise NotAchievable(msg)
        chance = Randomness(seed)
        labels = bucketize(value.codes, self.l, chance)
        numbers, *orders = chance.permutations(int(labels.max()) + 1, len(coded), len(coded))
        rows = table[coded.rows].with_columns(pl.Series(RESERVED, numbers[labels]))
        plain = [name for name in table.columns if name in (*schema.quasi, *schema.other)]
        secret = [name for name in table.columns if name in schema.sensitive]
        first, second = (
            rows[order].select(RESERVED, *names)
            for order, names in zip(orders, (plain, secret), strict=True)
        )
        made = Anatomized(first, second, self, schema, frame)
        made.measure()
        return made


@dataclass(frozen=True, eq=False)
class Anatomized:
    """A table taken apart; each of the two tables is in a random order of its own."""

    quasi_table: pl.DataFrame
    sensitive_table: pl.DataFrame
    method: Anatomy
    schema: Schema
    given: Any

    @property
    def quasi(self) -> Any:
        """Groups with quasi-identifiers (and other columns), as the kind of frame that came in."""
        return give_frame(self.quasi_table, self.given)

    @property
    def sensitive(self) -> Any:
        """Groups with sensitive values, as the kind of frame that came in."""
        return give_frame(self.sensitive_table, self.given)

    def measure(self) -> Measurement:
        """Measure `FrequencyL(l)` on the two tables, and raise where it does not hold."""
        return _measure(self.quasi_table, self.sensitive_table, self.method.l)

    def answers(self) -> TwoTables:
        """Return the two tables as what answers count queries."""
        return TwoTables.of(self.quasi_table, self.sensitive_table, self.schema)

    def write(self, directory: str | Path) -> Measurement:
        """Write quasi.csv and sensitive.csv into a new directory, measured before it appears."""
        with new_directory(directory) as staged:
            for name, table in (("quasi", self.quasi_table), ("sensitive", self.sensitive_table)):
                with (staged / f"{name}.csv").open("wb") as file:
                    table.write_csv(file)
            quasi, sensitive = (
                read_table(staged / f"{name}.csv") for name in ("quasi", "sensitive")
            )
            return _measure(quasi, sensitive, self.method.l)


def _measure(quasi: pl.DataFrame, sensitive: pl.DataFrame, l: int) -> Measurement:
    groups, sizes = (
        Groups.of(table[RESERVED].cast(pl.Int64).to_numpy()) for table in (sensitive, quasi)
    )
    names = [name for name in sensitive.columns if name != RESERVED]
    value = Sensitive.of(tuple(code_column(sensitive[name]) for name in names))
    found = FrequencyL(l=l).measure(groups, value)
    if not found.holds or not np.array_equal(groups.sizes, sizes.sizes):
        msg = f"The two tables do not keep {FrequencyL(l=l)!r}, or their groups differ."
        raise AuditFailed(msg)
    return found


def bucketize(codes: NDArray[np.int32], l: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return the group of every row: at least l members, no value twice.

    As long as l buckets have rows, a group takes one row of each of the l largest. What is left
    then is fewer than l rows with different values, each of which goes into a random group that
    lacks its value. Both always succeed when no value is carried by more than 1/l of the rows.
    Which row of a bucket is taken is chance, so groups know nothing of quasi-identifiers.
    """
    (order,) = randomness.permutations(len(codes))
    by_code = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    buckets = [(-int(count), code) for code, count in enumerate(counts) if count]
    heapify(buckets)
    groups = 0
    labels = np.empty(len(codes), np.int64)
    while len(buckets) >= l:
        for left, code in [heappop(buckets) for _ in range(l)]:
            labels[by_code[ends[code] + left]] = groups
            if left < -1:
                heappush(buckets, (left + 1, code))
        groups += 1
    _place_rest([by_code[ends[code] - 1] for _, code in buckets], labels, groups, codes, randomness)
    return labels


def _place_rest(
    rest: list[int],
    labels: NDArray[np.int64],
    groups: int,
    codes: NDArray[np.int32],
    randomness: Randomness,
) -> None:
    """Put each remaining row, the last of its value, into a random group that lacks the value."""
    lacking = []
    for row in rest:
        same = np.flatnonzero(codes == codes[row])
        lacking.append(np.setdiff1d(np.arange(groups), labels[same[same != row]]))
    places = randomness.below(*((len(some), 1) for some in lacking))
    for row, some, (place,) in zip(rest, lacking, places, strict=True):
        labels[row] = some[place]
