"""Random count queries, and how far what a release answers is from the truth."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import BadParameter, InputError, UsageError
from shoal.notation import Term, number, whole_number
from shoal.utility.queries import Answers, ExactTable, Query, queryable
from shoal.utility.sets import Numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shoal.table.schema import Schema
    from shoal.utility.columns import Exact

SHARED = 50_000  # rows from which on threads gain more than they cost
WORD = 2**63  # numbers below it are drawn at once
PATIENCE = 1000  # draws for one query that is not empty, before giving up


@dataclass(frozen=True, repr=False)
class Workload(Term):
    """Count queries over random intervals of random columns.

    A query asks for an interval in each of `quasi` quasi columns and `sensitive` sensitive ones,
    all chosen at random. With q columns the interval of a column holds a share of s^(1/q) of its
    domain, and at least one value: of the numbers from its least to its largest in steps of its
    finest decimal, of dates in days, of its labels in the column's order. EM writes w = quasi + 1
    and one sensitive column; XC writes qd and qs. Queries that no row answers are drawn again.

    Parameters
    ----------
    quasi : how many quasi columns a query is about (qd, or w - 1).
    sensitive : how many sensitive columns it is about (qs).
    selectivity : s, the volume that a query asks for as a share of the domain.
    queries : how many there are.

    References
    ----------
    Li, Tao, Xiao: Preservation of Proximity Privacy in Publishing Numerical Sensitive Data.
    SIGMOD 2008. Section 6.
    Wang, Liu: XColor: Protecting General Proximity Privacy. ICDE 2010. Section VI.
    """

    quasi: int = 2
    sensitive: int = 1
    selectivity: float = 0.1
    queries: int = 1000

    role = "workload"

    def __post_init__(self) -> None:
        for name, least in (("quasi", 0), ("sensitive", 0), ("queries", 1)):
            value = whole_number(self, name, getattr(self, name), least=least)
            object.__setattr__(self, name, value)
        if self.quasi + self.sensitive == 0:
            raise BadParameter("Workload", "quasi", "at least 1 where sensitive is 0", self.quasi)
        share = number(self, "selectivity", self.selectivity, most=1, positive=True)
        object.__setattr__(self, "selectivity", share)

    def draw(
        self, original: Any, schema: Schema, *, seed: int | None = None, patience: int = PATIENCE
    ) -> CountQueries:
        """Draw queries over the original table and answer them on it.

        `patience` says how many draws a query that is not empty may take on average.
        """
        for role in ("quasi", "sensitive"):
            if getattr(self, role) > len(getattr(schema, role)):
                msg = (
                    f"{self!r} asks about {getattr(self, role)} {role} columns, "
                    f"and the schema names {len(getattr(schema, role))}."
                )
                raise UsageError(msg)
        table = original if isinstance(original, ExactTable) else ExactTable.of(original, schema)
        chance = np.random.default_rng(seed)
        drawn = _Drawer(self, schema, table.columns, chance)
        queries: list[Query] = []
        truth: list[int] = []
        redrawn = 0
        while len(queries) < self.queries:
            query = drawn.query()
            found = int(table.count(query))
            if found:
                queries.append(query)
                truth.append(found)
                continue
            redrawn += 1
            if redrawn > patience * (len(queries) + 1):
                msg = (
                    f"Of {redrawn + len(queries)} queries all but {len(queries)} are empty: "
                    "choose a larger selectivity or fewer columns."
                )
                raise InputError(msg)
        return CountQueries(self, tuple(queries), np.array(truth, np.int64), redrawn)


class _Drawer:
    """Draws one query after the other."""

    def __init__(
        self,
        workload: Workload,
        schema: Schema,
        columns: Mapping[str, Exact],
        chance: np.random.Generator,
    ) -> None:
        self.workload, self.schema, self.columns, self.chance = workload, schema, columns, chance
        self.side = workload.selectivity ** (1 / (workload.quasi + workload.sensitive))

    def query(self) -> Query:
        """Return a random query."""
        names = [
            *self._some(self.schema.quasi, self.workload.quasi),
            *self._some(self.schema.sensitive, self.workload.sensitive),
        ]
        return {name: self._interval(name) for name in names}

    def _some(self, names: Sequence[str], count: int) -> list[str]:
        return [names[place] for place in self.chance.permutation(len(names))[:count]]

    def _interval(self, name: str) -> Numbers | frozenset[str]:
        first, last, units = self.columns[name].ends
        size = last - first + 1
        # A product such as 1000 · 0.001^(1/3) must not fall short of 100 for a last digit's sake.
        side = self.side * (1 + 1e-12)
        length = floor(size * side) if size <= WORD else floor(Fraction(side) * size)
        length = min(max(1, length), size)
        begin = first + self._below(size - length + 1)
        if not self.columns[name].numeric:
            return frozenset(self.columns[name].labels[begin : begin + length])
        ends = (begin, begin + length - 1)
        # Whole numbers stay whole: arithmetic with fractions took most of a small table's report.
        return Numbers.from_to(*ends if units == 1 else (end / units for end in ends))

    def _below(self, limit: int) -> int:
        """Return a number from 0, each as likely, also where a machine word is too short for it."""
        if limit <= WORD:
            return int(self.chance.integers(limit))
        spare = 8  # bytes more than it takes, so that no remainder is likelier to be seen
        return int.from_bytes(self.chance.bytes(limit.bit_length() // 8 + spare), "big") % limit


@dataclass(frozen=True, eq=False, repr=False)
class CountQueries:
    """Drawn queries with their true answers."""

    workload: Workload
    queries: tuple[Query, ...]
    truth: NDArray[np.int64]
    redrawn: int

    def __repr__(self) -> str:
        return f"<CountQueries: {len(self.queries):,} queries, {self.redrawn:,} drawn again>"

    def error(self, source: Any) -> QueryError:
        """Ask a release, its directory, or a rival's publication, and compare with the truth."""
        return self.compare(queryable(source))

    def compare(self, answers: Answers) -> QueryError:
        """Ask something that answers count queries, and compare with the truth."""
        if len(answers) < SHARED:
            estimates = np.array([answers.count(query) for query in self.queries], np.float64)
        else:
            with ThreadPoolExecutor(os.cpu_count()) as threads:  # kernels compute side by side
                estimates = np.fromiter(threads.map(answers.count, self.queries), np.float64)
        return QueryError(self.workload, self.truth, estimates, self.redrawn)


@dataclass(frozen=True, eq=False)
class QueryError:
    """How far answers are from the truth: |estimate - truth| / truth, query by query."""

    workload: Workload
    truth: NDArray[np.int64]
    estimates: NDArray[np.float64]
    redrawn: int

    @property
    def relative(self) -> NDArray[np.float64]:
        """The relative error of each query."""
        return np.abs(self.estimates - self.truth) / self.truth

    @property
    def mean(self) -> float:
        """The mean relative error."""
        return float(self.relative.mean())

    @property
    def median(self) -> float:
        """The median relative error."""
        return float(np.median(self.relative))

    @property
    def p95(self) -> float:
        """The relative error that 95% of the queries do not exceed."""
        return float(np.quantile(self.relative, 0.95))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "workload": asdict(self.workload),
            "queries": len(self.truth),
            "redrawn": self.redrawn,
            "mean": self.mean,
            "median": self.median,
            "p95": self.p95,
        }

    def __repr__(self) -> str:
        return (
            f"<QueryError of {len(self.truth)} queries: mean {self.mean:.4f}, "
            f"median {self.median:.4f}, 95th percentile {self.p95:.4f}>"
        )


def query_error(
    source: Any,
    original: Any,
    schema: Schema,
    *,
    workload: Workload | str | None = None,
    seed: int | None = None,
) -> QueryError:
    """Measure how well a release answers count queries.

    To compare several releases by the same queries, draw them once: `workload.draw(original,
    schema)`, then `.error(release)` of each.

    Parameters
    ----------
    source : a release, its directory, or what a rival published.
    original : the path or frame of the original table.
    schema : the roles of its columns.
    workload : what to ask; by default 1,000 queries of selectivity 0.1 over two quasi columns and
        one sensitive one, or as many of them as there are.
    seed : makes the queries repeatable.

    Examples
    --------
    >>> import shoal
    >>> people = shoal.census(1000)
    >>> schema = shoal.Schema(quasi=["age", "occupation"], sensitive="income")
    >>> release = shoal.anonymize(people, schema, require="EpsilonM(epsilon=1000, m=3)")
    >>> workload = shoal.measures.Workload(queries=50)
    >>> shoal.measures.query_error(release, people, schema, workload=workload).median < 1
    True
    """
    if workload is None:
        workload = Workload(
            quasi=min(2, len(schema.quasi)), sensitive=min(1, len(schema.sensitive))
        )
    elif isinstance(workload, str):
        workload = Workload.read(workload)
    return workload.draw(original, schema, seed=seed).error(source)
