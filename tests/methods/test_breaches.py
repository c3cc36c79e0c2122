"""Where exchanges end in breach, what is around the breach gets coarser and nothing else does."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.distances.relation import Band, Several, near, pack
from shoal.kernels.relations import proximate
from shoal.methods.base import Task
from shoal.methods.breaches import united
from shoal.methods.exchange import Board
from shoal.methods.exchanging import Exchanging
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

M = 3


def task_of(values):
    frame = pl.DataFrame({"age": list(range(len(values))), "charges": values})
    schema = shoal.Schema(quasi="age", sensitive="charges")
    require = requirements(f"EpsilonM(epsilon=10, m={M})", schema.sensitive)
    return Task(code_table(frame, schema), tuple(require))


def engine_of(task, size):
    board = Board.of(task, size)
    order = np.arange(len(task.coded))
    cuts = np.arange(0, len(order) + 1, size)
    return Exchanging(board.space, board.relations, board.values, board.codes, order, cuts)


@pytest.mark.parametrize("place", [0, 7, 19])
def test_what_is_far_from_a_breach_stays_as_it_was(place):
    """Groups of three in a row, one of them with three equal values."""
    values = [1000 * row for row in range(60)]
    values[3 * place : 3 * place + 3] = [5, 5, 5] if place else [1, 1, 1]
    task = task_of(values)
    before = Groups(np.arange(60) // 3)
    assert not task.holds(before)
    after = united(task, before, engine_of(task, 3))
    assert after is not None
    assert task.holds(after)
    changed = {
        group
        for group in range(20)
        if set(after.labels[3 * group : 3 * group + 3])
        & set(np.delete(after.labels, range(3 * group, 3 * group + 3)))
        or len(set(after.labels[3 * group : 3 * group + 3])) > 1
    }
    assert place in changed
    assert len(changed) <= 4
    assert max(changed) - min(changed) <= 4


def test_groups_that_hold_stay_as_they_are():
    task = task_of([1000 * row for row in range(30)])
    before = Groups(np.arange(30) // 3)
    assert united(task, before, engine_of(task, 3)) is before


def test_nothing_is_found_where_the_whole_does_not_hold():
    task = task_of([5] * 11 + [1000 * row for row in range(1, 20)])
    before = Groups(np.arange(30) // 3)
    assert united(task, before, engine_of(task, 3)) is None


def test_a_bound_on_whom_a_person_is_near_is_not_what_is_measured():
    """Each of a person's values has one other near it; the person has three."""
    frame = pl.DataFrame(
        {
            "who": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3],
            "age": [1] * 12,
            "charges": [100, 200, 300, 100, 410, 510, 200, 420, 520, 300, 430, 530],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    release = shoal.anonymize(
        frame, schema, require="EpsilonM(epsilon=5, m=2)", method="Exchange()"
    )
    assert release.audit().holds
    assert release.manifest["people"] == 4
    assert release.manifest["capped"] == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("relative", [False, True])
def test_kernels_compare_sets_as_the_definition_does(seed, relative):
    chance = np.random.default_rng(seed)
    values = np.sort(chance.choice(60, 12, replace=False)) + 1
    width = chance.uniform(0.1, 0.4) * values if relative else np.full(12, chance.integers(0, 9))
    band = Band(
        np.searchsorted(values, values - width).astype(np.int32),
        (np.searchsorted(values, values + width, side="right") - 1).astype(np.int32),
    )
    codes = np.arange(12)
    every = near(band, codes[:, None], codes[None, :])
    assert band.symmetric == bool((every == every.T).all())
    counts = chance.integers(0, 4, 8)
    ends = np.concatenate([[0], np.cumsum(counts)])
    owned = [np.sort(chance.choice(12, count, replace=False)) for count in counts]
    sets = Several(band, ends, np.concatenate(owned).astype(np.int32))
    both = pack([band, sets])
    for u in range(8):
        for v in range(8):
            wanted = any(every[a, b] for a in owned[u] for b in owned[v])
            assert proximate(both, 1, u, v) == wanted
