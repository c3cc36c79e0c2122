"""Whether all groups together show who has which value: a finding about privacy.

Where hardly any information is missing, a reader learns from a release what an analyst learns from
the original table. That is a finding where the model is then sure about some people: in narrow
groups of similar people little is missing although nobody's value is known.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.estimation.chains import BURN, Sampler, one_thread
from shoal.estimation.completing import Problem
from shoal.estimation.opening import installed, open_release, settled_values
from shoal.estimation.pooling import pool
from shoal.exact import percent
from shoal.release.manifest import NoConclusion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shoal.estimation.opening import Analysable

MOST = 3000  # rows, in whole groups, that the model is fitted to
WINDOW, DRAWS = 200, 50
NEARLY = 0.02  # the share of missing information under which hardly any is missing
SURE = 0.9
SOME = 0.01  # of the people, about whom the model is sure


def recovered(source: Any, seed: int | None) -> list[str]:
    """Say of which sensitive columns the pairing is practically recovered, a sentence each.

    Nothing is said of releases that the model does not apply to.
    """
    if not installed():
        return []
    try:
        release = some_groups(open_release(source), seed)
    except NoConclusion:
        return []
    found = []
    for name in release.values:
        missing, sure = _measured(Problem(release, name), seed)
        if missing < NEARLY and sure >= SOME:
            found.append(
                f"A reader who models all groups together learns how {name} goes with the "
                f"quasi-identifiers almost as from the original: {percent(missing, 1)} of the "
                f"information is missing. For {percent(sure, 1)} of people the model is at least "
                f"{percent(SURE, 0)} certain of one {name}."
            )
    return found


def some_groups(release: Analysable, seed: int | None) -> Analysable:
    """Return some groups at random, as many as the model is fitted to: they are independent."""
    sizes = np.diff(release.starts)
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    kept = np.sort(drawn[: max(1, int((np.cumsum(sizes[drawn]) <= MOST).sum()))])
    rows = np.concatenate([np.arange(release.starts[g], release.starts[g + 1]) for g in kept])
    starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
    return replace(
        release,
        starts=starts,
        quasi={name: one.part(rows) for name, one in release.quasi.items()},
        values={name: one.part(rows) for name, one in release.values.items()},
    )


def _measured(problem: Problem, seed: int | None) -> tuple[float, float]:
    """Return the missing information, and the share of people about whom the model is sure.

    Those whose group has one value are known from that, and do not count.
    """
    release, column = problem.release, problem.release.values[problem.column]
    with one_thread():
        chain = Sampler(release.starts, problem.values, problem.quasi, seed)
        chain.advance(BURN)
        orders = chain.advance(WINDOW, DRAWS).orders
    fits = [problem.panel.fit(order) for order in orders]
    slopes, squares = (np.array([one[k].ravel() for one in fits]) for k in (0, 1))
    missing = float(np.median(pool(slopes, squares).missing))
    open_to_doubt = ~settled_values(release.starts, column)
    drawn = np.sort(column.codes[orders][:, open_to_doubt], axis=0)
    sure = _commonest(drawn) >= SURE * len(drawn)
    return missing, float(sure.sum() / max(len(sure), 1))


def _commonest(drawn: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how often the commonest value of each person was drawn, by draws in their order."""
    times = np.ones(drawn.shape[1], np.int64)
    most = times.copy()
    for one, before in zip(drawn[1:], drawn[:-1], strict=True):
        times = np.where(one == before, times + 1, 1)
        most = np.maximum(most, times)
    return most
