"""Guesses where the group is known: as often right as the definition says, and never beyond."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from reference import attacks
from shoal.audit.guessing import guess_in_groups
from shoal.audit.linking import best_listed
from shoal.audit.published import Published
from shoal.principles.base import Principle
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

SCHEMA = shoal.Schema(quasi="q", sensitive="s")
BOUNDING = [
    "EpsilonM(epsilon=1, m=2)",
    "EpsilonM(epsilon=1.5, m=3)",
    "Neighbourhood(below=1, above=2, m=3)",
    "DeltaL(delta=0.5, l=3)",
    "Chain(epsilon=1, m=2)",
    "Window(width=3, m=2)",
    "FrequencyL(l=3)",
    "AlphaK(alpha=0.4, k=2)",
    "MUniqueness(m=3)",
]


@pytest.mark.few(1)
@pytest.mark.parametrize("text", BOUNDING)
def test_no_guess_is_better_than_its_bound_and_listed_ones_reach_theirs(text):
    """All groups of up to 6 small values that keep the requirement; guesses in quarter steps."""
    principle = Principle.read(text)
    bound = principle.guess
    assert bound is not None
    width, best = Fraction(str(bound.width)), Fraction(0)
    for size in range(1, 7):
        for group in combinations_with_replacement(range(0, 11, 2), size):
            value = Sensitive.of((code_column(pl.Series("s", group)),))
            if not principle.measure(Groups(np.zeros(size, np.int64)), value).holds:
                continue
            for quarter in range(-4, 45):
                guess = Fraction(quarter, 4)
                right = Fraction(sum(abs(one - guess) <= width for one in group), size)
                assert right <= bound.any
                if guess in group:
                    assert right <= bound.listed
                    best = max(best, right)
    assert best == bound.listed or text.startswith("AlphaK")


def test_what_bounds_no_guess_says_so():
    for text in ("KAnonymity(k=3)", "DistinctL(l=3)", "KE(k=3, e=4)", "Variance(at_least=2)"):
        assert Principle.read(text).guess is None


groups = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=8), min_size=1, max_size=5)


@given(groups, st.sampled_from(["EpsilonM(epsilon=1.5, m=4)", "Window(width=3, m=4)"]))
def test_shares_of_right_guesses_are_sums_over_groups(values, text):
    rows = [(g, value) for g, group in enumerate(values) for value in group]
    table = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    published = Published(table, said=SCHEMA, group="q")
    published.require = tuple(requirements(text, ["s"]))
    (found,) = guess_in_groups(published)
    listed = [max(sum(abs(u - v) <= 1.5 for u in group) for v in group) for group in values]
    assert found.listed == sum(listed) / len(rows)
    assert found.any == sum(attacks.most_within(group, "1.5") for group in values) / len(rows)
    assert found.prior == attacks.most_within([value for _, value in rows], "1.5") / len(rows)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.integers(0, 4))
def test_the_best_listed_guess(values, epsilon):
    column = code_column(pl.Series("s", values))
    first = np.searchsorted(column.numbers, column.numbers - epsilon)
    last = np.searchsorted(column.numbers, column.numbers + epsilon, "right") - 1
    low, high = best_listed(column.codes, first, last)
    held = int(((low <= column.codes) & (column.codes <= high)).sum())
    assert held == max(sum(abs(u - v) <= epsilon for u in values) for v in values)


def people(rows=400):
    chance = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "q": chance.integers(0, 60, rows),
            "s": chance.integers(0, 300, rows),
            "ill": chance.choice(["flu", "gout", "cold", "none"], rows),
        }
    )


def test_an_attack_is_at_the_width_that_is_promised(tmp_path):
    table = people()
    schema = shoal.Schema(quasi="q", sensitive=["s", "ill"])
    asked = ["s: EpsilonM(epsilon=7, m=5)", "ill: FrequencyL(l=2)", "KAnonymity(k=6)"]
    shoal.anonymize(table, schema, require=asked).write(tmp_path / "out")
    found = shoal.attack([tmp_path / "out"], original=table).to_dict()
    assert [(one["column"], one["epsilon"]) for one in found["linking"]] == [("s", 7), ("ill", 0)]
    assert "within 7 of that" in found["vulnerability"][0]["sentence"]
    numbers, labels = found["guessing"]
    assert numbers["listed"] <= numbers["listed_bound"] == 0.2 < numbers["any"] <= 0.4
    assert labels["listed"] == labels["any"] <= labels["any_bound"] == 0.5
    assert "allowed: 1 in 5, 20%" in numbers["sentence"]
    assert "allowed: 2 in 5, 40%" in numbers["sentence"]
    assert "any" not in labels["sentence"].split("groups:")[0].replace("many", "")
    wider = shoal.attack([tmp_path / "out"], original=table, epsilons=[9]).to_dict()
    assert [one["epsilon"] for one in wider["linking"]] == [9, 0]
    assert wider["guessing"] == found["guessing"]  # what is promised stays what it is


def test_a_share_of_the_guess_is_guessed_from_what_is_listed(tmp_path):
    table = people().with_columns(pl.col("s") + 1)
    asked = "EpsilonM(epsilon=0.1, m=4, relative=True)"
    schema = shoal.Schema(quasi="q", sensitive="s")
    shoal.anonymize(table, schema, require=asked).write(tmp_path / "out")
    (found,) = shoal.attack([tmp_path / "out"]).guesses
    assert found.any is None
    assert found.listed <= 0.25
    assert "to within 10% of the guess" in found.to_dict()["sentence"]
