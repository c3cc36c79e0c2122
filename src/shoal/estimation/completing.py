"""Completed tables of a release: chains that go on until they agree, or are given up."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import UsageError
from shoal.estimation.augmenting import DrawnMembers, Shapes
from shoal.estimation.bases import label_basis, number_basis, quasi_basis
from shoal.estimation.chains import BURN, Sampler, one_thread
from shoal.estimation.judging import AGREED, Panel
from shoal.estimation.opening import numbers_of
from shoal.estimation.pooling import pool, split_rhat
from shoal.progress import Progress, silent
from shoal.release.manifest import NoConclusion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shoal.estimation.analyses import Analysis
    from shoal.estimation.bases import QuasiBasis, Reals, ValueBasis
    from shoal.estimation.opening import Analysable

WINDOW = 150  # iterations that tables are kept from, at first
KEPT = 50  # tables that each chain keeps
DOUBLED = 3  # times that the window is doubled, at most
IMMATERIAL = 0.02  # the share of an error's square that chains may differ by, whatever the split R̂
PHASE = "chains"


@dataclass(frozen=True, eq=False)
class Problem:
    """One sensitive column of a release and the quasi columns, as the model takes them."""

    release: Analysable
    column: str

    @cached_property
    def values(self) -> ValueBasis:
        """The functions of the values."""
        column = self.release.values[self.column]
        if column.numeric:
            return number_basis(numbers_of(column).astype(np.float64))
        return label_basis(column.codes.astype(np.int64))

    @cached_property
    def quasi(self) -> QuasiBasis:
        """The features of the members."""
        columns = self.release.quasi
        numbers = {n: numbers_of(c).astype(np.float64) for n, c in columns.items() if c.numeric}
        labels = {n: c.codes.astype(np.int64) for n, c in columns.items() if not c.numeric}
        return quasi_basis(numbers, labels)

    @cached_property
    def shapes(self) -> Shapes | None:
        """The features as functions of quasi values, where these are drawn too."""
        return Shapes(self.quasi, self.release.quasi) if self.release.cells else None

    def sampler(self, seed: object) -> Sampler:
        """Return a chain that has not begun."""
        release = self.release
        chain = Sampler(release.starts, self.values, self.quasi, seed)
        if self.shapes is not None:
            chain.join(DrawnMembers(release.cells, self.shapes, release.starts, chain.random))
        return chain

    @cached_property
    def panel(self) -> Panel:
        """A fixed set of quantities that the draws are judged by, whatever is asked."""
        column = self.release.values[self.column]
        numbers = numbers_of(column).astype(np.float64) if column.numeric else None
        return Panel.of(self.values, self.quasi, numbers)


@dataclass(frozen=True, eq=False)
class Completed:
    """Completed tables of all chains, and how well they agree.

    Attributes
    ----------
    problem : what was completed.
    orders : chains × tables × members: the value of each member, as a place among the values.
    off : what completed tables have of the panel's quantities less what the model expects.
    codes : the quasi values of each member, where these are drawn too.
    """

    problem: Problem
    orders: NDArray[np.int32]
    off: Reals
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def panels(self) -> list[list[tuple[Reals, Reals]]]:
        """Return the panel's quantities and their squared errors, of each table of each chain."""
        panel, shapes = self.problem.panel, self.problem.shapes
        if shapes is None:
            return [[panel.fit(order) for order in chain] for chain in self.orders]
        return [
            [panel.at(shapes.of(codes)).fit(order) for order, codes in zip(*both, strict=True)]
            for both in zip(self.orders, self.codes, strict=True)
        ]

    def fits(self, analysis: Analysis, asked: Callable[[Analysable], Analysis]) -> NDArray:
        """Return what is asked, and squared errors, of each table (chains × tables × 2 × …)."""
        release = self.problem.release
        if not release.cells:
            return np.array([[analysis.fit(order) for order in one] for one in self.orders])
        found = []
        for orders, drawn in zip(self.orders, self.codes, strict=True):
            every = [_of_one(asked, release.filled(codes), analysis) for codes in drawn]
            found.append([one.fit(order) for one, order in zip(every, orders, strict=True)])
        return np.array(found)

    def tables(self, number: int) -> NDArray[np.int32]:
        """Return some of the completed tables, evenly spaced."""
        return some(self.orders, number)


def _of_one(
    asked: Callable[[Analysable], Analysis], drawn: Analysable, first: Analysis
) -> Analysis:
    """Return what is asked of one completed table, the same as of the first."""
    try:
        found = asked(drawn)
    except UsageError as problem:
        msg = f"{NOT_IN_EVERY} {problem}"
        raise NoConclusion(msg) from None
    if found.names != first.names:
        raise NoConclusion(NOT_IN_EVERY)
    return found


NOT_IN_EVERY = (
    "What is asked names single values of a quasi-identifier that the release publishes as ranges, "
    "so it is not the same in every draw. Ask for a line or for a condition, for example age < 40."
)


def some(every: NDArray, number: int) -> NDArray:
    """Return some of what there is of each table (chains × tables × …), of all chains alike."""
    chains, kept, *rest = every.shape
    share = -(-number // chains)
    places = np.linspace(0, kept, share + 1).round()[1:].astype(int) - 1
    return every[:, places].swapaxes(0, 1).reshape(-1, *rest)[:number]


def complete_tables(
    problem: Problem,
    *,
    chains: int,
    seed: int | None,
    tables: int = 20,
    settled: Callable[[Completed], bool],
    progress: Progress = silent,
) -> Completed:
    """Draw completed tables; chains are lengthened until they settle, three times at most."""
    seeds = np.random.SeedSequence(seed).spawn(chains)
    kept = max(KEPT, -(-tables // chains))
    with one_thread():
        running = [problem.sampler(one) for one in seeds]
        for one in running:
            one.advance(BURN)
        window = max(WINDOW, kept)
        for turn in range(DOUBLED + 1):
            draws = []
            for place, one in enumerate(running):
                draws.append(one.advance(window, kept, problem.panel))
                progress(PHASE, (turn + (place + 1) / chains) / (DOUBLED + 1))
            orders = np.stack([one.orders for one in draws])
            codes = np.stack([one.codes for one in draws])
            off = np.concatenate([one.off for one in draws]).mean(0)
            found = Completed(problem, orders, off, codes)
            if settled(found):
                break
            window *= 2
    progress(PHASE, 1.0)
    return found


def agreement(fits: Reals) -> Reals:
    """Return the split R̂ of quantities (chains × tables × quantities); what is undefined fails."""
    with np.errstate(invalid="ignore"):
        found = split_rhat(fits)
    return np.where(np.isfinite(fits).all((0, 1)), found, np.inf)


def agreed(fits: Reals) -> NDArray[np.bool_]:
    """Return on which quantities the chains agree (chains × tables × (estimate, variance) × …).

    They do too where how they differ is next to nothing beside the error of the estimate.
    """
    rhat = agreement(fits[:, :, 0])
    every = fits.reshape(-1, *fits.shape[2:])
    with np.errstate(invalid="ignore"):
        apart = pool(every[:, 0], every[:, 1]).missing * (1 - 1 / rhat**2)
    return (rhat < AGREED) | (apart < IMMATERIAL)


def long_enough(fits: Reals) -> bool:
    """Return whether longer chains would not help: they agree on all that is defined."""
    return bool((agreed(fits) | ~np.isfinite(fits).all((0, 1, 2))).all())
