"""Rings of neighbouring groups: who is in them, and how many partners many askers share."""

import numpy as np
import pytest

from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.state import make_groups
from shoal.methods.nearby import NearGroups

COUNT = 2000


@pytest.fixture(scope="module")
def near():
    """Groups of two rows, evenly along a line."""
    values = np.repeat(np.arange(COUNT) / COUNT, 2)[:, None]
    space = LossSpace(np.zeros(1, np.int8), np.ones(1), np.zeros(1), np.zeros(2, np.int64))
    order, cuts = np.arange(2 * COUNT), np.arange(COUNT + 1) * 2
    groups = make_groups(values, np.empty((0, 2 * COUNT), np.int32), order, cuts, 4)
    return NearGroups(space, groups)


def test_the_first_ring_has_the_nearest_groups(near):
    which = np.array([0, 7, 1000, COUNT - 1])
    found = near.ring(which, 0, 6, 6)
    for own, ring in zip(which, found, strict=True):
        away = np.sort(np.abs(np.arange(COUNT) - own))[1:7]
        assert sorted(np.abs(ring - own).tolist()) == away.tolist()


def test_a_wide_ring_is_thinned_out_evenly(near):
    (ring,) = near.ring(np.array([1000]), 200, 800, 30)
    away = np.abs(ring - 1000)
    assert 25 <= len(ring) <= 35
    assert away.min() >= 90
    assert away.max() <= 430


def test_many_askers_do_not_share_few_partners(near):
    few = np.unique(near.ring(np.arange(0, COUNT, 100), 0, COUNT, 16))
    many = np.unique(near.ring(np.arange(0, COUNT, 2), 0, COUNT, 16))
    assert len(few) < COUNT / 2
    assert len(many) > 0.9 * COUNT
