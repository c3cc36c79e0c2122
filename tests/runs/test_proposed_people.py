"""Promises are priced on whole people, and rows that one of them leaves out are lost."""

from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.inspection.inspect import inspect
from shoal.runs.look import some_people
from shoal.runs.proposal import SAMPLE, _price, propose
from shoal.runs.run import Run

ROLES: Any = {"quasi": "age", "sensitive": "charges", "person": "who"}


def visits(people, seed=1, most=4):
    chance = np.random.default_rng(seed)
    counts = 1 + chance.integers(0, most, people)
    counts[0] = 50
    whom = np.repeat(np.arange(people), counts)
    return pl.DataFrame(
        {
            "who": whom,
            "age": chance.integers(20, 90, people)[whom],
            "charges": chance.integers(1, 9000, len(whom)),
        }
    )


def test_what_is_tried_is_about_whole_people():
    table = visits(1500)
    assert table.height > SAMPLE
    some = some_people(table, "who", SAMPLE)
    assert SAMPLE / 2 < some.height < 2 * SAMPLE
    counts = dict(table["who"].value_counts().iter_rows())
    assert all(counts[who] == count for who, count in some["who"].value_counts().iter_rows())


def test_rows_that_a_search_leaves_out_are_lost():
    """Two people with two rows each cannot be three: their second rows are left out."""
    table = pl.DataFrame(
        {
            "who": [0, 0, 1, 1, 2, 3, 4, 5],
            "age": [1, 1, 1, 1, 1, 2, 2, 2],
            "charges": [10, 20, 30, 40, 50, 60, 70, 80],
        }
    )
    run = Run(schema=shoal.Schema(**ROLES), require=("KAnonymity(k=3)",))
    whole = shoal.anonymize(table, shoal.Schema(**ROLES), require="KAnonymity(k=3)")
    assert (whole.manifest["capped"], whole.loss) == (2, 0)
    assert _price(table, run) == 2 / 8
    capped = Run(schema=shoal.Schema(**ROLES, most_rows=1), require=("KAnonymity(k=3)",))
    assert _price(table, capped) == 0


def test_a_promise_that_says_less_is_proposed_only_where_it_loses_less():
    table = visits(300)
    found = propose(table, inspect(table), shoal.Schema(**ROLES, most_rows=4), count=9)
    weak = [one for one in found if len(one.require) == 1]
    strict = [one.loss for one in found if len(one.require) > 1 and one.loss is not None]
    assert strict
    assert all(one.loss is not None and one.loss < min(strict) for one in weak)


def test_promises_speak_of_people():
    table = visits(12, most=1)
    (found, *_) = propose(table, inspect(table), shoal.Schema(**ROLES), least=20, count=1)
    assert found.require[-1] == "KAnonymity(k=12)"
