"""How unique people are is counted, however columns are left out."""

import random
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.runs.look import codes, lowered, uniqueness


def alone(rows, places):
    counts = Counter(tuple(row[place] for place in places) for row in rows)
    return sum(one == 1 for one in counts.values()) / len(rows) if places else 0.0


@pytest.mark.parametrize("seed", range(40))
def test_uniqueness_agrees_with_counting(seed):
    draw = random.Random(seed)
    width = draw.randint(1, 5)
    rows = [
        tuple(draw.choice([None, "", 1, "1", draw.randint(0, 30)]) for _ in range(width))
        for _ in range(draw.randint(1, 60))
    ]
    rows = [tuple(None if cell is None else str(cell) for cell in row) for row in rows]
    names = [f"c{place}" for place in range(width)]
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    found = uniqueness(codes(table), names)
    every = list(range(width))
    assert found["all"] == alone(rows, every)
    for place, name in enumerate(names):
        assert found["without"][name] == alone(rows, [one for one in every if one != place])
    left = every
    for name, share in found["falling"].items():
        left = [place for place in left if names[place] != name]
        assert share == alone(rows, left)
    shares = [found["all"], *found["falling"].values()]
    assert shares == sorted(shares, reverse=True)
    assert all(shares[1:-1])  # it ends where nobody is alone any more


@pytest.mark.parametrize("seed", range(20))
def test_people_are_unique_whom_no_other_person_equals(seed):
    draw = random.Random(seed)
    rows = [(draw.randint(0, 9), draw.randint(0, 4), draw.randint(0, 3)) for _ in range(40)]
    table = pl.DataFrame(rows, schema=["p", "a", "b"], orient="row")
    for names in (["a"], ["b"], ["a", "b"]):
        places = [table.columns.index(name) for name in names]
        whose: dict[tuple[int, ...], set[int]] = {}
        for row in rows:
            whose.setdefault(tuple(row[place] for place in places), set()).add(row[0])
        alone = {person for people in whose.values() if len(people) == 1 for person in people}
        expected = len(alone) / len({row[0] for row in rows})
        assert uniqueness(codes(table), names, "p")["all"] == expected


def lowered_by_hand(numbers: list[int], least: int) -> int:
    """Lower the highest number of rows that fewer than `least` people have, again and again."""
    now = list(numbers)
    while True:
        few = [n for n in set(now) if now.count(n) < least and n > min(now)]
        if not few:
            return sum(numbers) - sum(now)
        highest = max(few)
        below = max(n for n in now if n < highest)
        now = [below if n == highest else n for n in now]


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=20),
    st.integers(1, 5),
    st.sampled_from([None, 1, 3]),
)
def test_rows_that_go_so_that_each_number_has_enough_people(numbers, least, most) -> None:
    whom = [f"p{person}" for person, count in enumerate(numbers) for _ in range(count)]
    table = pl.DataFrame({"p": whom, "age": range(len(whom)), "pay": range(len(whom))})
    schema = shoal.Schema(quasi="age", sensitive="pay", person="p", most_rows=most)
    capped = [min(count, most or count) for count in numbers]
    assert lowered(table, schema, least) == lowered_by_hand(capped, least)
    unknown = shoal.Schema(quasi="age", sensitive="pay", person="p", rows="unknown")
    assert lowered(table, unknown, least) == 0
