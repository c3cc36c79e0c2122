"""Pooling estimates over completed tables (Rubin's rules), and whether chains agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shoal.estimation.bases import Reals

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Pooled:
    """Estimates over completed tables: mean, error, interval, share of missing information."""

    estimate: Reals
    error: Reals
    low: Reals
    high: Reals
    missing: Reals


def pool(estimates: Reals, variances: Reals, added: Reals | float = 0.0) -> Pooled:
    """Pool estimates and their squared errors (tables × quantities) by Rubin's rules (1987).

    `added` is a further variance of the pooled estimates.

    Examples
    --------
    >>> import numpy as np
    >>> found = pool(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [1.0], [1.0]]))
    >>> float(found.estimate[0]), round(float(found.error[0]), 3), round(float(found.missing[0]), 3)
    (2.0, 1.528, 0.571)
    """
    from scipy.special import stdtrit

    tables = len(estimates)
    mean, within = estimates.mean(0), variances.mean(0)
    between = (1 + 1 / tables) * (estimates.var(0, ddof=1) if tables > 1 else 0 * mean)
    between = between + added
    total = within + between
    missing = between / np.maximum(total, 1e-300)
    freedom = (tables - 1) / np.maximum(missing, 1e-6) ** 2
    error = np.sqrt(total)
    reach = stdtrit(np.maximum(freedom, 1.0), (1 + CONFIDENCE) / 2) * error
    return Pooled(mean, error, mean - reach, mean + reach, missing)


def split_rhat(draws: Reals) -> Reals:
    """Return the potential scale reduction of each quantity (chains × draws × quantities).

    Each chain counts as two halves (Gelman et al., 2013). Near 1, the chains agree.

    Examples
    --------
    >>> import numpy as np
    >>> apart = np.array([[0.0, 1.0, 0.0, 1.0], [5.0, 6.0, 5.0, 6.0]])[:, :, None]
    >>> bool(split_rhat(apart)[0] > 3), split_rhat(np.ones((2, 4, 1))).tolist()
    (True, [1.0])
    """
    half = draws.shape[1] // 2
    parts = np.concatenate([draws[:, :half], draws[:, -half:]])
    within = parts.var(1, ddof=1).mean(0)
    between = parts.mean(1).var(0, ddof=1)
    nothing = 1e-20 * np.maximum(np.abs(parts).max((0, 1)) ** 2, 1e-300)
    still = within <= nothing
    ratio = (half - 1) / half + between / np.where(still, 1.0, within)
    return np.where(still, np.where(between > nothing, np.inf, 1.0), np.sqrt(ratio))
