"""The running examples of both general papers, and what follows from their definitions."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import shoal
from reference import partitions
from shoal.principles.groups import Groups
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive

DISEASE = (  # GP Table I: flu, asthma, bronchitis, none
    [0.5, 0.4, 0.4, 0.3, 0.2, 0.2, 0.8, 0.3],
    [0.3, 0.3, 0.2, 0.4, 0.7, 0.6, 0.1, 0.1],
    [0.1, 0.2, 0.2, 0.2, 0.1, 0.2, 0.0, 0.5],
    [0.1, 0.1, 0.2, 0.1, 0.0, 0.0, 0.1, 0.1],
)
SYNDROME = (  # XC Table I: allergy, asthma, myocarditis
    [0.8, 0.6, 0.7, 1.0, 0.1, 0.2, 0.8, 0.4, 0.6, 1.0],
    [0.0, 0.4, 0.1, 0.2, 0.9, 0.5, 0.1, 0.3, 0.9, 0.7],
    [0.0, 0.4, 0.1, 0.2, 0.9, 0.2, 0.9, 0.5, 0.3, 0.7],
)


def measured(principle, columns, labels=None):
    coded = (code_column(pl.Series(f"c{i}", list(c))) for i, c in enumerate(columns))
    value = Sensitive.of(tuple(coded))
    groups = Groups(np.array(labels or [0] * len(columns[0])))
    return principle.measure(groups, value)


def dissimilarity(distance, epsilon=0.1, delta=0.5, k=2):
    return shoal.principles.Dissimilarity(epsilon=epsilon, delta=delta, k=k, distance=distance)


def test_kevins_group_has_risk_three_quarters_by_total_variation():
    principle = dissimilarity(shoal.distances.TotalVariation())
    group = [column[:5] for column in DISEASE]
    assert measured(principle, group).risk == Fraction(3, 4)


def test_alices_group_has_risk_three_quarters_by_the_smallest_difference():
    principle = dissimilarity(shoal.distances.SmallestDifference())
    group = [column[:5] for column in SYNDROME]
    assert measured(principle, group).risk == Fraction(3, 4)


def test_both_groups_of_the_xcolor_table_are_measured():
    principle = dissimilarity(shoal.distances.SmallestDifference())
    found = measured(principle, SYNDROME, [0] * 5 + [1] * 5)
    assert found.parts[0] == 3
    assert not found.holds


@pytest.mark.parametrize("delta", [0.1, 0.5, 0.8, 0.9, 1])
def test_the_bound_is_rational_and_never_a_double(delta):
    principle = shoal.principles.Dissimilarity(
        epsilon=0, delta=delta, k=2, distance=shoal.distances.Equality()
    )
    for size in range(1, 200):
        wanted = 1 + (1 - Fraction(str(delta))) * (size - 1)
        assert principle.allowed(size) == wanted.numerator // wanted.denominator
    assert principle.allowed(11) == 1 + round(10 * (1 - delta))  # floor((1 - 0.9) * 10) is 1


def test_at_most_means_that_the_bound_itself_holds():
    principle = shoal.principles.Dissimilarity(
        epsilon=0, delta=0.5, k=2, distance=shoal.distances.Equality()
    )
    assert measured(principle, (["a", "a", "b"],)).risk == Fraction(1, 2)
    assert measured(principle, (["a", "a", "b"],)).holds
    assert not measured(principle, (["a", "a", "a", "b"],)).holds


def test_a_group_of_one_has_risk_one():
    principle = shoal.principles.Dissimilarity(
        epsilon=0, delta=0.1, k=1, distance=shoal.distances.Equality()
    )
    assert measured(principle, (["a"],)).risk == 1
    assert not measured(principle, (["a"],)).holds


def test_groups_smaller_than_k_fail():
    principle = shoal.principles.Dissimilarity(
        epsilon=0, delta=0.5, k=3, distance=shoal.distances.Equality()
    )
    assert not measured(principle, (["a", "b"],)).holds


def test_frequency_l_and_alpha_k_count_equal_values():
    values = (["a", "a", "b", "c"],)
    assert measured(shoal.principles.FrequencyL(l=2), values).risk == Fraction(1, 2)
    assert measured(shoal.principles.FrequencyL(l=2), values).holds
    assert not measured(shoal.principles.FrequencyL(l=3), values).holds
    assert measured(shoal.principles.AlphaK(alpha=0.5, k=4), values).holds
    assert not measured(shoal.principles.AlphaK(alpha=0.49, k=4), values).holds
    assert not measured(shoal.principles.AlphaK(alpha=0.5, k=5), values).holds


def test_a_composite_value_is_equal_only_in_all_its_columns():
    assert measured(shoal.principles.FrequencyL(l=2), (["a", "a"], ["x", "y"])).holds
    assert not measured(shoal.principles.FrequencyL(l=2), (["a", "a"], ["x", "x"])).holds


def test_what_is_planned_is_what_some_partition_keeps():
    """Tables of up to six rows, by every partition: fewer rows than a group needs included."""
    known = {True: 0, False: 0, None: 0}
    for seed in range(400):
        draw = random.Random(seed)
        values = [draw.choice([0, 1, 2, 5, 9]) for _ in range(draw.randint(1, 6))]
        epsilon, delta, k = (
            draw.choice([0, 1, 3]),
            draw.choice(["0", "0.5", "1"]),
            draw.randint(1, 7),
        )

        def holds(group, values=values, epsilon=epsilon, delta=delta, k=k):
            if len(group) < k:
                return False
            if len(group) == 1:
                return Fraction(delta) == 0
            near = [sum(abs(values[i] - values[j]) <= epsilon for j in group) - 1 for i in group]
            return max(near) <= (1 - Fraction(delta)) * (len(group) - 1)

        asked = f"Dissimilarity(epsilon={epsilon}, delta={delta}, k={k}, distance=Absolute())"
        frame = pl.DataFrame({"pay": values})
        planned = shoal.plan(frame, shoal.Schema(sensitive="pay"), require=asked)
        assert isinstance(planned, shoal.results.Guarantee)
        exists = partitions.exists(len(values), holds)
        assert planned.achievable in {None, exists}, (values, asked)
        known[planned.achievable] += 1
        if planned.largest_delta is not None:
            assert len(values) >= max(k, 2)
    assert known[True] > 50
    assert known[False] > 50
