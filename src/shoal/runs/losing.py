"""About what a release will lose, before it is made: the one place that estimates it.

Some of the rows are published in memory, by the method that the release will take. More rows lie
closer together, so a whole table loses less than a sample of it: parts of the sample are published
first, and how the loss falls from them to the sample is continued to the whole table, by a power of
the number of rows. What a cell covers is told by the range and the labels of the whole table: a
sample lacks the outliers that stretch it, and rare labels.

How few the rows are is what limits the time: by the clock, an estimate would depend on the machine.
Where somebody waits for it, the time of the processor is limited all the same: then the parts that
were tried are continued, and where there are none, what a quicker method loses is an upper bound.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import NotAchievable, ShoalError
from shoal.runs.doing import trial_of
from shoal.runs.look import about, some_people
from shoal.table.schema import LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from shoal.runs.release import Release
    from shoal.runs.run import Run

    Reach = Mapping[str, float]  # how far each column reaches

SAMPLE = 4_000  # rows that are tried
PARTS = ((4, 3), (2, 2), (1, 1))  # which parts of them, and how many of each
STEEPEST = -1.0  # the power of the rows by which a loss may fall, and
USUAL = -0.25  # by which it falls on many tables, where parts are too small to tell
STEEPER = 0.05  # so much faster it fell beyond the sample, on seven tables of 10,000 rows and more
PATIENCE = 10.0  # seconds of the processor that an estimate may take where somebody waits
GROWS = 2.5  # times the time that twice the rows take
QUICK = 2.0  # seconds that a quicker method may take instead
LEAST = 1e-9  # a loss that has a logarithm


@dataclass(frozen=True)
class ForeseenLoss:
    """What a release will lose: in all and by column.

    It was tried on so many `rows`, which are `all_rows` of the table or some of them; `factor` is
    what the loss of those was multiplied with. A `rough` one is an upper bound.
    """

    release: Release
    gcp: float
    ncp: dict[str, float]
    rows: int
    all_rows: bool
    factor: float
    rough: bool


def estimate(
    run: Run,
    table: pl.DataFrame,
    *,
    whole: int | None = None,
    reach: Reach | None = None,
    like: tuple[int, float] | None = None,
    patience: float | None = None,
) -> ForeseenLoss:
    """Return what a run will lose on a table of which some rows are given.

    `whole` is how many rows the table has, by default those that are given; `reach` how far its
    columns reach; `like` the rows and the factor of another estimate of the same table, so that
    parts are not tried again; `patience` the seconds of the processor that it may take. Raises
    where no rows that were tried reach what is required.
    """
    whole = max(whole or table.height, table.height)
    trials = _Trials(replace(run, seconds=None, table=table), reach, patience)
    if whole == table.height:
        trials.once(table)
    elif like is not None:
        trials.once(some_people(table, run.schema.person, like[0]))
    else:
        trials.in_parts(table)
    if trials.release is None:  # the quickest method says at least how much it may be
        quick = trial_of(replace(run, table=table, seconds=QUICK, enough=lambda: True))
        return _multiplied(quick, _lost_by(quick, {}), table.height, 1.0, rough=True)
    rows, _ = trials.tried[-1]
    factor = (whole / rows) ** trials.power() if like is None or rows == whole else like[1]
    found = _multiplied(trials.release, trials.lost, rows, factor)
    return replace(found, all_rows=rows == whole)


def reach_of(table: pl.DataFrame, run: Run) -> dict[str, float]:
    """Return how far each quasi column of a table reaches, as it will be published.

    A numeric one reaches from its lowest number to its highest; one of labels has so many steps
    between them. Others, dates and nodes of hierarchies, are told by the sample alone.
    """
    settled, _ = run.with_table(table)
    found = {}
    for name in run.schema.quasi:
        kind = run.schema.types.get(name, "numeric")
        if name in run.schema.hierarchies or kind not in ("numeric", *LABELS):
            continue
        if kind in LABELS:
            found[name] = float(settled[name].drop_nulls().n_unique() - 1)
            continue
        with suppress(ShoalError):
            column = run.schema.read_numbers(settled.select(name), "quasi")[name]
            low, high = column.min(), column.max()
            if isinstance(low, int | float) and isinstance(high, int | float):
                found[name] = float(high) - float(low)
    return found


class _TooLongError(Exception):
    """A search took longer than an estimate is worth."""


class _Trials:
    """Publishes more and more rows in memory, as long as there is time, and notes what they lose.

    `tried` has how many rows lost how much, the fewest first; `release` is the last one, and `lost`
    what its columns lose, as shares of what the whole table has of them.
    """

    def __init__(self, run: Run, reach: Reach | None, patience: float | None) -> None:
        self.run, self.reach = run, reach
        self.ends = None if patience is None else time.process_time() + patience
        self.release: Release | None = None
        self.lost: dict[str, float] = {}
        self.tried: list[tuple[int, float]] = []

    def once(self, table: pl.DataFrame) -> None:
        """Try one table, whatever it takes; raises where it does not reach what is required."""
        with suppress(_TooLongError):
            self._try([replace(self.run, table=table, linked=self._linked(table))])

    def in_parts(self, table: pl.DataFrame) -> None:
        """Try parts of a table, the smallest first, and all of it; raises where none reaches it."""
        problem: NotAchievable | None = None
        for part, several in PARTS:
            begun = time.process_time()
            try:
                self._try(self._parts(table, table.height // part, several))
            except NotAchievable as other:
                problem = other
            except _TooLongError:
                break
            taken = (time.process_time() - begun) / several
            if self.ends is not None and time.process_time() + GROWS * taken > self.ends:
                break
        if self.release is None and problem is not None:
            raise problem

    def power(self) -> float:
        """Return by which power of the rows the loss falls."""
        if len(self.tried) == 1:
            return USUAL
        rows, losses = zip(*self.tried, strict=True)
        logs = np.log(np.maximum(losses, LEAST))
        return float(np.clip(np.polyfit(np.log(rows), logs, 1)[0] - STEEPER, STEEPEST, 0.0))

    def _try(self, runs: list[Run]) -> None:
        """Note what some runs over equally many rows lose on average."""
        losses, problem = [], None
        for run in runs:
            shares = self._shares(run)
            try:
                release = trial_of(_weighted(run, shares), self._in_time)
            except NotAchievable as other:  # fewer rows may not reach what more of them do
                problem = other
                continue
            self.release, self.lost, rows = release, _lost_by(release, shares), run.table.height
            losses.append(float(np.mean(list(self.lost.values()))))
        if problem is not None and not losses:
            raise problem
        self.tried.append((rows, float(np.mean(losses))))

    def _shares(self, run: Run) -> dict[str, float]:
        """Return how far some rows reach in each column, as a share of the whole table."""
        if not self.reach or run.suppress:  # outliers may be the ones that are left out
            return {}
        own = reach_of(run.table, run)
        return {
            name: min(1.0, own[name] / far)
            for name, far in self.reach.items()
            if far and own.get(name)
        }

    def _in_time(self, _phase: str, _share: float) -> None:
        if self.ends is not None and time.process_time() > self.ends:
            raise _TooLongError

    def _parts(self, table: pl.DataFrame, rows: int, several: int) -> list[Run]:
        """Return the run over parts of a table of about so many rows, people being whole."""
        found = [some_people(table, self.run.schema.person, rows) for _ in range(several)]
        return [replace(self.run, table=one, linked=self._linked(one)) for one in found]

    def _linked(self, table: pl.DataFrame) -> dict[str, pl.DataFrame]:
        person = str(self.run.schema.person)
        return {name: about(one, person, table) for name, one in self.run.linked.items()}


def _weighted(run: Run, shares: Mapping[str, float]) -> Run:
    """Return a run that weighs columns as the whole table does, where they reach further."""
    weights = dict(run.schema.weights) | {
        name: run.schema.weights.get(name, 1.0) * share for name, share in shares.items()
    }
    return replace(run, schema=replace(run.schema, weights=weights))


def _lost_by(release: Release, shares: Mapping[str, float]) -> dict[str, float]:
    """Return what each quasi column loses, as a share of what the whole table has of it."""
    lost: dict[str, float] = release.manifest.loss.ncp
    return {name: one * shares.get(name, 1.0) for name, one in lost.items()}


def _multiplied(
    release: Release, lost: dict[str, float], rows: int, factor: float, *, rough: bool = False
) -> ForeseenLoss:
    """Return an estimate: what rows lost, so many times."""
    ncp = {name: min(1.0, one * factor) for name, one in lost.items()}
    was = sum(release.manifest.loss.ncp.values())
    gcp = release.manifest.loss.gcp * (sum(ncp.values()) / was if was else 1.0)
    return ForeseenLoss(release, gcp, ncp, rows, all_rows=False, factor=factor, rough=rough)
