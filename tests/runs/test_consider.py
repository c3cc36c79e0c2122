"""What the page says of a requirement agrees with what a search is told of it."""

import random

import polars as pl
import pytest

import shoal
from shoal.runs.consider import changed, consider, under
from shoal.runs.run import Run


def tables(seed):
    draw = random.Random(seed)
    rows = draw.randint(2, 40)
    heavy = [draw.choice([0, 5, 5, 5, 7, draw.randint(0, 60)]) for _ in range(rows)]
    return pl.DataFrame({"age": [draw.randint(0, 9) for _ in range(rows)], "pay": heavy})


def reachable(table, text):
    """Whether a run would begin to search, or say at once that nothing can be found."""
    schema = shoal.Schema(quasi="age", sensitive="pay")
    try:
        Run(table=table, schema=schema, require=text).ready(table)
    except shoal.NotAchievable:
        return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_achievable_means_so_and_every_remedy_is_achievable(seed):
    draw, table = random.Random(seed), tables(seed)
    schema = shoal.Schema(quasi="age", sensitive="pay")
    for text in (
        f"EpsilonM(epsilon={draw.choice([0, 1, 3, 10])}, m={draw.randint(2, 8)})",
        f"FrequencyL(l={draw.randint(2, 9)})",
        f"KAnonymity(k={draw.randint(1, 50)})",
    ):
        known = consider(table, schema, text)
        assert known["achievable"] == reachable(table, text), text
        assert bool(known["remedies"]) <= (known["achievable"] is False)
        for remedy in known["remedies"]:
            assert reachable(table, remedy["text"]), remedy
            assert f"{remedy['parameter']}={remedy['value']}" in remedy["text"]


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 0.1, 0.3, 1e-9, 12345.678, 1e12, 29_100])
def test_a_number_under_a_bound_is_strictly_under_it_and_near(bound):
    assert 0.97 * bound < under(bound) < bound or (bound <= 1 and 0 <= under(bound) < bound)


def test_a_number_is_changed_as_people_write_it():
    for said in ("1 in 7", "7", " 7 ", "1 in 7"):
        assert changed("EpsilonM(epsilon=1, m=2)", ["pay"], {"m": said}).endswith("m=7)")
    assert "epsilon=2000" in changed("pay: EpsilonM(epsilon=1, m=2)", ["pay"], {"epsilon": "2,000"})
    with pytest.raises(shoal.UsageError, match="must be a number"):
        changed("EpsilonM(epsilon=1, m=2)", ["pay"], {"m": "many"})
