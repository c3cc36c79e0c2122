"""Perturbation and anatomy: the papers' examples, chance, errors and files."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.exact import downward
from shoal.release.layout import Randomness
from shoal.table.reading import read_table
from shoal.utility.retention import best_p, breach_risk

SCHEMA = shoal.Schema(quasi="age", sensitive="pay")
ROWS = 4_000


def uniform(rows=1000):
    """Values spread evenly over [0, 1), in steps of a thousandth."""
    pay = [step / rows for step in range(rows)]
    return pl.DataFrame({"age": [row % 50 for row in range(rows)], "pay": pay})


def skewed():
    """Whole numbers of 0 to 99, half of them under 20."""
    pay = np.concatenate([np.arange(ROWS // 2) % 20, np.arange(ROWS // 2) % 80 + 20])
    return pl.DataFrame({"age": np.arange(ROWS) % 50, "pay": pay})


def test_the_uniform_example_of_the_paper():
    fifth = Fraction(1, 5)  # epsilon = 0.1: the neighbourhood has length 0.2
    best = best_p(fifth, fifth, 4)
    assert best == Fraction(1, 16)
    assert best < Fraction(7, 100)
    assert breach_risk(fifth, fifth, best) == Fraction(1, 4)
    assert best_p(fifth, fifth, 5) == 0
    assert best_p(fifth, fifth, 6) is None


def test_the_uniform_example_on_a_table():
    # The ends of a closed neighbourhood are a thousandth more than its length.
    found = shoal.rivals.Perturb.best(
        uniform(), SCHEMA, require=shoal.principles.EpsilonM(epsilon=0.1, m=4)
    )
    assert found.p is not None
    assert 0.06 < found.p < 0.07
    assert found.p == best_p(Fraction(201, 1000), Fraction(201, 1000), 4)
    assert "with p up to 0.06" in found.sentence
    # At an edge half of the neighbourhood lies outside the domain, and is cut off.
    assert found.best[0] == best_p(Fraction(101, 1000), Fraction(101, 1000), 4)
    assert found.rows[0] > found.rows[500]
    assert found.rows.min() == downward(found.p)


def test_only_p_0_and_no_p():
    table = pl.DataFrame({"age": [1] * 10, "pay": [0, 0, 100, 200, 300, 400, 500, 600, 700, 800]})
    only = shoal.rivals.Perturb.best(
        table, SCHEMA, require=shoal.principles.EpsilonM(epsilon=10, m=5)
    )
    assert only.p == 0
    assert "only with p = 0" in only.sentence
    assert only.rows[2] > 0
    assert shoal.rivals.Perturb.meeting(table, SCHEMA, require="EpsilonM(epsilon=10, m=5)").p == 0
    none = shoal.rivals.Perturb.best(
        table, SCHEMA, require=shoal.principles.EpsilonM(epsilon=10, m=6)
    )
    assert none.p is None
    assert np.isnan(none.rows).tolist() == [True] * 2 + [False] * 8
    with pytest.raises(shoal.NotAchievable, match=r"the risk is 0\.2, .* near 0, and 0\.1667"):
        shoal.rivals.Perturb.meeting(
            table, SCHEMA, require=shoal.principles.EpsilonM(epsilon=10, m=6)
        )


def test_a_relative_neighbourhood_has_a_length_of_its_own_for_every_tuple():
    table = pl.DataFrame({"age": [1] * 4, "pay": [100, 200, 400, 800]})
    require = shoal.principles.EpsilonM(epsilon=0.1, m=2, relative=True)
    found = shoal.rivals.Perturb.best(table, SCHEMA, require=require, domain=(0, 999))
    assert found.covered.tolist() == [21, 41, 81, 161]
    assert found.p == found.best[0] == best_p(Fraction(1, 4), Fraction(21, 1000), 2)


def test_a_p_is_never_rounded_up():
    for ratio in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(0)):
        assert Fraction(str(downward(ratio))) <= ratio
        assert ratio - Fraction(str(downward(ratio))) < Fraction(1, 10**15)


def deviations(estimates, truth, deviation):
    """How many standard deviations the mean of several estimates is off."""
    return (np.mean(estimates) - truth) / (deviation / sqrt(len(estimates)))


def test_reconstruction_is_unbiased_and_the_test_would_notice_if_it_were_not():
    table, perturb = skewed(), shoal.rivals.Perturb(p=0.3)
    published = [perturb.publish(table, SCHEMA, seed=seed) for seed in range(100)]
    truth = ROWS // 2
    counted = [one.count(0, 19) for one in published]
    counts = np.array([one.count for one in counted])
    deviation = counted[0].deviation
    assert abs(deviations(counts, truth, deviation)) < 4.5
    assert 0.75 < counts.std() / deviation < 1.25
    seen = [one.published["pay"].is_between(0, 19).sum() for one in published]
    assert abs(deviations(seen, truth, deviation)) > 20  # taken as they are
    wrong = counts * 0.3 / 0.31  # as if p were 0.31
    assert abs(deviations(wrong, truth, deviation)) > 4.5
    some = [one.count(0, 19, where=pl.col("age") < 10) for one in published]
    true_some = table.filter(pl.col("age") < 10)["pay"].is_between(0, 19).sum()
    assert abs(deviations([s.count for s in some], true_some, some[0].deviation)) < 4.5


def test_secure_chance_retains_with_p_and_draws_noise_uniformly():
    rows = 20_000
    table = pl.DataFrame({"age": range(rows), "pay": [0] * (rows - 1) + [9]})
    shown = shoal.rivals.Perturb(p=0.25).publish(table, SCHEMA).published["pay"]
    expected = rows * np.array([0.325, *[0.075] * 9])  # 0.25 + 0.75 / 10, and 0.75 / 10

    def chi_square(counts):
        return ((counts - expected) ** 2 / expected).sum()

    assert chi_square(np.bincount(shown, minlength=10)) < 55  # 9 degrees of freedom: one in 10^7
    assert chi_square(rows * np.array([0.37, *[0.07] * 9])) > 150  # what p = 0.3 would give
    again = shoal.rivals.Perturb(p=0.25).publish(table, SCHEMA).published["pay"]
    assert not shown.equals(again)


def test_p_1_changes_nothing_and_p_0_leaves_nothing_to_count():
    table = skewed()
    same = shoal.rivals.Perturb(p=1).publish(table, SCHEMA)
    assert same.published.sort("age", "pay").equals(table.sort("age", "pay"))
    assert same.count(0, 19).count == ROWS // 2
    assert same.count(0, 19).deviation == 0
    with pytest.raises(shoal.UsageError, match="no count can be reconstructed"):
        shoal.rivals.Perturb(p=0).publish(table, SCHEMA).count(0, 19)


def test_noise_has_the_decimals_of_the_column_and_frames_come_back_as_they_came():
    table = pd.DataFrame({"name": ["x"] * 500, "age": range(500), "pay": [1.25, 3.5] * 250})
    schema = shoal.Schema(quasi="age", sensitive="pay", identifying="name")
    made = shoal.rivals.Perturb(p=0.1, domain=(0, 5)).publish(table, schema, seed=1)
    shown = made.table
    assert isinstance(shown, pd.DataFrame)
    assert list(shown.columns) == ["age", "pay"]
    assert shown["pay"].between(0, 5).all()
    assert shown["pay"].nunique() > 200
    assert (shown["pay"].round(2) == shown["pay"]).all()
    assert list(shown["age"]) != list(range(500))


@pytest.mark.parametrize("bound", [1, 3, 10, 2**62, 2**63 - 1])
def test_secure_numbers_stay_under_their_bound(bound):
    (drawn,) = Randomness().below((bound, 2_000))
    assert drawn.min() >= 0
    assert drawn.max() < bound
    if bound <= 10:
        assert len(set(drawn.tolist())) == bound


def test_what_perturbation_refuses():
    table = skewed()
    with pytest.raises(shoal.UsageError, match="at most 1"):
        shoal.rivals.Perturb(p=1.5)
    wrong: list[Any] = [(1,), "ab", (2, 1), (0, float("inf"))]
    for domain in wrong:
        with pytest.raises(shoal.UsageError, match="two numbers"):
            shoal.rivals.Perturb(p=0.5, domain=domain)
    with pytest.raises(shoal.UsageError, match="does not hold all values of pay"):
        shoal.rivals.Perturb(p=0.5, domain=(10, 200)).publish(table, SCHEMA)
    with pytest.raises(shoal.UsageError, match="judged by EpsilonM"):
        shoal.rivals.Perturb.best(table, SCHEMA, require=shoal.principles.FrequencyL(l=2))
    two = shoal.Schema(sensitive=["age", "pay"])
    with pytest.raises(shoal.UsageError, match="one sensitive column"):
        shoal.rivals.Perturb(p=0.5).publish(table, two)
    with pytest.raises(shoal.UsageError, match="no rows"):
        shoal.rivals.Perturb(p=0.5).publish(table.clear(), SCHEMA)
    with pytest.raises(shoal.InputError, match="too large or too fine"):
        shoal.rivals.Perturb(p=0.5).publish(
            pl.DataFrame({"age": [1, 2], "pay": [1e-30, 1e5]}), SCHEMA
        )
    with pytest.raises(shoal.UsageError, match="rival, but a method is needed"):
        shoal.anonymize(table, SCHEMA, require="EpsilonM(epsilon=1, m=2)", method="Perturb(p=0.1)")


def hospital():
    """Table 1 of the anatomy paper: eight people, five illnesses."""
    ill = [
        "pneumonia",
        "dyspepsia",
        "dyspepsia",
        "pneumonia",
        "flu",
        "gastritis",
        "flu",
        "bronchitis",
    ]
    return pl.DataFrame({"age": [23, 27, 35, 59, 61, 65, 65, 70], "sex": [*"MMMMFFFF"], "ill": ill})


def test_anatomy_writes_two_tables_that_keep_l(tmp_path):
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="ill")
    both = shoal.rivals.Anatomy(l=4).publish(hospital(), schema)
    assert both.write(tmp_path / "out").risk == Fraction(1, 4)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "quasi.csv",
        "sensitive.csv",
    ]
    quasi, sensitive = (read_table(tmp_path / "out" / f"{n}.csv") for n in ("quasi", "sensitive"))
    assert quasi.columns == ["group", "age", "sex"]
    assert sensitive.columns == ["group", "ill"]
    assert (
        quasi.select("age", "sex")
        .sort("age", "sex")
        .equals(hospital().select(pl.col("age").cast(str), "sex").sort("age", "sex"))
    )
    with pytest.raises(shoal.OutputError, match="exists"):
        both.write(tmp_path / "out")
    with pytest.raises(shoal.NotAchievable, match="l can be 4 at most"):
        shoal.rivals.Anatomy(l=5).publish(hospital(), schema)


def test_anatomy_takes_several_sensitive_columns_together_and_repeats_by_seed():
    schema = shoal.Schema(quasi="age", sensitive=["sex", "ill"])
    one, two = (
        shoal.rivals.Anatomy(l=8 // 2).publish(hospital(), schema, seed=7) for _ in range(2)
    )
    assert one.quasi.equals(two.quasi)
    assert one.sensitive.equals(two.sensitive)
    assert one.sensitive.columns == ["group", "sex", "ill"]
    with pytest.raises(shoal.UsageError, match="name one in the schema"):
        shoal.rivals.Anatomy(l=2).publish(hospital(), shoal.Schema(quasi="age"))


def test_tables_that_do_not_belong_together_are_not_written(tmp_path):
    schema = shoal.Schema(quasi="age", sensitive="ill")
    both = shoal.rivals.Anatomy(l=4).publish(hospital(), schema)
    torn = type(both)(both.quasi_table[1:], both.sensitive_table, both.method, schema, both.given)
    with pytest.raises(shoal.AuditFailed, match="their groups differ"):
        torn.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_neither_order_tells_which_row_is_whose():
    rows = 600
    table = pl.DataFrame({"age": range(rows), "pay": range(rows)})
    both = shoal.rivals.Anatomy(l=3).publish(table, SCHEMA)
    for shown in (both.quasi["age"], both.sensitive["pay"]):
        assert abs(np.corrcoef(shown, np.arange(rows))[0, 1]) < 0.25
    assert abs(np.corrcoef(both.quasi["age"], both.sensitive["pay"])[0, 1]) < 0.25
