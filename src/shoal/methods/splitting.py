"""Split and partition, the method of (ε,m)-anonymity, and the splitter it shares with `Mondrian()`.

The splitter sorts once and cuts at medians. A bucket may stand when it has `least` rows and its
longest run of near values is at most `limit` of it. For (ε,m)-anonymity that says it can be dealt
into parts that hold (EM Theorem 1); for a window it says that it holds. Principles that survive the
union of groups may come as demands as well, on the same or on other sensitive values.

`Split()` is there as printed and as improved.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.distances.relation import Band, equality
from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Thorough
from shoal.principles.groups import Groups
from shoal.progress import in_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.methods.base import Task
    from shoal.methods.cutting import Judge
    from shoal.principles.groups import Demand
    from shoal.principles.ordered import Ordered
    from shoal.table.sensitive import Sensitive


PIECES = 16  # subtrees that are handed to threads; fixed, so results never depend on the machine
Ties = Literal["lower", "either", "divided"]  # where rows go that tie with the median
THREADED = 20_000  # rows below which threads cost more than they save


@dataclass(frozen=True, eq=False)
class Rule:
    """What the splitter has to respect, gathered from the requirements.

    Several requirements on one column become one: near by any of them, the least bound of them.
    """

    band: Band
    codes: NDArray[np.int32]
    bound: Fraction  # of what a group may be near to one of its members
    limit: Fraction  # of what a bucket's longest run may be
    least: int
    dealt: bool  # whether buckets still have to be dealt into parts
    demands: tuple[Demand, ...] = ()
    counted: bool = True  # whether a bucket holds where few enough are near to each member

    @property
    def reach(self) -> NDArray[np.int32]:
        """The highest code near to each code in either direction."""
        return self.band.reach

    @classmethod
    def of_size(cls, task: Task, least: int) -> Rule:
        """Return the rule that every group has so many rows, and nothing else."""
        codes = np.zeros(len(task.coded), np.int32)
        return cls(equality(1), codes, Fraction(1), Fraction(1), least, dealt=False)

    @classmethod
    def of(cls, task: Task, name: str) -> Rule:
        """Gather the requirements of a task; they must be about one ordered value at most."""
        near: list[Ordered] = []
        values: dict[tuple[str, ...], Sensitive] = {}
        for one, value in zip(task.requirements, task.values, strict=True):
            if one.principle.ordered is not None and value is not None:
                near.append(one.principle.ordered)
                values[one.columns] = value
            elif not one.principle.sizes_only:
                other = "Mondrian()" if one.principle.monotone else "Exchange()"
                msg = f"{name} cannot search for {one.principle!r}. Use {other}."
                raise UsageError(msg)
        if len(values) > 1:
            named = ", ".join("+".join(names) for names in values)
            msg = f"{name} can protect one sensitive value at a time, not {named}. Use Exchange()."
            raise UsageError(msg)
        if not near:
            return cls.of_size(task, task.least)
        (value,) = values.values()
        bands = [principle.band(value) for principle in near]
        bound = min(principle.bound for principle in near)
        dealt = not all(principle.monotone for principle in near)
        return cls(
            band=Band(
                np.minimum.reduce([band.first for band in bands]),
                np.maximum.reduce([band.last for band in bands]),
            ),
            codes=value.members,
            bound=bound,
            limit=min(bound, Fraction(1, task.least)) if dealt else bound,  # parts are large enough
            least=task.least,
            dealt=dealt,
            counted=all(principle.counted for principle in near),
        )

    @classmethod
    def of_demands(cls, task: Task, name: str) -> Rule:
        """Gather requirements that survive the union of groups, on any sensitive values."""
        demands = []
        for one, value in zip(task.requirements, task.values, strict=True):
            if one.principle.searchable is not None and value is not None:
                demands.append(one.principle.searchable.demand(value))
            elif not one.principle.sizes_only:
                msg = f"{name} cannot search for {one.principle!r}."
                raise UsageError(msg)
        codes = demands[0].codes if demands else np.zeros(len(task.coded), np.int32)
        return cls(
            band=equality(1),
            codes=codes,
            bound=Fraction(1),
            limit=Fraction(1),
            least=task.least,
            dealt=False,
            demands=tuple(demands),
        )

    @property
    def demand_arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """The demands as `kernels/demands.all_kept` takes them."""
        others: list[NDArray[np.int32]] = []
        lines = np.zeros((len(self.demands), 8), np.int64)
        begin = 0
        for line, demand in zip(lines, self.demands, strict=True):
            column = -1
            if not np.array_equal(demand.codes, self.codes):
                same = [np.array_equal(demand.codes, known) for known in others]
                column = same.index(True) if True in same else len(others)
                others += [] if True in same else [demand.codes]
            end = begin + len(demand.table)
            line[:] = demand.kind, column, demand.values, *demand.ratio, demand.count, begin, end
            begin = end
        return (
            lines,
            np.array([demand.level for demand in self.demands], np.float64),
            np.concatenate([np.empty(0), *(demand.table for demand in self.demands)]),
            np.array(others, np.int32).reshape(len(others), len(self.codes)),
        )


@dataclass(frozen=True, eq=False)
class Buckets:
    """The rows in order of their buckets, ascending in sensitive code within each."""

    rows: NDArray[np.int32]
    ranks: NDArray[np.int32]
    codes: NDArray[np.int32]
    starts: NDArray[np.int64]

    def labels(self) -> NDArray[np.int32]:
        """Return the number of the bucket of each moved row."""
        sizes = np.diff(self.starts)
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def unsort(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return labels of the moved rows in the order of the table."""
        back = np.empty_like(labels)
        back[self.rows] = labels
        return back


def admissible(rule: Rule, size: int) -> bool:
    """Return whether the whole table may stand as one bucket."""
    from shoal.kernels.windows import longest_run

    if size < rule.least:
        return False
    return longest_run(np.sort(rule.codes), rule.reach) <= size * rule.limit


def split(task: Task, rule: Rule, *, widest: bool, ties: Ties) -> Buckets:
    """Cut the table into buckets that may stand, until no median cut leaves two of them."""
    from shoal.kernels.splits import DIVIDED, EITHER, LEAST_LOSS, LOWER, WIDEST, split_range

    space = task.coded.space
    rows = np.argsort(rule.codes, kind="stable").astype(np.int32)
    ranks, codes = space.ranks_of(rows), rule.codes[rows]
    scratch = np.empty_like(ranks), np.empty_like(codes), np.empty_like(rows)
    size = len(rows)
    way = {"lower": LOWER, "either": EITHER, "divided": DIVIDED}[ties]
    demands = rule.demand_arrays
    ends = np.zeros(size, np.bool_)
    counters: list[NDArray[np.int64]] = []

    def cut(begin: int, end: int, grain: int) -> None:
        counters.append(np.zeros(1, np.int64))
        split_range(
            begin,
            end,
            grain,
            ranks,
            codes,
            rows,
            *scratch,
            *space.shape_arrays,
            rule.reach,
            rule.limit.numerator,
            rule.limit.denominator,
            rule.least,
            WIDEST if widest else LEAST_LOSS,
            way,
            *demands,
            ends,
            counters[-1],
        )

    def watch() -> None:
        task.progress("search", min(1.0, sum(int(done[0]) for done in counters) / size))

    if size < THREADED:
        cut(0, size, 0)
    else:
        cut(0, size, size // PIECES)
        pieces = _starts(ends)
        ends[:] = False
        counters.clear()
        in_threads(
            [partial(cut, begin, end, 0) for begin, end in itertools.pairwise(pieces)],
            watch,
        )
    return Buckets(rows, ranks, codes, _starts(ends))


def _starts(ends: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.flatnonzero(ends) + 1]).astype(np.int64)


BATCH = 4096  # buckets dealt by one job


@dataclass(frozen=True, repr=False)
class Split(Thorough):
    """Median splits of least loss while both halves stay achievable, then the partition step.

    `partition="round-robin"` is the algorithm of the paper to the letter. The default adds what
    follows from its theory: both sides of a tied median are tried, buckets that already hold are
    divided further, and rows are dealt to parts by cheapest matching instead of in turn.

    References
    ----------
    Li, Tao, Xiao: Preservation of Proximity Privacy in Publishing Numerical Sensitive Data.
    SIGMOD 2008. Section 5.2.
    """

    partition: str = "cheapest"

    source = "Li, Tao, Xiao, SIGMOD 2008, section 5.2"
    page = ("By splitting", "Fast, for very large tables.")

    def check(self, task: Task) -> None:
        """Raise where the requirements are not about one ordered value."""
        Rule.of(task, repr(self))

    def find(self, task: Task) -> Groups:
        """Find groups that keep every requirement.

        The partition step needs one value per person. Where people have several, or values are
        missing, buckets are cut while both halves hold.
        """
        if task.draws_regions:
            return self.in_regions(task)
        if task.several or task.lacking:
            from shoal.methods.joining import Joining

            return Joining(task, widest=False).run()
        rule = Rule.of(task, repr(self))
        if not admissible(rule, len(task.coded)):
            return _few_parts(task, rule)
        letter = self.partition == "round-robin"
        buckets = split(task, rule, widest=False, ties="lower" if letter else "either")
        return self.dealt(task, rule, buckets)

    def dealt(self, task: Task, rule: Rule, buckets: Buckets) -> Groups:
        """Deal buckets into groups, where the requirements ask for it."""
        if not rule.dealt:
            labels = buckets.labels()
        elif self.partition == "round-robin":
            labels = _round_robin(rule, buckets)
        else:
            labels = _cheapest(task, rule, buckets)
        return Groups.of(buckets.unsort(labels))

    def in_regions(self, task: Task) -> Groups:
        """Cut where no tie is divided, then deal; nothing is joined, and no few parts are tried."""
        from shoal.methods.cutting import Cutting, cut_while_holding, whole_fails

        if task.several or task.lacking:
            return cut_while_holding(task, widest=False)
        rule = Rule.of(task, repr(self))
        if not admissible(rule, len(task.coded)):
            raise whole_fails(task)
        part = Cutting(task, standing(rule), widest=False).parts()
        rows = np.lexsort((rule.codes, part)).astype(np.int32)
        starts = np.searchsorted(part[rows], np.arange(int(part.max()) + 2))
        ranks, codes = task.coded.space.ranks_of(rows), rule.codes[rows]
        return self.dealt(task, rule, Buckets(rows, ranks, codes, starts.astype(np.int64)))


def standing(rule: Rule) -> Judge:
    """Return the judge that says which buckets could not be dealt."""
    from shoal.kernels.windows import longest_runs

    def judge(parts: Groups, _before: Groups) -> NDArray[np.bool_]:
        codes = rule.codes[np.lexsort((rule.codes, parts.labels))]
        runs = np.empty(len(parts), np.int64)
        longest_runs(np.ascontiguousarray(codes, np.int32), parts.starts, rule.reach, runs)
        top, bottom = rule.limit.as_integer_ratio()
        bad: NDArray[np.bool_] = (parts.sizes < rule.least) | (runs * bottom > parts.sizes * top)
        return bad

    return judge


def _round_robin(rule: Rule, buckets: Buckets) -> NDArray[np.int32]:
    """Keep a bucket that holds as it is, deal the others in turn.

    Where counts of near members do not say whether it holds, it is dealt: no two members of a part
    are near.
    """
    from shoal.kernels.partition import deal_round_robin

    labels = np.empty_like(buckets.codes)
    band = rule.band
    m = rule.bound.denominator if rule.counted else len(labels) + 1
    deal_round_robin(buckets.codes, buckets.starts, band.first, band.last, rule.reach, m, labels)
    return labels


def _cheapest(task: Task, rule: Rule, buckets: Buckets) -> NDArray[np.int32]:
    """Deal every bucket by cheapest matching, as finely as the guarantee allows."""
    from shoal.kernels.partition import deal_cheapest

    space = task.coded.space
    labels = np.empty_like(buckets.codes)
    counters: list[NDArray[np.int64]] = []

    def deal(begin: int, end: int) -> None:
        counters.append(np.zeros(1, np.int64))
        deal_cheapest(
            buckets.ranks,
            buckets.codes,
            buckets.starts[begin : end + 1],
            rule.reach,
            rule.limit.denominator,
            *space.shape_arrays,
            labels,
            counters[-1],
        )

    def watch() -> None:
        task.progress("partition", sum(int(done[0]) for done in counters) / len(labels))

    count = len(buckets.starts) - 1
    in_threads(
        [partial(deal, begin, min(begin + BATCH, count)) for begin in range(0, count, BATCH)],
        watch,
    )
    return labels


def _few_parts(task: Task, rule: Rule) -> Groups:
    """Deal the whole table into as many parts as hold, where splitting has no room to start.

    With KAnonymity(k) beside m < k, fewer and larger parts can hold although
    |T| >= max(m, k) * maxsize fails.
    """
    rows = len(task.coded)
    place = np.empty(rows, np.int64)
    place[np.argsort(rule.codes, kind="stable")] = np.arange(rows)
    parts = rows // task.least
    while parts > 0:
        groups = Groups(place % parts)
        if task.holds(groups):
            return groups
        parts //= 2
    required = " and ".join(repr(one.principle) for one in task.requirements)
    msg = (
        f"The search found no grouping of these {rows:,} {task.coded.whom} that meets "
        f"{required} together. Lower one of their parameters; `shoal plan` shows what is "
        "achievable for each."
    )
    raise NotAchievable(msg)
