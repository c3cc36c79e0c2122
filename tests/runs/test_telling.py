"""A known column that tells a protected one is told to the owner: no requirement can mend that."""

from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.runs.remarks import follows

FEW = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=60)


def by_counting(rows):
    """The definition, row by row: errors of the best guess without and with the other column."""
    beside: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for known, guessed in rows:
        beside[known][guessed] += 1
    often = {known: seen for known, seen in beside.items() if seen.total() >= 5}
    count = sum(seen.total() for seen in often.values())
    if 2 * count < len(rows):
        return None
    whole = sum(often.values(), Counter[int]())
    wrong = count - max(whole.values())
    still = sum(seen.total() - max(seen.values()) for seen in often.values())
    return Fraction(count - still, count) if wrong and 10 * still <= wrong else None


@given(FEW)
def test_what_follows_is_counted_as_defined(rows):
    known, guessed = np.array(rows, np.int32).T
    assert follows(known, guessed) == by_counting(rows)


@given(st.lists(st.integers(0, 3), min_size=20, max_size=60), st.integers(0, 1))
def test_renamings_are_seen_but_for_few_rows(codes, wrong):
    rows = [(code, code) for code in codes] + [(0, 1)] * wrong
    known, guessed = np.array(rows, np.int32).T
    assert follows(known, guessed) == by_counting(rows)


def remarks_of(codes, names, **columns):
    table = pl.DataFrame(
        {"age": [20 + n * 7 % 50 for n in range(len(codes))], "diagnosis": names} | columns
    )
    schema = shoal.Schema(quasi=["age", *columns], sensitive="diagnosis")
    release = shoal.anonymize(table, schema, require="FrequencyL(l=2)")
    return [
        str(one) for one in release.remarks(named=True, escaped=False, seed=None) if one.warning
    ]


def test_an_owner_is_warned_of_a_code_of_the_diagnosis():
    codes = [f"I{n * 11 % 6}" for n in range(240)]
    names = [{"I0": "asthma"}.get(code, f"disease {code}") for code in codes]
    (said,) = remarks_of(codes, names, icd=codes)
    assert said.startswith("'icd' alone determines 'diagnosis' in 100% of the rows")
    assert not remarks_of(codes, names)


@pytest.mark.parametrize("share", [3, 8])
def test_nothing_is_said_of_columns_that_go_together_only_by_chance(share):
    draw = np.random.default_rng(7)
    names = [f"disease {n}" for n in draw.integers(0, share, 240)]
    town = [f"town {n}" for n in draw.integers(0, 12, 240)]
    assert not remarks_of(town, names, town=town)
