"""What is known to be impossible is refused before anything is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import NotAchievable
from shoal.exact import at_least, at_most
from shoal.principles.base import OneDimensional, Pairwise
from shoal.principles.guarantee import least_risk
from shoal.principles.planning import check_achievable
from shoal.table.people import one_value_each
from shoal.wording import option

if TYPE_CHECKING:
    from shoal.methods.base import Task
    from shoal.principles.requirement import Requirement
    from shoal.table.coded import Sensitive


def check_task(task: Task) -> None:
    """Raise where a requirement cannot hold on this table, before anything is searched."""
    for one, value in zip(task.requirements, task.values, strict=True):
        check_value(one, value, len(task.coded), task.coded.whom)


def check_value(one: Requirement, value: Sensitive | None, rows: int, whom: str = "rows") -> None:
    """Raise where a requirement cannot hold on the values of so many rows, or people."""
    if rows < one.principle.least:
        msg = (
            f"{one.principle!r} needs groups of at least {one.principle.least} {whom}, "
            f"and the table has {rows}."
        )
        raise NotAchievable(msg)
    if value is not None and value.sets is not None:
        check_crowd(one, value, rows)
    elif isinstance(one.principle, OneDimensional) and value is not None:
        check_achievable(one.principle, value.columns[0], whom)
    elif value is not None and (few := int(one.principle.surplus(value).sum())):
        msg = (
            f"{one!r} is not achievable on these {rows} {whom}: too many of them carry the same "
            f"{value.name} or near ones. At least {few} {whom} ({few / rows:.2%}) would have to "
            f"be left out; {option('suppress')} says how many may be."
        )
        raise NotAchievable(msg)


def check_crowd(one: Requirement, value: Sensitive, people: int) -> None:
    """Raise where too many people have near values, or no definition fits several values each."""
    if crowd := one.principle.crowd(value):
        msg = (
            f"{one!r} is not achievable on these {people} people: {crowd} of them have values of "
            f"{value.name} that are all near to one another."
        )
        raise NotAchievable(msg)


def check_least_risk(task: Task, *, gone: int = 0) -> None:
    """Raise where every grouping is known to have a larger risk than a dissimilarity allows.

    `gone` rows may be left out, which all might be near to one another. Of people with several
    values one value each is looked at: others can only add to those who are near.
    """
    few = f", whichever {gone} are left out" if gone else ""
    for one, whole in zip(task.requirements, task.values, strict=True):
        principle = one.principle
        if not (isinstance(principle, Pairwise) and principle.by_distance) or whole is None:
            continue
        value = one_value_each(whole)
        if value is None:
            continue
        if principle.bound == 1 or len(task.coded) < principle.least:
            continue  # anything goes, or there are too few rows, which is another matter
        least = least_risk(principle.relation(value), value, principle.least, gone=gone)
        if least > principle.bound:
            msg = (
                f"{principle!r} is not achievable on these {len(task.coded)} {task.coded.whom}"
                f"{few}: so many values of {value.name} are near to one another that every "
                f"grouping has a risk of at least {at_most(least)}. Delta can be "
                f"{at_least(1 - least)} at most."
            )
            raise NotAchievable(msg)
