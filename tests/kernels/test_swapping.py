"""Swaps inside groups draw pairings as often as going through all of them says."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from reference.pairings import band_chances, pairings
from shoal.estimation.chains import expect_bands
from shoal.kernels.swapping import swap_within

DRAWS = 40_000


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_every_pairing_is_drawn_as_often_as_it_is_likely(size):
    random = np.random.default_rng(size)
    scores, functions = random.normal(size=(2, size, 2))
    expected = pairings(scores.tolist(), functions.tolist())
    order, chance = np.arange(size, dtype=np.int32), np.array([77 + size], np.uint64)
    starts, found = np.array([0, size]), Counter[tuple[int, ...]]()
    for _ in range(DRAWS):
        swap_within(order, starts, scores, functions, 2, chance)
        found[tuple(order.tolist())] += 1
    apart = sum(abs(found[one] / DRAWS - share) for one, share in expected.items()) / 2
    assert apart < 0.035


def test_values_stay_in_their_groups():
    random = np.random.default_rng(1)
    starts = np.array([0, 3, 4, 9])
    order = np.arange(9, dtype=np.int32)
    swap_within(order, starts, *random.normal(size=(2, 9, 3)), 5, np.array([3], np.uint64))
    for begin, end in pairwise(starts):
        assert sorted(order[begin:end]) == list(range(begin, end))
    assert order.tolist() != list(range(9))


@pytest.mark.parametrize("scale", [1, 900])  # at 900, exponents would be beyond what numbers hold
def test_bands_are_as_likely_as_the_model_says(scale):
    random = np.random.default_rng(2)
    scores, centres, shares = random.normal(size=(6, 3)), random.normal(size=(4, 3)), np.zeros(4)
    scores *= scale
    shares[:] = np.log([0.1, 0.2, 0.3, 0.4])
    chances = np.empty((6, 4))
    means = expect_bands(scores, shares, centres, chances)
    for row in range(6):
        exact = band_chances(scores[row].tolist(), shares.tolist(), centres.tolist())
        assert chances[row] == pytest.approx(exact)
        assert means[row] == pytest.approx(np.array(exact) @ centres)
