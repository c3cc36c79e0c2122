"""Which method searches when nobody has said which."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, UsageError
from shoal.methods.base import Method, Task
from shoal.methods.exchange import Exchange
from shoal.methods.mondrian import Mondrian
from shoal.methods.split import Split
from shoal.notation import Term
from shoal.principles.base import Pairwise
from shoal.principles.k_anonymity import KAnonymity
from shoal.progress import silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.principles.requirement import Requirement

SAMPLE = 4000  # rows that methods are tried on
LARGE = 1_000_000  # rows above which exchanges take many minutes, and memory by the gigabyte
TRIED = (Exchange(), Split(), Mondrian())


def choose_method(method: Method | str | None, asked: Sequence[Requirement]) -> Method:
    """Return the method asked for, in Python or in the notation, or the best for what is asked.

    Exchanges lose least wherever they serve, also for principles that survive the union of groups:
    cuts need room on both sides, and where little is left they end in a few large groups.
    """
    if method is None:
        pairwise = all(isinstance(one.principle, Pairwise | KAnonymity) for one in asked)
        return Exchange() if pairwise else Mondrian()
    if isinstance(method, str):
        return Method.read(method)
    if not isinstance(method, Method):
        name = repr(method) if isinstance(method, Term) else type(method).__name__
        msg = f"{name} is not a method."
        raise UsageError(msg)
    return method


def method_for(task: Task) -> Method:
    """Return the best method for a table and what is required of it.

    Hierarchies make the loss jump, and which method copes best depends on their shape; so with
    them, every method that serves is tried on a sample, and the one that loses least is taken. A
    large table is split, where that serves, rather than exchanged for hours.
    """
    usual = choose_method(None, task.requirements)
    if spares_exchange(task, usual):
        return Split()
    if all(column.tree is None for column in task.coded.quasi):
        return usual
    rows = len(task.coded)
    some = np.unique(np.linspace(0, rows - 1, min(rows, SAMPLE)).astype(np.int64))
    sample = replace(task, coded=task.coded.subset(some), progress=silent)
    losses = {method: _loss(method, sample) for method in (usual, *TRIED)}
    return min(losses, key=lambda method: losses[method])


def spares_exchange(task: Task, usual: Method) -> bool:
    """Return whether a table is too large for exchanges, and `Split()` serves instead."""
    if len(task.coded) <= LARGE or not isinstance(usual, Exchange):
        return False
    try:
        Split().check(task)
    except UsageError:
        return False
    return True


def why(method: str, rows: int, asked: Sequence[Requirement]) -> str | None:
    """Return why a method was taken, where nobody named one and it is not the usual one."""
    usual = repr(choose_method(None, asked))
    if method == usual:
        return None
    if rows > LARGE and (usual, method) == (repr(Exchange()), repr(Split())):
        return (
            f"By {method}, because the table has more than {LARGE:,} rows. --method '{usual}' "
            "loses less, and takes many times as long and as much memory."
        )
    return f"By {method}, because it loses least on {SAMPLE:,} rows of this table."


def _loss(method: Method, task: Task) -> float:
    """Return what a method loses, more than anything can be lost where it does not serve."""
    from shoal.engines.searching import loss_of, search

    try:
        return loss_of(task.coded, search(method, task).found)
    except (UsageError, NotAchievable):
        return np.inf
