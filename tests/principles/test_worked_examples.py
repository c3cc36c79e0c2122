"""Every worked example of the (ε,m) and (δ,l) papers, on the product itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.principles.groups import Groups
from shoal.principles.ordered import Ranked
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

ANDY = {
    "age": [17, 19, 20, 24, 29, 34, 39, 45],
    "zip": [12, 13, 14, 16, 21, 24, 36, 39],
    "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
    "group": [1, 1, 1, 1, 2, 2, 3, 3],
}
RUNNING = code_column(pl.Series("salary", ANDY["salary"]))


def measured(principle, values):
    column = code_column(pl.Series("s", values, strict=False), kind="numeric")
    group = Groups(np.zeros(len(values), np.int64))
    return principle.measure(group, Sensitive.of((column,)))


def risk(principle, values):
    return measured(principle, values).risk


def holds(principle, values):
    return measured(principle, values).holds


def test_andys_risk_for_900_to_1100_is_three_quarters():
    assert risk(shoal.principles.EpsilonM(epsilon=100, m=2), ANDY["salary"][:4]) == Fraction(3, 4)


def test_the_published_table_of_the_paper_breaches_proximity():
    published = pl.DataFrame(
        {
            "group": ANDY["group"],
            "age": ["[17, 24]"] * 4 + ["[29, 34]"] * 2 + ["[39, 45]"] * 2,
            "salary": ANDY["salary"],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="salary")
    audit = shoal.audit(published, schema, require=shoal.principles.EpsilonM(epsilon=100, m=2))
    assert not audit.holds
    measured = audit.findings[0].measurement
    assert measured.sizes[measured.breaches].tolist() == [4]


@pytest.mark.parametrize("values", [[40, 60], [50, 80]])
def test_two_groups_hold_whose_union_does_not(values):
    principle = shoal.principles.EpsilonM(epsilon=15, m=2)
    assert holds(principle, values)
    assert not holds(principle, [40, 60, 50, 80])
    assert risk(principle, [40, 60, 50, 80]) == Fraction(3, 4)


def test_forty_fifty_sixty_has_risk_one():
    assert risk(shoal.principles.EpsilonM(epsilon=15, m=2), [40, 50, 60]) == 1


def test_the_two_groups_of_the_revision_paper():
    assert risk(shoal.principles.EpsilonM(epsilon=15, m=2), [40, 60]) == Fraction(1, 2)
    assert risk(shoal.principles.EpsilonM(epsilon=15, m=2), [40, 50, 60]) == 1
    assert risk(shoal.principles.DeltaL(delta=15, l=2), [40, 60]) == 1


def test_monotonicity_of_delta_l_fails_and_that_of_window_holds():
    delta = shoal.principles.DeltaL(delta=7.5, l=2)
    assert holds(delta, [40, 60])
    assert holds(delta, [50, 80])
    assert not holds(delta, [40, 60, 50, 80])
    window = shoal.principles.Window(width=15, m=2)
    assert holds(window, [40, 60])
    assert holds(window, [50, 80])
    assert holds(window, [40, 60, 50, 80])


def test_window_of_thirty_finds_both_groups_at_risk_one():
    assert risk(shoal.principles.Window(width=30, m=2), [40, 60]) == 1
    assert risk(shoal.principles.Window(width=30, m=2), [40, 50, 60]) == 1


def test_maxsize_is_three_and_m_at_most_two_in_the_running_example():
    for below, above in ((20, 10000), (10000, 20)):
        principle = shoal.principles.Neighbourhood(below=below, above=above, m=2)
        assert principle.maxsize(Sensitive.of((RUNNING,))) == 3
        assert principle.largest(Sensitive.of((RUNNING,))) == 2
    assert Ranked.of(RUNNING).bound(3) == 20


def test_maxsize_of_the_two_parts_in_lemma_2():
    principle = shoal.principles.Neighbourhood(below=20, above=10000, m=2)
    low = code_column(pl.Series("s", [1000, 1010]))
    rest = code_column(pl.Series("s", [1020, 16000, 24000, 31000, 33000, 50000]))
    assert principle.maxsize(Sensitive.of((low,))) == 2
    assert principle.maxsize(Sensitive.of((rest,))) == 3


def test_relative_two_tenths_is_closed_at_both_ends():
    principle = shoal.principles.EpsilonM(epsilon=0.2, m=2, relative=True)
    assert risk(principle, [100, 120]) == 1  # 120 lies in [80, 120]
    assert risk(principle, [100, 126]) == Fraction(1, 2)
    assert risk(principle, [80, 100]) == 1
    assert risk(principle, [79, 100]) == Fraction(1, 2)


def test_relative_needs_no_logarithm_over_zero_and_negatives():
    principle = shoal.principles.EpsilonM(epsilon=0.5, m=2, relative=True)
    assert risk(principle, [0, 0]) == 1
    assert risk(principle, [0, 1]) == Fraction(1, 2)
    assert risk(principle, [-10, -15]) == 1
    assert risk(principle, [-10, -20]) == 1  # -10 lies in [-30, -10] of -20, though not the reverse
    assert risk(principle, [-10, -21]) == Fraction(1, 2)


def test_uniform_values_reach_m_ten_for_a_tenth():
    values = code_column(pl.Series("s", [i / 99 for i in range(100)]))
    assert shoal.principles.EpsilonM(epsilon=0.1, m=2).largest(Sensitive.of((values,))) == 10


@pytest.mark.parametrize(
    "principle",
    [
        shoal.principles.EpsilonM(epsilon=1, m=2),
        shoal.principles.DeltaL(delta=1, l=2),
        shoal.principles.Window(width=1, m=2),
        shoal.principles.KAnonymity(k=2),
    ],
)
def test_a_group_of_one_has_risk_one_and_fails(principle):
    assert risk(principle, [5]) == 1
    assert not holds(principle, [5])


def test_a_tenth_apart_in_decimals_is_a_tie_and_near():
    assert (
        risk(shoal.principles.EpsilonM(epsilon=0.1, m=2), [0.3, 0.4]) == 1
    )  # 0.4 - 0.3 > 0.1 in doubles
    assert risk(shoal.principles.EpsilonM(epsilon=0.1, m=2), [0.3, 0.41]) == Fraction(1, 2)


def test_integers_beyond_doubles_are_told_apart():
    big = 2**60
    assert risk(shoal.principles.EpsilonM(epsilon=0, m=2), [big, big + 1]) == Fraction(1, 2)
    assert risk(shoal.principles.EpsilonM(epsilon=1, m=2), [big, big + 1]) == 1
