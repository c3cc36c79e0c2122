"""Rings of neighbouring groups: who is in them, and how many partners many askers share."""

import numpy as np
import pytest

from shoal.kernels.exchange.loss import LossSpace
from shoal.kernels.exchange.state import make_groups
from shoal.methods import passes
from shoal.methods.passes import NearGroups, Neighbours

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


@pytest.mark.parametrize(("begin", "end", "kept"), [(0, 40, 10), (200, 800, 30), (12, 5000, 96)])
def test_groups_of_different_classes_share_no_group(near, begin, end, kept):
    which = np.arange(0, COUNT, 7)
    found, step = near.classes(which, begin, end, kept)
    assert found.shape[1] > 1
    assert (found % step == which[:, None] % step).all()
    assert (found != which[:, None]).all()
    alone, _ = near.classes(which[3:4], begin, end, kept)
    assert np.array_equal(alone[0], found[3])  # whoever else asks


def test_many_askers_do_not_share_few_partners(near):
    few = np.unique(near.ring(np.arange(0, COUNT, 100), 0, COUNT, 16))
    many = np.unique(near.ring(np.arange(0, COUNT, 2), 0, COUNT, 16))
    assert len(few) < COUNT / 2
    assert len(many) > 0.9 * COUNT


@pytest.mark.parametrize("few", [0, 1 << 20], ids=["tree", "all measured"])
def test_the_nearest_points_are_those_of_a_sort_of_all(few, monkeypatch):
    """Whole numbers in few columns: distances are exact, and ties are many."""
    monkeypatch.setattr(passes, "MEASURED", few)
    random = np.random.default_rng(0)
    for _ in range(40):
        count, columns = int(random.integers(2, 300)), int(random.integers(1, 4))
        points = random.integers(0, random.choice([1, 3, 1000]), (count, columns)).astype(float)
        step = int(random.integers(1, max(2, count // 4)))
        first = int(random.integers(0, step))
        sample = [*range(first, count, step)]
        if len(sample) < 2:
            continue
        which = random.integers(0, count, int(random.integers(1, 20)))
        begin = int(random.integers(0, len(sample) - 1))
        end = int(random.integers(begin, len(sample) - 1)) + 1
        found = Neighbours(points, first, step).nearest(which, begin, end)
        assert found.shape == (len(which), end - begin)
        for own, near in zip(which.tolist(), found.tolist(), strict=True):
            away = sorted(np.abs(points[own] - points[other]).sum() for other in {*sample} - {own})
            assert own not in near
            assert len({*near}) == len(near) <= len({*near} & {*sample})
            assert [np.abs(points[own] - points[other]).sum() for other in near] == away[begin:end]
