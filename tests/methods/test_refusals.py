"""A refusal names values that are in breach, and no others."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from reference import proximity
from shoal.methods.base import Task
from shoal.methods.breaches import not_reached, rows_in_breach
from shoal.methods.choice import check_value
from shoal.principles.base import Pairwise
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table
from shoal.table.sensitive import Sensitive

# Each with how many members may be near to one of n, and who is near to v.
JUDGES = {
    "EpsilonM(epsilon=1, m=3)": (
        lambda n: Fraction(n, 3),
        lambda u, v: proximity.proximate("absolute", u, v, epsilon=1),
    ),
    "EpsilonM(epsilon=0.5, m=2, relative=True)": (
        lambda n: Fraction(n, 2),
        lambda u, v: proximity.proximate("relative", u, v, epsilon=0.5),
    ),
    "Neighbourhood(below=0, above=2, m=2)": (
        lambda n: Fraction(n, 2),
        lambda u, v: proximity.proximate("general", u, v, below=0, above=2),
    ),
    "Window(width=2, m=2)": (lambda n: Fraction(n, 2), lambda u, v: v <= u <= v + 2),
    "FrequencyL(l=3)": (lambda n: Fraction(n, 3), lambda u, v: u == v),
    "MUniqueness(m=2)": (lambda _: 1, lambda u, v: u == v),
    "Dissimilarity(epsilon=1, delta=0.6, k=2, distance=Absolute())": (
        lambda n: 1 + Fraction(2, 5) * (n - 1),
        lambda u, v: abs(u - v) <= 1,
    ),
}


@pytest.mark.parametrize("spelled", JUDGES)
@pytest.mark.parametrize("seed", range(25))
def test_values_that_are_named_are_in_breach(spelled, seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(4, 24))
    values = random.integers(0, 12, rows)
    groups = Groups.of(random.integers(0, 3, rows))
    table = pl.DataFrame({"q": range(rows), "s": values})
    asked = requirements(spelled, ["s"])
    task = Task(code_table(table, shoal.Schema(quasi="q", sensitive="s")), tuple(asked))
    allowed, near = JUDGES[spelled]
    wanted = set()
    for group in range(len(groups)):
        members = np.flatnonzero(groups.labels == group).tolist()
        for row in members:
            count = sum(near(int(values[other]), int(values[row])) for other in members)
            if count > allowed(len(members)):
                wanted.add(row)
    (measured,), (value,) = task.measure(groups), task.values
    principle = asked[0].principle
    assert isinstance(principle, Pairwise)
    assert value is not None
    found = rows_in_breach(principle, value, groups, measured)
    assert set(found.tolist()) == wanted
    if measured.holds:
        return
    said = str(not_reached(task, groups))
    assert ("mostly at" in said) == bool(wanted)
    if wanted:
        named = said.split("mostly at s ")[1].split(". These groups", maxsplit=1)[0].split("; ")
        assert set(map(int, named)) <= {int(values[row]) for row in wanted}


def test_a_missing_value_that_is_named_is_called_missing():
    table = pl.DataFrame({"q": range(6), "s": [1, 1, None, None, None, 9]})
    schema = shoal.Schema(quasi="q", sensitive="s")
    coded = code_table(table, schema, missing="value")
    task = Task(coded, tuple(requirements("FrequencyL(l=3)", ["s"])))
    said = str(not_reached(task, Groups.of(np.zeros(6, int))))
    assert "mostly at s (missing); " in said


TOO_MUCH = (
    "KAnonymity(k=40)",
    "FrequencyL(l=5)",
    "FrequencyL(l=50)",
    "AlphaK(alpha=0.05, k=3)",
    "AlphaK(alpha=0.05, k=50)",
    "MUniqueness(m=6)",
    "MUniqueness(m=60)",
    "DistinctL(l=7)",
    "DistinctL(l=50)",
    "EntropyL(l=5)",
    "RecursiveCL(c=1, l=4)",
    "RecursiveCL(c=1, l=50)",
    "KE(k=2, e=1000)",
    "KE(k=50, e=1)",
    "Variance(at_least=100000)",
)


@pytest.mark.parametrize("asked", TOO_MUCH)
@pytest.mark.parametrize("seed", range(3))
def test_a_refusal_names_what_is_achievable_and_it_is(asked, seed):
    chance = random.Random(seed)
    values = [min(chance.randrange(6), chance.randrange(6)) for _ in range(12 + seed)]
    table = pl.DataFrame({"age": range(20, 20 + len(values)), "value": values})
    schema = shoal.Schema(quasi="age", sensitive="value")
    with pytest.raises(shoal.NotAchievable) as refused:
        shoal.anonymize(table, schema, require=asked)
    found = [str(text) for name, text in refused.value.fix if name == "require"]
    assert found, refused.value
    for text in found:
        assert not re.search(r"\b[klm]=1\b", text)
        assert shoal.anonymize(table, schema, require=text).audit().holds


@pytest.mark.parametrize("asked", ["EpsilonM(epsilon=1, m=20)", "DeltaL(delta=0.5, l=20)"])
def test_too_few_rows_for_near_numbers_are_told_with_the_largest_share(asked):
    table = pl.DataFrame({"age": range(12), "value": [number // 2 for number in range(12)]})
    schema = shoal.Schema(quasi="age", sensitive="value")
    with pytest.raises(shoal.NotAchievable) as refused:
        shoal.anonymize(table, schema, require=asked)
    assert refused.value.fix == (("require", asked.replace("=20", "=3")),)
    assert shoal.anonymize(table, schema, require=asked.replace("20", "3")).audit().holds


NOBODY_HAS = (
    "FrequencyL(l=3)",
    "AlphaK(alpha=0.4, k=3)",
    "EpsilonM(epsilon=1, m=3)",
    "Window(width=1, m=3)",
    "Dissimilarity(epsilon=1, delta=1, k=3, distance=Absolute())",
)


@pytest.mark.parametrize("asked", NOBODY_HAS)
def test_people_who_have_no_values_are_refused_in_a_sentence(asked):
    """Two people have no visits, and are too few to be taken for one another."""
    people = pl.DataFrame({"who": range(8), "age": range(8)})
    visits = pl.DataFrame({"who": range(6), "cost": [0, 10, 20, 30, 40, 50]})
    schema = shoal.Schema(quasi="age", sensitive="visits.cost", person="who")
    run = shoal.results.Run(
        table=people, schema=schema, linked={"visits": visits}, require=f"visits.cost: {asked}"
    )
    with pytest.raises(shoal.NotAchievable, match="2 people have 1 row, 0 in visits"):
        run.release()


@pytest.mark.parametrize(
    "require",
    [
        "FrequencyL(l=4)",
        "MUniqueness(m=7)",
        "AlphaK(alpha=0.1, k=2)",
        "EpsilonM(epsilon=1, m=30)",
        "DistinctL(l=60)",
        "RecursiveCL(c=1, l=60)",
    ],
)
def test_counted_values_are_refused_as_their_rows_are(require):
    """Where values come with how many rows have each, as workers count them."""
    draw = random.Random(5)
    table = pl.DataFrame(
        {"age": range(40), "pay": [draw.choice([1, 2, 2, 2, 9]) for _ in range(40)]}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay")
    column = code_table(table, schema).sensitive[0]
    once = replace(
        column, codes=np.arange(column.distinct, dtype=np.int32), times=np.bincount(column.codes)
    )
    (asked,) = requirements(require, ("pay",))
    said = []
    for one in (column, once):
        with pytest.raises(shoal.NotAchievable) as refused:
            check_value(asked, Sensitive.of((one,)), 40)
        said.append(refused.value.sentence)
    assert said[0] == said[1]
