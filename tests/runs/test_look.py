"""How unique people are is counted, however columns are left out."""

import random
from collections import Counter

import polars as pl
import pytest

from shoal.runs.look import codes, uniqueness


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
