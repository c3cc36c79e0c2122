"""Whether an analysis depends on who has which value, and whether the model has what it takes.

Both are asked of what an analysis takes of members and of values, so no draw is needed: draws may
agree by chance, as medians of whole numbers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shoal.estimation.bases import Reals

FOLLOWED = 0.5  # the share of a column's variance that functions of the model have to make up


def unmoved(starts: NDArray[np.int64], members: Iterable[NDArray], values: NDArray) -> bool:
    """Return whether no pairing inside groups changes an analysis.

    In each group, all members have to be alike in what it takes of them, or all values.
    """
    alike = np.ones(len(starts) - 1, np.bool_)
    for column in members:
        alike &= _alike(starts, column)
    return bool((alike | _alike(starts, values)).all())


def _alike(starts: NDArray[np.int64], column: NDArray) -> NDArray[np.bool_]:
    """Return in which groups a column has one value."""
    codes = np.unique(column, return_inverse=True)[1]
    begun = starts[:-1]
    found: NDArray[np.bool_] = np.minimum.reduceat(codes, begun) == np.maximum.reduceat(
        codes, begun
    )
    return found


def followed(functions: Reals, column: NDArray) -> bool:
    """Return whether functions of the model make up most of a column; a constant they always do.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.linspace(-1, 1, 101)
    >>> followed(line[:, None], line > 0), followed(line[:, None], line == 0)
    (True, False)
    """
    wanted = np.asarray(column, np.float64)
    spread = ((wanted - wanted.mean()) ** 2).sum()
    if spread <= 1e-12 * max(float(wanted @ wanted), 1e-300):
        return True
    design = np.column_stack([np.ones(len(wanted)), functions])
    rest = wanted - design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
    return bool(rest @ rest <= (1 - FOLLOWED) * spread)
