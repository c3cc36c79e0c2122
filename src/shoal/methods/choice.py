"""Which method searches when nobody has said which, what none can find, and what searches cost.

What is known to be impossible is refused before anything is searched.

For comparing and tuning, a table is coded once and searched many times, and memory is measured:
compiled loops take memory that Python's own accounting does not see, so the resident memory of the
whole process is asked for: its high-water mark is set back before the work, and what the mark is
above the memory held then is what the work took. Memory that was freed before is handed back first,
lest it be taken anew unseen; what an allocator keeps all the same, a later piece of work in the
same process may use without its showing, so the figure is never too large and can be some
megabytes too small. Only Linux can set the mark back; elsewhere nothing is measured.
"""

from __future__ import annotations

import ctypes
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.errors import NotAchievable, UsageError, option
from shoal.exact import at_least, at_most
from shoal.methods.base import Method, Task
from shoal.methods.exchange import Exchange
from shoal.methods.splitting import Split
from shoal.methods.suppression import search_within
from shoal.notation import Term
from shoal.principles.groups import Groups
from shoal.progress import silent
from shoal.release.cover import covers, mean_over_rows
from shoal.release.makers import SQUARED
from shoal.sampling import draw
from shoal.table.forms import INTERVALS, MEANS
from shoal.table.grid import REGIONS, TIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shoal.principles.requirement import Requirement
    from shoal.release.layout import Found, Suppression
    from shoal.table.coded import Coded
    from shoal.table.sensitive import Sensitive

    Solve = Callable[[Task, Method, Fraction], tuple[Task, Found, Suppression]]

PUT_DOWN = 1 << 25  # rows, at most, that are put down one by one where workers have counted them


def check_task(task: Task, *, whole: bool = False) -> None:
    """Raise where a requirement cannot hold on this table, before anything is searched.

    Of the `whole` table a share of rows may be proposed to be left out, of a part of it none.
    """
    for one, value in zip(task.requirements, task.values, strict=True):
        check_value(one, value, len(task.coded), task.coded.whom, whole=whole)


def check_value(
    one: Requirement, value: Sensitive | None, rows: int, whom: str = "rows", *, whole: bool = False
) -> None:
    """Raise where a requirement cannot hold on the values of so many rows, or people."""
    one.principle.check_missing(value)
    if rows < one.principle.least:
        msg = (
            f"{one.principle!r} needs groups of at least {one.principle.least} {whom}, "
            f"and the table has {rows:,}.{_instead(one, value, rows)}"
        )
        raise NotAchievable(msg)
    if value is not None and value.several:
        check_crowd(one, value, rows)
        return
    if value is None:
        return
    widths = one.principle.widths
    achievable = (
        widths.share <= widths.largest(value)
        if widths is not None
        else not one.principle.must_go(value).any()
    )
    if not achievable:
        from shoal.principles.remedies import refusal

        raise NotAchievable(refusal(one, put_down(value, rows), rows, whom, whole=whole))


def put_down(value: Sensitive, rows: int) -> Sensitive:
    """Return values row by row, where workers have counted them and they are not too many."""
    return value if value.columns[0].times is None or rows > PUT_DOWN else value.each_row


def _instead(one: Requirement, value: Sensitive | None, rows: int) -> str:
    """Say at which level it can hold, the strongest where that is known."""
    value = None if value is None else put_down(value, rows)
    if value is not None and value.columns[0].times is not None:
        return ""
    from shoal.principles.remedies import instead

    found = instead(one, value, rows)
    return "" if found is None else f" What would help: {option('require', repr(found))}."


def check_crowd(one: Requirement, value: Sensitive, people: int) -> None:
    """Raise where too many people have near values, or no definition fits several values each."""
    if crowd := one.principle.crowd(value):
        msg = (
            f"{one!r} is not achievable on these {people} people: {crowd} of them have values of "
            f"{value.name} that are all near to one another.{_instead(one, value, people)}"
        )
        raise NotAchievable(msg)


def check_least_risk(task: Task, *, gone: int = 0) -> None:
    """Raise where every grouping is known to have a larger risk than a dissimilarity allows.

    `gone` rows may be left out, which all might be near to one another. Of people with several
    values one value each is looked at: others can only add to those who are near. Rows about
    people are looked at where these are searched.
    """
    if task.coded.person_of.given:
        return
    few = f", whichever {gone} are left out" if gone else ""
    for one, whole in zip(task.requirements, task.values, strict=True):
        principle = one.principle.pairs
        if principle is None or not principle.by_distance or whole is None:
            continue
        from shoal.table.people import one_value_each

        value = one_value_each(whole)
        if value is None:
            continue
        if principle.bound == 1 or len(task.coded) < principle.least:
            continue  # anything goes, or there are too few rows, which is another matter
        from shoal.principles.dissimilarity import least_risk

        least = least_risk(principle.relation(value), value, principle.least, gone=gone)
        if least > principle.bound:
            msg = (
                f"{principle!r} is not achievable on these {len(task.coded):,} {task.coded.whom}"
                f"{few}: too many values of {value.name} are near to one another, so every "
                f"grouping has a risk of at least {at_most(least)}. Delta can be "
                f"{at_least(1 - least)} at most."
            )
            raise NotAchievable(msg)


SAMPLE = 4000  # rows that methods are tried on


def choose_method(
    method: Method | str | None,
    asked: Sequence[Requirement],
    form: str = INTERVALS,
    cells: str = TIGHT,
) -> Method:
    """Return the method asked for, in Python or in the notation, or the best for what is asked.

    Exchanges lose least wherever they serve, also for principles that survive the union of groups:
    cuts need room on both sides, and where little is left they end in a few large groups. Where
    means are published, squares are what is lost. Regions need cuts.
    """
    if method is None and cells == REGIONS:
        return _cutting(asked)
    if method is None:
        pairwise = all((one.principle.pairs or one.principle.sizes_only) for one in asked)
        if not pairwise:
            return _mondrian()
        return Exchange(loss=SQUARED) if form == MEANS else Exchange()
    if isinstance(method, str):
        return Method.read(method)
    if not isinstance(method, Method):
        name = repr(method) if isinstance(method, Term) else type(method).__name__
        msg = f"{name} is not a method."
        raise UsageError(msg)
    return method


def _cutting(asked: Sequence[Requirement]) -> Method:
    """Return the method that cuts finest for what is asked.

    Buckets that only have to be dealt are cut further than those that have to hold.
    """
    dealt = [one for one in asked if not one.principle.sizes_only]
    ordered = all(one.principle.ordered for one in dealt)
    one_value = len({one.columns for one in dealt}) == 1
    if ordered and one_value and not all(one.principle.monotone for one in dealt):
        return Split()
    return _mondrian()


def _mondrian() -> Method:
    """Return the method that cuts for whatever is asked; it is loaded where it serves."""
    from shoal.methods.mondrian import Mondrian

    return Mondrian()


def worth_trying() -> tuple[Method, ...]:
    """Return the methods one of which loses least nearly everywhere."""
    return Exchange(), Split(), _mondrian()


def method_for(task: Task, seed: int | None = None, form: str = INTERVALS) -> Method:
    """Return the best method for a table and what is required of it.

    Hierarchies make the loss jump, and which method copes best depends on their shape; so with
    them, every method that serves is tried on rows drawn at random, or on all where there are few,
    and the one that loses least is taken.
    """
    usual = choose_method(None, task.requirements, form, task.coded.cells)
    if (
        form == MEANS
        or task.coded.cells == REGIONS
        or all(column.tree is None for column in task.coded.quasi)
    ):
        return usual
    some = draw(len(task.coded), SAMPLE, seed).places
    sample = replace(task, coded=task.coded.subset(some), progress=silent, seconds=None)
    losses = {method: _loss(method, sample) for method in (usual, *worth_trying())}
    return min(losses, key=lambda method: losses[method])


def best_of(
    solve: Solve, task: Task, usual: Method, share: Fraction
) -> tuple[Method, tuple[Task, Found, Suppression]]:
    """Return the usual method and what it finds, or `Split()` where that loses less.

    It is tried on small tables: up to 4,000 rows it takes some milliseconds, and exchanges can end
    far above it, for example where a table has one quasi column. A search that has to stop because
    what it found is enough is not followed by another one.
    """
    found: dict[Method, tuple[Task, Found, Suppression]] = {}
    problem: NotAchievable | None = None
    try:
        found[usual] = solve(task, usual, share)
    except NotAchievable as not_reached:
        problem = not_reached
    if len(task.coded) <= SAMPLE and usual != Split() and not (found and task.enough()):
        with suppress(UsageError, NotAchievable):
            Split().check(task)
            found[Split()] = solve(replace(task, progress=silent), Split(), share)
    if problem is not None and not found:
        raise problem
    first, *others = found.items()
    return min(first, *others, key=lambda one: lost(task, one[1])) if others else first


def lost(task: Task, solved: tuple[Task, Found, Suppression]) -> float:
    """Return what the rows lose on average, by the weights of columns.

    Those that are left out lose everything.
    """
    kept, found, _ = solved
    rows, coded = len(task.coded), kept.coded
    mean = float(np.average(_losses(coded, found), weights=coded.column_weights))
    return (mean * len(coded) + rows - len(coded)) / rows


def quickest_first(task: Task, usual: Method) -> list[Method]:
    """Return the usual method and what else can search for what is required, by their speed."""
    fitting: list[Method] = []
    for method in (Split(), _mondrian(), Exchange()):
        with suppress(UsageError):
            method.check_cells(task.coded.cells)
            method.check(task)
            fitting.append(method)
    return fitting if usual in fitting else [*fitting, usual]


def why(
    method: str,
    rows: int,
    asked: Sequence[Requirement],
    form: str = INTERVALS,
    cells: str = TIGHT,
) -> str | None:
    """Return why a method was taken, where nobody named one and it is not the usual one."""
    if method == repr(choose_method(None, asked, form, cells)):
        return None
    if rows <= SAMPLE:
        return f"By {method}, because it loses least on this table."
    return (
        f"By {method}, because it loses least on {SAMPLE:,} of {rows:,} rows, drawn at random. "
        "If two methods lose about the same, another draw may favour the other."
    )


def _loss(method: Method, task: Task) -> float:
    """Return what a method loses, more than anything can be lost where it does not serve."""
    try:
        return loss_of(task.coded, search(method, task).found)
    except (UsageError, NotAchievable):
        return np.inf


FEW = 1000  # rows to warm up with


@dataclass(frozen=True, eq=False)
class Searched:
    """What a method found, in how many seconds, with how many megabytes beyond the table's."""

    task: Task  # without rows that were left out
    found: Found
    suppression: Suppression
    seconds: float
    megabytes: float | None


def search(method: Method, task: Task, solve: Solve | None = None) -> Searched:
    """Check that what is required can hold and search for it, or raise as `anonymize` does.

    `solve` is how an engine searches; rows about people need one.
    """
    if not task.coded.person_of.given:
        method.check_cells(task.coded.cells)
        method.check(task)
        check_least_risk(task)
    with Peak() as peak:
        begun = time.perf_counter()
        nothing = Fraction(0)
        solved = (
            search_within(method, task, check_task, nothing)
            if solve is None
            else solve(task, method, nothing)
        )
        seconds = time.perf_counter() - begun
    return Searched(*solved, round(seconds, 3), peak.megabytes)


def warm_up(method: Method, task: Task, solve: Solve | None = None) -> None:
    """Search a few rows, so that loading compiled code and libraries is not measured later."""
    some = draw(len(task.coded), FEW).places
    with suppress(NotAchievable):  # the few rows may not reach what all of them do
        few = replace(task, coded=task.coded.subset(some), seconds=None)
        search(method, few, solve)


def loss_of(coded: Coded, found: Found) -> float:
    """Return the global certainty penalty of what was found, without recoding it."""
    return float(np.mean(_losses(coded, found)))


def _losses(coded: Coded, found: Found) -> list[float]:
    """Return the NCP of each quasi column, over all rows."""
    bearers = found.sizes if isinstance(found, Groups) else np.ones(len(found), np.int64)
    return [mean_over_rows(cover.loss(), bearers, 0) for cover in covers(coded, coded.quasi, found)]


STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET = "5"  # sets the high-water mark back, see proc(5)


class Peak:
    """Measures the work of a `with` block; `megabytes` is None where that cannot be done."""

    megabytes: float | None = None
    _before: int | None = None

    def __enter__(self) -> Self:
        _hand_back()
        with suppress(OSError):  # another system, or one that forbids it: then it is not measured
            MARK.write_text(RESET)
            self._before = _kilobytes("VmRSS")
        return self

    def __exit__(self, *_problem: object) -> None:
        if self._before is not None:
            taken = _kilobytes("VmHWM") - self._before
            self.megabytes = round(max(taken, 0) / 1024, 1)


def _kilobytes(name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(name)
    return int(found[1])


def _hand_back() -> None:
    """Give free memory back to the system; arrays go with their last name, no cycle holds them."""
    with suppress(OSError, AttributeError, TypeError):  # not every C library has it
        ctypes.CDLL(None).malloc_trim(0)
