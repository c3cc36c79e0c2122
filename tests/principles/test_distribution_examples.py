"""Worked examples of the papers on l-diversity, t-closeness, spread, disclosure and likeness."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import BadParameter, UsageError
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive


def measured(principle, *groups):
    values = [value for group in groups for value in group]
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return principle.measure(Groups(labels), Sensitive.of((code_column(pl.Series("s", values)),)))


def risk_of_each(principle, *groups):
    found = measured(principle, *groups)
    return [Fraction(int(p), int(w)) for p, w in zip(found.parts, found.wholes, strict=True)]


# Li, Li, Venkatasubramanian, ICDE 2007: Table 3 (salaries) and Table 5.
SALARIES = ([3, 4, 5], [6, 11, 8], [7, 9, 10])
MIXED_SALARIES = ([3, 5, 9], [6, 11, 8], [4, 7, 10])
DISEASES = (
    ["gastric ulcer", "stomach cancer", "pneumonia"],
    ["gastritis", "flu", "bronchitis"],
    ["gastritis", "bronchitis", "stomach cancer"],
)
TREE = shoal.distances.Hierarchical(
    levels=(
        ("flu", "respiratory infection", "respiratory", "disease"),
        ("pneumonia", "respiratory infection", "respiratory", "disease"),
        ("bronchitis", "respiratory infection", "respiratory", "disease"),
        ("gastric ulcer", "stomach", "digestive", "disease"),
        ("gastritis", "stomach", "digestive", "disease"),
        ("stomach cancer", "stomach", "digestive", "disease"),
    )
)


def test_low_salaries_are_far_from_the_table_and_mixed_ones_are_near():
    found = risk_of_each(shoal.principles.TCloseness(t=0.2, ground="ordered"), *SALARIES)
    assert found[0] == Fraction(3, 8)
    assert found[1] == Fraction(1, 6)


def test_salaries_of_table_5_are_close():
    """The paper: 0.167-closeness with respect to salary."""
    found = measured(shoal.principles.TCloseness(t=0.167, ground="ordered"), *MIXED_SALARIES)
    assert found.holds
    assert found.risk == Fraction(1, 6)


def test_diseases_are_compared_at_every_level():
    """By hand: of gastritis, flu and bronchitis 4/9 differ, and 2/9 at both levels above.

    The paper prints 0.278 for Table 5; its own formula, on its own table and hierarchy, gives
    8/27 = 0.296 for this group, and 7/27 for the first.
    """
    found = risk_of_each(shoal.principles.TCloseness(t=0.3, ground=TREE), *DISEASES)
    assert found[1] == (Fraction(4, 9) + Fraction(2, 9) + Fraction(2, 9)) / 3
    assert found[0] == Fraction(7, 27)
    assert max(found) == Fraction(8, 27)


def test_one_value_is_as_close_as_can_be():
    assert risk_of_each(shoal.principles.TCloseness(t=0, ground="ordered"), [1, 1], [1]) == [0, 0]


def test_two_equally_likely_values_have_entropy_level_two():
    found = measured(shoal.principles.EntropyL(l=2), ["a", "b", "a", "b"])
    assert found.risk == Fraction(1, 2)
    assert found.holds


def test_an_entropy_that_meets_its_level_with_unequal_shares_holds():
    """Shares of 1/2 and four times 1/8 have the entropy of four equal ones."""
    found = measured(shoal.principles.EntropyL(l=4), list("aaaabcde"))
    assert found.risk == Fraction(1, 4)
    assert found.holds
    assert not measured(shoal.principles.EntropyL(l=4.000000001), list("aaaabcde")).holds


def test_the_inpatients_are_three_diverse_by_count_but_not_by_entropy():
    """Machanavajjhala et al., Figure 3: each block has shares of 1/2, 1/4 and 1/4."""
    block = ["cancer", "cancer", "heart", "viral"]
    assert measured(shoal.principles.DistinctL(l=3), block).holds
    assert not measured(shoal.principles.EntropyL(l=3), block).holds
    assert measured(shoal.principles.EntropyL(l=2.8), block).holds


@pytest.mark.parametrize(("c", "holds"), [(1, False), (8, False), (8.01, True)])
def test_counts_8_1_1_need_a_c_above_8(c, holds):
    group = ["a"] * 8 + ["b", "c"]
    assert measured(shoal.principles.RecursiveCL(c=c, l=3), group).holds == holds


def test_spread_does_not_stop_proximity():
    """Andy's group (EM, Table 2b): three of four salaries are alike, yet it is spread widely."""
    group = [1000, 1010, 1020, 50000]
    assert measured(shoal.principles.KE(k=4, e=49000), group).holds
    assert not measured(shoal.principles.KE(k=4, e=49000.5), group).holds
    assert measured(shoal.principles.Variance(at_least=450_000_000), group).holds
    assert measured(shoal.principles.EpsilonM(epsilon=100, m=2), group).risk == Fraction(3, 4)


def test_a_variance_that_lacks_a_half_says_so():
    assert measured(shoal.principles.Variance(at_least=2), [1, 3]).risk == Fraction(1, 2)


def test_the_table_of_sweeney_is_two_anonymous():
    """Sweeney (2002), Figure 2: race, birth, gender and zip; homogeneous groups do not matter."""
    rows = [
        ("black", 1965, "m", "0214*", "short breath"),
        ("black", 1965, "m", "0214*", "chest pain"),
        ("black", 1965, "f", "0213*", "hypertension"),
        ("black", 1965, "f", "0213*", "hypertension"),
        ("black", 1964, "f", "0213*", "obesity"),
        ("black", 1964, "f", "0213*", "chest pain"),
        ("white", 1964, "m", "0213*", "chest pain"),
        ("white", 1964, "m", "0213*", "obesity"),
        ("white", 1964, "m", "0213*", "short breath"),
        ("white", 1967, "m", "0213*", "chest pain"),
        ("white", 1967, "m", "0213*", "chest pain"),
    ]
    names = ["race", "birth", "gender", "zip", "problem"]
    table = pl.DataFrame(rows, schema=names, orient="row")
    schema = shoal.Schema(quasi=names[:4], sensitive="problem")
    assert shoal.audit(table, schema, require="KAnonymity(k=2)").holds
    assert not shoal.audit(table, schema, require="KAnonymity(k=3)").holds
    assert not shoal.audit(table, schema, require="DistinctL(l=2)").holds


def test_four_anonymous_inpatients_are_not_diverse():
    """Machanavajjhala et al., Figure 2: everybody of the third block has cancer."""
    blocks = (
        ["heart", "heart", "viral", "viral"],
        ["cancer", "heart", "viral", "viral"],
        ["cancer"] * 4,
    )
    assert measured(shoal.principles.KAnonymity(k=4), *blocks).holds
    found = risk_of_each(shoal.principles.DistinctL(l=2), *blocks)
    assert found == [Fraction(1, 2), Fraction(1, 3), 1]


def test_the_same_distance_can_be_a_small_or_a_huge_gain():
    """Cao and Karras: from 0.4 to 0.5 and from 0.01 to 0.11 are both 0.1, gains of 1/4 and 10."""
    small = ["hiv"] * 5 + ["flu"] * 5, ["hiv"] * 35 + ["flu"] * 55
    huge = ["hiv"] * 11 + ["flu"] * 89, ["flu"] * 1000
    for groups, gain in ((small, Fraction(1, 4)), (huge, 10)):
        assert risk_of_each(shoal.principles.TCloseness(t=0.1), *groups)[0] == Fraction(1, 10)
        assert risk_of_each(shoal.principles.BetaLikeness(beta=10), *groups)[0] == gain


@pytest.mark.parametrize(("delta", "holds"), [(0.6932, True), (0.6931, False)])
def test_a_share_that_doubles_is_ln_2_away(delta, holds):
    """Brickell and Shmatikov, Definition 3: from q = 1/4 to p = 1/2, |ln(p / q)| = 0.69315."""
    groups = ["a", "b"], ["a", "b", "b", "b", "b", "b"]
    found = measured(shoal.principles.DeltaDisclosure(delta=delta), *groups)
    assert risk_of_each(shoal.principles.DeltaDisclosure(delta=delta), *groups)[0] == Fraction(1, 2)
    assert found.holds == holds


@pytest.mark.parametrize(
    ("group", "unique"),
    [
        (["dyspepsia", "bronchitis"], True),
        (["flu", "gastritis", "dyspepsia"], True),
        (["gastritis", "flu", "gastritis"], False),
        (["flu"], False),
    ],
)
def test_all_diseases_of_a_two_unique_group_are_different(group, unique):
    """Xiao and Tao, Definition 2, with diseases of their hospital."""
    assert measured(shoal.principles.MUniqueness(m=2), group).holds == unique


def test_a_group_without_some_value_discloses():
    found = measured(shoal.principles.DeltaDisclosure(delta=9), ["a", "b"], ["a", "a"])
    assert found.breaches.tolist() == [False, True]
    assert found.risk == 1


def test_enhanced_likeness_keeps_frequent_values_from_becoming_certain():
    """With q = 1/2 a gain of 1 makes a value certain; -ln q is 0.69."""
    groups = ["a", "a"], ["b", "b"]
    assert measured(shoal.principles.BetaLikeness(beta=1), *groups).holds
    assert not measured(shoal.principles.BetaLikeness(beta=1, enhanced=True), *groups).holds


def test_numbers_beyond_64_bits_are_measured_exactly():
    huge = [10**18, 10**18 + 2]
    assert measured(shoal.principles.Variance(at_least=1), huge).holds
    assert not measured(shoal.principles.Variance(at_least=1.0001), huge).holds


@pytest.mark.parametrize(
    "make",
    [
        lambda: shoal.principles.EntropyL(l=0.5),
        lambda: shoal.principles.RecursiveCL(c=0, l=2),
        lambda: shoal.principles.TCloseness(t=1.5),
        lambda: shoal.principles.TCloseness(t=0.5, ground="cosine"),
        lambda: shoal.principles.BetaLikeness(beta=1, enhanced=1),  # type: ignore[arg-type]
        lambda: shoal.principles.DeltaDisclosure(delta=0),
        lambda: shoal.principles.KE(k=0, e=1),
        lambda: shoal.principles.MUniqueness(m=0),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(BadParameter):
        make()


def test_several_columns_have_no_order():
    both = Sensitive.of(tuple(code_column(pl.Series(name, [1, 2])) for name in "ab"))
    with pytest.raises(UsageError):
        shoal.principles.TCloseness(t=1, ground="ordered").measure(
            Groups(np.zeros(2, np.int64)), both
        )


def test_a_missing_quasi_value_drops_no_record():
    published = pl.DataFrame({"age": ["20", "20", None], "illness": ["a", "b", "c"]})
    schema = shoal.Schema(quasi="age", sensitive="illness")
    audit = shoal.audit(published, schema, require=["KAnonymity(k=2)", "DistinctL(l=2)"])
    assert audit.groups == 2
    assert [finding.measurement.risk for finding in audit.findings] == [1, 1]


def test_row_labels_do_not_matter():
    pandas = pytest.importorskip("pandas")
    rows = {"age": [1, 1, 2, 2], "illness": ["a", "b", "c", "c"]}
    schema = shoal.Schema(quasi="age", sensitive="illness")
    for index in ([0, 1, 2, 3], [2, 0, 3, 1], [7, 7, 7, 7]):
        frame = pandas.DataFrame(rows, index=index)
        audit = shoal.audit(frame, schema, require="DistinctL(l=2)")
        assert audit.findings[0].measurement.breaches.sum() == 1
