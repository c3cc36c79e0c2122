"""Chains are tried where a handful of groups is left, not where they would take hours."""

import time

import numpy as np
import polars as pl
import pytest

import shoal


def test_crowded_people_in_large_groups_are_refused_in_seconds():
    """A third of all pairs are near where a fifth may be: every group of fifteen stays wrong."""
    chance = np.random.default_rng(4)
    whom = np.repeat(np.arange(600), 3)
    table = pl.DataFrame(
        {
            "who": whom,
            "age": chance.integers(20, 90, 600)[whom],
            "charges": chance.integers(0, 10_000, len(whom)),
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="charges", person="who")
    require = ["EpsilonM(epsilon=520, m=5)", "KAnonymity(k=11)"]
    begun = time.process_time()
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(table, schema, require=require, method="Exchange()")
    assert time.process_time() - begun < 20
