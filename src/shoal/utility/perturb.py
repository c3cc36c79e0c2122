"""Uniform perturbation of a numeric sensitive column, and the counts it still allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import BadParameter, NotAchievable, UsageError
from shoal.exact import downward
from shoal.notation import Term, exact, is_number, number
from shoal.principles.proximity import EpsilonM
from shoal.principles.requirement import Require, requirements
from shoal.release.layout import Randomness
from shoal.table.coding import code_column
from shoal.table.reading import give_frame, take_frame
from shoal.table.settling import settle
from shoal.utility.queries import ExactTable
from shoal.utility.retention import Retention, ValueGrid, column_units
from shoal.utility.sets import Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from shoal.table.column import Column
    from shoal.table.schema import Schema
    from shoal.utility.columns import Exact
    from shoal.utility.queries import Query

Domain = tuple[float, float] | None
CHANCES = 2**62  # how finely a probability is drawn


@dataclass(frozen=True, repr=False)
class Perturb(Term):
    """Keep each sensitive value with probability p, else draw one uniformly from the domain.

    Quasi-identifiers are published as they are. Formula (3) bounds, for the neighbourhood of every
    value, the share of those published in it who truly lie in it. It does not bound how sure one is
    of a single published value: among incomes reported in thousands, 35,000 is more likely true
    than 35,217.

    Parameters
    ----------
    p : the probability with which a value is retained.
    domain : the least and the largest value that noise may take; by default those of the column,
        which a reader thereby learns. Noise has as many decimals as the column.

    References
    ----------
    Agrawal, Srikant, Thomas: Privacy Preserving OLAP. SIGMOD 2005.
    Li, Tao, Xiao: Preservation of Proximity Privacy. SIGMOD 2008. Section 3.2.
    """

    p: float
    domain: Domain = None

    role = "rival"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", number(self, "p", self.p, most=1))
        if self.domain is not None:
            object.__setattr__(self, "domain", _two_numbers(self.domain))

    @staticmethod
    def best(frame: Any, schema: Schema, *, require: Require, domain: Domain = None) -> Retention:
        """Return how much may be retained under an (ε,m) requirement, tuple by tuple.

        >>> import polars, shoal
        >>> people = polars.DataFrame({"age": range(100), "pay": range(100)})
        >>> schema = shoal.Schema(quasi="age", sensitive="pay")
        >>> print(Perturb.best(people, schema, require="EpsilonM(epsilon=9, m=4)").sentence)
        Perturbation keeps EpsilonM(epsilon=9, m=4) on pay with p up to 0.07407.
        """
        (one,) = requirements(require, schema.sensitive)
        judge = EpsilonM.judging("Perturbation", one.principle)
        column = _numeric(*settle(take_frame(frame), schema), one.columns)
        return Retention.of(column, judge, ValueGrid.of(column, domain))

    @classmethod
    def meeting(
        cls, frame: Any, schema: Schema, *, require: Require, domain: Domain = None
    ) -> Perturb:
        """Return the perturbation with the largest p that keeps an (ε,m) requirement, or raise."""
        found = cls.best(frame, schema, require=require, domain=domain)
        if found.p is None:
            raise NotAchievable(found.sentence)
        return cls(p=downward(found.p), domain=domain)

    def publish(self, frame: Any, schema: Schema, *, seed: int | None = None) -> Perturbed:
        """Perturb the one sensitive column of a table and put its rows into a random order.

        Chance comes from the operating system; a seed, for tests only, makes it repeatable.
        """
        table, schema = settle(take_frame(frame), schema)
        column = _numeric(table, schema, schema.sensitive)
        grid = ValueGrid.of(column, self.domain)
        chance, rows = Randomness(seed), len(column.codes)
        tossed, noise = chance.below((CHANCES, rows), (grid.size, rows))
        (order,) = chance.permutations(rows)
        retained = tossed < int(exact(self.p) * CHANCES)
        units = np.where(retained, column_units(column, grid)[column.codes], noise + grid.first)
        names = [name for name in table.columns if name in schema.published]
        published = table.select(names).with_columns(grid.values(units).alias(column.name))
        return Perturbed(published[order], column.name, self, grid, schema, frame)


@dataclass(frozen=True)
class Estimate:
    """A reconstructed count, and the standard deviation of it that chance accounts for."""

    count: float
    deviation: float


@dataclass(frozen=True, eq=False)
class Perturbed:
    """A perturbed table. The method with its p, and the domain, are public."""

    published: pl.DataFrame
    column: str
    method: Perturb
    grid: ValueGrid
    schema: Schema
    given: Any

    @property
    def table(self) -> Any:
        """The published table, as the kind of frame that came in."""
        return give_frame(self.published, self.given)

    def retained(self) -> Fraction:
        """Return p, and raise where nothing can be reconstructed."""
        p = exact(self.method.p)
        if p == 0:
            msg = "With p = 0 all values are noise, and no count can be reconstructed."
            raise UsageError(msg)
        return p

    def count(self, low: float, high: float, *, where: pl.Expr | None = None) -> Estimate:
        """Estimate how many rows truly have their sensitive value in [low, high].

        Of n rows, c of them in the interval, which covers a share q of the domain, one expects
        x = p c + (1-p) n q in the published interval. So (x - (1-p) n q) / p is unbiased; it may
        be negative or above n. `where` restricts the rows, by other columns.
        """
        p = self.retained()
        rows = self.published if where is None else self.published.filter(where)
        seen = int(rows[self.column].is_between(low, high).sum())
        covered = self.grid.inside(self.grid.units(exact(low)), self.grid.units(exact(high)))
        stray = (1 - p) * covered / self.grid.size
        return _estimate(seen, rows.height, p, stray)

    def answers(self) -> Reconstruction:
        """Return the perturbed table as what answers count queries."""
        return Reconstruction(ExactTable.of(self.published, self.schema), self)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Counts reconstructed from a perturbed table, interval by interval (see `Perturbed.count`)."""

    table: ExactTable
    perturbed: Perturbed

    def __len__(self) -> int:
        return len(self.table)

    @property
    def columns(self) -> Mapping[str, Exact]:
        """What can be asked about."""
        return self.table.columns

    def count(self, query: Query) -> float:
        """Return the estimated number of rows that a query asks for."""
        wanted = query.get(self.perturbed.column)
        if wanted is None:
            return self.table.count(query)
        assert isinstance(wanted, Numbers)
        others = {name: part for name, part in query.items() if name != self.perturbed.column}
        grid = self.perturbed.grid
        firsts, lasts = wanted.units(Fraction(10) ** grid.decimals)
        inside = np.minimum(lasts, grid.last) - np.maximum(firsts, grid.first) + 1
        share = Fraction(int(np.maximum(inside, 0).sum()), grid.size)
        p = self.perturbed.retained()
        seen, rows = int(self.table.count(query)), int(self.table.count(others))
        return _estimate(seen, rows, p, (1 - p) * share).count


def _estimate(seen: int, rows: int, p: Fraction, stray: Fraction) -> Estimate:
    """Undo what noise adds: a row outside is seen inside with `stray`, one inside with p more."""
    count = float((seen - rows * stray) / p)
    share, spread = float(p + stray), float(stray)
    inside = min(max(count, 0), rows)
    variance = inside * share * (1 - share) + (rows - inside) * spread * (1 - spread)
    return Estimate(count, sqrt(variance) / float(p))


def _numeric(table: pl.DataFrame, schema: Schema, names: tuple[str, ...]) -> Column:
    schema.check(table.columns)
    if len(names) != 1:
        msg = f"Perturbation is about one sensitive column. The schema names {len(names)}."
        raise UsageError(msg)
    if not table.height:
        msg = "The table has a header but no rows."
        raise UsageError(msg)
    return code_column(table[names[0]], kind="numeric")


def _two_numbers(domain: Any) -> tuple[float, float]:
    allowed = "two numbers, the least and the largest value"
    if not isinstance(domain, tuple | list) or len(domain) != 2:
        raise BadParameter("Perturb", "domain", allowed, domain)
    low, high = domain
    if not (is_number(low) and is_number(high) and low <= high):
        raise BadParameter("Perturb", "domain", allowed, domain)
    return low, high
