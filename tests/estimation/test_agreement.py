"""When chains agree: by the split R̂, or where how they differ is nothing beside the error."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.estimation.completing import agreed, agreement


def chains(*, apart: float, error: float) -> np.ndarray:
    """Return two chains of 40 draws with spread 1 that lie `apart`, each with a squared error."""
    draws = np.random.default_rng(1).normal(size=(2, 40, 1))
    draws[1] += apart
    return np.stack([draws, np.full_like(draws, error)], axis=2)


@pytest.mark.parametrize(
    ("apart", "error", "expected"),
    [(0, 1, True), (3, 1, False), (3, 50, False), (3, 1000, True), (30, 1000, False)],
)
def test_chains_agree_by_r_hat_or_where_the_difference_is_immaterial(apart, error, expected):
    fits = chains(apart=apart, error=error)
    assert (agreement(fits[:, :, 0])[0] < 1.1) == (apart == 0)
    assert agreed(fits)[0] == expected


def test_what_is_undefined_in_one_table_is_never_agreed_on():
    fits = chains(apart=0, error=1)
    fits[0, 3] = np.nan
    assert not agreed(fits)[0]
