"""Partitions of rows: those that hold nothing answer as those that say the same do."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.table.partition import Everyone, OnePart, Partition, PersonOf


def told(one: Partition, codes: np.ndarray, some: np.ndarray) -> list[list]:
    """Return all that a partition says."""
    low, high = one.ends(codes)
    rows, places = one.rows_of(np.arange(len(one))[::-1])
    first = one.of_part(one.of_row(np.arange(len(one))))
    found = [one.labels, one.sizes, one.starts, one.order, one.first, low, high, rows, places]
    found += [first, *one.parts(), one.rows(0), one.turns(np.arange(len(one.labels))[::-1])]
    found += [one.only(some).labels, one.only(some).sizes]
    if isinstance(one, PersonOf):
        found += [one.count(codes), one.count(codes, 9)]
    return [list(each) for each in found]


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_what_was_not_said_is_what_would_have_been_said(rows: int) -> None:
    chance = np.random.default_rng(rows)
    codes, some = chance.integers(0, 5, rows), np.sort(chance.permutation(rows)[: rows // 2 + 1])
    plain = told(PersonOf(np.arange(rows)), codes, some)
    assert told(Everyone(rows), codes, some) == plain
    assert told(OnePart(rows), codes, some) == told(
        Partition(np.zeros(rows, np.int64)), codes, some
    )


def test_what_was_not_said_holds_nothing() -> None:
    for one in (
        Everyone(10**9),
        OnePart(10**9).only(np.arange(3)),
        Everyone(10**9).only(np.ones(1)),
    ):
        assert not one.given
        assert all(isinstance(held, int) for held in vars(one).values())


@pytest.mark.parametrize("seed", range(5))
def test_parts_have_the_rows_that_were_put_in_them(seed: int) -> None:
    labels = np.unique(np.random.default_rng(seed).integers(0, 6, 20), return_inverse=True)[1]
    codes = np.random.default_rng(seed + 9).integers(0, 5, 20)
    one = PersonOf(labels)
    for part in range(len(one)):
        rows = [row for row in range(20) if labels[row] == part]
        assert one.rows(part).tolist() == one.parts()[part].tolist() == rows
        assert (one.first[part], one.sizes[part]) == (rows[0], len(rows))
        assert [end[part] for end in one.ends(codes)] == [min(codes[rows]), max(codes[rows])]
        assert one.turns(np.arange(20)[::-1])[rows].tolist() == list(range(len(rows)))[::-1]
    have = [{int(labels[row]) for row in range(20) if codes[row] == code} for code in range(6)]
    assert one.count(codes, 6).tolist() == [len(each) for each in have]
    kept = one.only(np.flatnonzero(labels != 1))
    assert kept.labels.tolist() == [one - (one > 1) for one in labels[labels != 1]]


def test_some_people_may_have_no_rows() -> None:
    one = PersonOf(np.array([2, 0, 2]), 5)
    assert len(one) == 5
    assert one.sizes.tolist() == [1, 0, 2, 0, 0]
