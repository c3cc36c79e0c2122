"""Where the whole table fails, a mix of requirements is reached from small groups."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import NotAchievable
from shoal.methods.base import Task
from shoal.methods.joining import Joining
from shoal.methods.mondrian import from_small_groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

SCHEMA = shoal.Schema(quasi=["q", "r"], sensitive=["s0", "s1"])
MIXES = [
    ["s0: MUniqueness(m=2)", "s1: DistinctL(l=2)"],
    ["s0: MUniqueness(m=3)", "s1: EntropyL(l=2)"],
    ["s0: MUniqueness(m=2)", "s1: TCloseness(t=0.55)"],
    ["s0: MUniqueness(m=2)", "s1: MUniqueness(m=2)", "s0: KE(k=2, e=1)"],
    ["s0: EpsilonM(epsilon=1, m=2)", "s1: Variance(at_least=0.5)", "KAnonymity(k=3)"],
    ["s0: Dissimilarity(epsilon=0, delta=0.9, k=3, distance=Absolute())", "s1: DistinctL(l=3)"],
]


def drawn(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    rows = int(random.integers(12, 150))
    return pl.DataFrame(
        {
            "q": random.integers(0, 40, rows),
            "r": random.choice(list("abcd"), rows),
            "s0": random.permutation(np.arange(rows) % 11),
            "s1": random.permutation(np.arange(rows) % 6),
        }
    )


def cut(task: Task) -> bool:
    try:
        Joining(task, widest=True).run()
    except NotAchievable:
        return False
    return True


@pytest.mark.few(2)
@pytest.mark.parametrize("require", MIXES, ids=" ".join)
def test_a_mix_is_reached_from_small_groups(require):
    """Values are so evenly drawn that groups which hold are not hard to come by."""
    for seed in range(6):
        table = drawn(seed)
        asked = tuple(requirements(require, SCHEMA.sensitive))
        task = Task(code_table(table, SCHEMA), asked)
        groups = from_small_groups(task)
        assert groups is not None, seed
        assert task.holds(groups)
        assert shoal.anonymize(table, SCHEMA, require=require).audit().holds


def test_cuts_alone_do_not_reach_all_of_them():
    asked = tuple(requirements(MIXES[3], SCHEMA.sensitive))
    tasks = [Task(code_table(drawn(seed), SCHEMA), asked) for seed in range(6)]
    assert not all(map(cut, tasks))


def test_what_cannot_hold_is_refused():
    table = drawn(1).with_columns(s1=pl.lit(4))
    with pytest.raises(NotAchievable, match="found no grouping"):
        shoal.anonymize(table, SCHEMA, require=["s0: MUniqueness(m=2)", "s1: DistinctL(l=2)"])


def test_the_same_groups_are_found_in_every_run():
    task = Task(code_table(drawn(3), SCHEMA), tuple(requirements(MIXES[1], SCHEMA.sensitive)))
    one, other = from_small_groups(task), from_small_groups(task)
    assert one is not None
    assert other is not None
    assert (one.labels == other.labels).all()


def test_nothing_is_tried_where_the_whole_table_says_it_all():
    table = drawn(5)
    asked = tuple(requirements("s0: DistinctL(l=12)", SCHEMA.sensitive))
    assert from_small_groups(Task(code_table(table, SCHEMA), asked)) is None
