"""Chains of completed tables: who in a group has which value, and the model, drawn in turn.

The model is f(y | x) ∝ f₀(y) exp(a(y)ᵀ Θ b(x)), f₀ free in bands. Given the model, values are
swapped inside groups; given a completed table, the model is moved by a Newton step and drawn from
the normal distribution there (Laplace). A chain begins with main effects of the first functions
alone, goes on to curves and ends with everything: started at once, chains end in a wrong mode.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shoal.estimation.augmenting import DrawnMembers
    from shoal.estimation.bases import QuasiBasis, Reals, ValueBasis
    from shoal.estimation.judging import Panel

BURN = 150  # iterations that are never kept
STAGE = 80  # iterations until everything is free, half of them with main effects alone
SWEEPS = 3
HELD = 1e5  # the precision that holds a parameter at 0
LOOSE = 0.25  # the precision of what is not shrunk
EVERY = 12  # iterations after which the curvature is computed anew
ROWS = 10_000  # that the curvature is computed from, at most
STRIDE = 3.0  # the longest step of a parameter
FAR = 600.0  # logarithms this far apart cannot be exponents together


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the threads of linear algebra to one: its matrices are small, and threads wait."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield


def expect_bands(scores: Reals, shares: Reals, centres: Reals, chances: Reals) -> Reals:
    """Find how likely each band of values is for each member; return the functions expected.

    Whole arrays at a time: their exponents are computed several at once, those of a loop are not.

    Parameters
    ----------
    scores : of each member.
    shares : the logarithm of each band's.
    centres : the functions of each band.
    chances : of each band for each member; filled.
    """
    np.dot(scores, centres.T, out=chances)
    chances += shares
    top = chances.max()
    chances -= top if top - chances.min() < FAR else chances.max(1, keepdims=True)
    np.exp(chances, out=chances)
    chances *= (1 / (chances @ np.ones(len(centres))))[:, None]
    return chances @ centres


@dataclass(frozen=True, eq=False)
class Draws:
    """Completed tables of one chain: `orders[t, i]` is the value of member i in the t-th.

    `codes[t, i]` are its quasi values, where these are drawn too.
    `off[t]` is what the completed table has of some statistics less what the model expects.
    """

    orders: NDArray[np.int32]
    off: Reals
    codes: NDArray[np.int32]


class Sampler:
    """One chain: an order of values inside groups, and the parameters of the model.

    Parameters
    ----------
    starts : where each group begins; members and values stand by group.
    values : the functions of the values.
    quasi : the features of the members.
    seed : of all that is drawn.
    """

    def __init__(
        self, starts: NDArray[np.int64], values: ValueBasis, quasi: QuasiBasis, seed: object
    ) -> None:
        self.random = np.random.default_rng(seed)  # type: ignore[arg-type]
        self.starts, self.values, self.quasi = starts, values, quasi
        self.features = quasi.features
        self.rows, self.width = self.features.shape
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        at_random = self.random.random(size=(self.rows,))
        self.order = np.lexsort((at_random, group)).astype(np.int32)
        self.chance = self.random.integers(1, 2**63, 1, dtype=np.uint64)
        self.counts = values.rows
        self.centres = values.means(values.functions)
        self.functions = values.functions.shape[1]
        bands = len(self.counts)
        self.theta = np.zeros((self.width, self.functions))
        self.shares = np.log(self.counts / self.rows)
        self.chances = np.empty((self.rows, bands))
        self.expected = np.empty((self.rows, self.functions))
        block = quasi.block[:, None] * np.ones(self.functions, np.int64)
        later = np.where(values.first, 0, 1 + np.arange(self.functions))
        kind = block * (1 + self.functions) + later  # one spread for each block and function
        self.spreads, self.kind = np.unique(kind, return_inverse=True)
        self.kind = self.kind.reshape(kind.shape)
        self.precision = np.full(len(self.spreads), 1 / 0.02)
        self.free = self.spreads == 0
        self.precision[self.free] = LOOSE
        self.members: DrawnMembers | None = None
        self.done = 0
        self.curvature = np.empty(0)

    def join(self, members: DrawnMembers) -> None:
        """Draw the quasi values of members too, beginning with these."""
        self.members, self.features = members, members.features

    def advance(self, iterations: int, keep: int = 0, panel: Panel | None = None) -> Draws:
        """Go on for some iterations and keep some completed tables, evenly spaced.

        A panel's statistics, weighted sums of functions of the values, are what completed tables
        are compared with the model by.
        """
        width = 0 if self.members is None else self.members.codes.shape[1]
        orders = np.empty((keep, self.rows), np.int32)
        codes = np.empty((keep, self.rows, width), np.int32)
        off = []
        by_band = np.empty(0) if panel is None else self.values.means(panel.functions)
        ends = np.linspace(0, iterations, keep + 1).round()[1:].astype(int)
        kept = 0
        for turn in range(1, iterations + 1):
            self._step()
            while kept < keep and ends[kept] == turn:
                orders[kept] = self.order
                if self.members is not None:
                    codes[kept] = self.members.codes
                if panel is not None:
                    here = panel if self.members is None else panel.at(self.features)
                    rest = panel.functions[self.order] - self.chances @ by_band
                    off.append(here.weights.T @ rest)
                kept += 1
        return Draws(orders, np.array(off), codes)

    def _step(self) -> None:
        from shoal.kernels.swapping import swap_within

        scores = self.features @ self.theta
        swap_within(self.order, self.starts, scores, self.values.functions, SWEEPS, self.chance)
        if self.members is not None and self.done > 10:
            self.features = self.members.move(self)
        completed = self.features.T @ self.values.functions[self.order]
        weight = self.precision[self.kind]
        if self.done < STAGE:
            weight[:, ~self.values.first] = HELD
        if self.done < STAGE // 2:
            weight[self.quasi.block > 0] = HELD
        for turn in range(3 if self.done < 2 else 1):
            self._newton(completed, weight, last=turn == (2 if self.done < 2 else 0))
        if self.done >= STAGE:
            self._shrink()
        self.done += 1

    def _newton(self, completed: Reals, weight: Reals, *, last: bool) -> None:
        from scipy.linalg import solve_triangular

        scores = self.features @ self.theta
        self.expected = expect_bands(scores, self.shares, self.centres, self.chances)
        if self.done < 6 or self.done % EVERY == 0 or self.done in {STAGE, STAGE // 2}:
            self.curvature = self._curved()
        slope = completed - self.features.T @ self.expected - weight * self.theta
        rest = self.counts - self.chances.sum(0)
        added = np.concatenate([weight.T.ravel(), np.zeros(len(rest))])
        root = np.linalg.cholesky(self.curvature + np.diag(added))
        step = solve_triangular(root, np.concatenate([slope.T.ravel(), rest]), lower=True)
        step = solve_triangular(root, step, lower=True, trans=1)
        step *= min(1.0, STRIDE / max(np.abs(step).max(), 1e-300))
        if last:
            noise = self.random.standard_normal(len(step))
            step += solve_triangular(root, noise, lower=True, trans=1)
        size = self.theta.size
        self.theta = self.theta + step[:size].reshape(self.functions, self.width).T
        self.shares = self.shares + step[size:]
        self.shares -= self.shares.mean()

    def _curved(self) -> Reals:
        """Return the curvature of the log-likelihood, from some of the rows where they are many."""
        rows = slice(None)
        if self.rows > ROWS:
            rows = self.random.integers(0, self.rows, ROWS)  # type: ignore[assignment]
        features, chances, means = self.features[rows], self.chances[rows], self.expected[rows]
        width, size = self.width, self.theta.size
        whole = np.zeros((size + len(self.counts),) * 2)
        for k in range(self.functions):
            away = chances * (self.centres[:, k] - means[:, [k]])
            own = slice(k * width, (k + 1) * width)
            whole[own, size:] = features.T @ away
            whole[size:, own] = whole[own, size:].T
            for l in range(k + 1):
                block = (features * (away @ self.centres[:, l])[:, None]).T @ features
                other = slice(l * width, (l + 1) * width)
                whole[own, other], whole[other, own] = block, block.T
        whole[size:, size:] = np.diag(chances.sum(0)) - chances.T @ chances
        whole *= self.rows / len(features)
        whole[size:, size:] += 0.5 * np.eye(len(self.counts))
        return whole

    def _shrink(self) -> None:
        """Draw how far each block of parameters is spread, given the parameters."""
        squares = np.bincount(self.kind.ravel(), (self.theta**2).ravel())
        sizes = np.bincount(self.kind.ravel())
        spread = (0.05**2 + squares) / self.random.chisquare(1 + sizes)
        self.precision = np.where(self.free, LOOSE, 1 / np.minimum(1.0, spread))
