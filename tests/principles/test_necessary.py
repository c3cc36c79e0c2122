"""What a plan says of people with several rows is necessary: nothing that exists breaks it."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.principles.foresight import RequirementPlan


def partitions(members):
    """Yield all ways to divide members into groups."""
    if not members:
        yield []
        return
    first, *rest = members
    for count in range(len(rest) + 1):
        for some in combinations(rest, count):
            left = [one for one in rest if one not in some]
            for others in partitions(left):
                yield [[first, *some], *others]


def keeps(group, values, epsilon, m):
    """Say whether at most one in m has a value near each value, among those with as many rows."""
    for count in {len(values[one]) for one in group}:
        alike = [one for one in group if len(values[one]) == count]
        for one in alike:
            for v in values[one]:
                near = sum(any(abs(u - v) <= epsilon for u in values[other]) for other in alike)
                if near * m > len(alike):
                    return False
    return True


def achievable(values, epsilon, m):
    return any(
        all(keeps(group, values, epsilon, m) for group in groups)
        for groups in partitions(list(values))
    )


def narrowest(values, people):
    """Return the narrowest range in which so many people have a value, by looking at all."""
    every = sorted(v for one in values.values() for v in one)
    widths = [
        high - low
        for low in every
        for high in every
        if high >= low
        and sum(any(low <= v <= high for v in one) for one in values.values()) >= people
    ]
    return min(widths, default=None)


def drawn(seed):
    chance = np.random.default_rng(seed)
    people = int(chance.integers(2, 7))
    heavy = chance.integers(0, 2)
    values = {
        one: [int(v) for v in chance.integers(0, 12, 1 + (chance.integers(0, 3) if heavy else 1))]
        for one in range(people)
    }
    rows = [(one, v) for one, owned in values.items() for v in owned]
    frame = pl.DataFrame(rows, schema=["who", "charges"], orient="row")
    return values, frame, shoal.Schema(sensitive="charges", person="who")


@pytest.mark.parametrize("seed", range(60))
def test_bounds_of_people_are_those_of_the_definition_and_never_rule_out_what_exists(seed):
    values, frame, schema = drawn(seed)
    people = len(values)
    for m in (2, 3):
        for epsilon in (0, 1, 3):
            plan = shoal.plan(frame, schema, epsilon=epsilon, m=m)
            assert plan.necessary_only
            assert (plan.rows, plan.people) == (frame.height, people)
            wanted = max(
                sum(any(low <= v <= low + epsilon for v in one) for one in values.values())
                for low in range(13)
            )
            assert plan.largest_m == people // wanted
            width = narrowest(values, people // m + 1) if m <= people else 0
            assert plan.epsilon_bound == width
            assert (plan.achievable is False) == (m > plan.largest_m)
            known = shoal.plan(frame, schema, require=f"EpsilonM(epsilon={epsilon}, m={m})")
            assert isinstance(known, RequirementPlan)
            assert known.achievable is plan.achievable
            assert known.limits[0].limit == plan.largest_m
            if plan.achievable is False:
                assert not achievable(values, epsilon, m)


def test_the_bound_is_not_enough_where_people_have_several_values():
    """Everybody shares a value with somebody else, another one with each; nobody with all."""
    values = {0: [0, 100], 1: [0, 200], 2: [100, 200], 3: [300, 400]}
    rows = [(one, v) for one, owned in values.items() for v in owned]
    frame = pl.DataFrame(rows, schema=["who", "charges"], orient="row")
    schema = shoal.Schema(sensitive="charges", person="who")
    plan = shoal.plan(frame, schema, epsilon=1, m=2)
    assert plan.largest_m == 2
    assert plan.achievable is None
    assert plan.to_dict()["necessary_only"] is True
    assert plan.to_dict()["people"] == 4


def test_the_frontier_of_people_ends_where_nothing_is_left():
    values, frame, schema = drawn(7)
    found = shoal.plan(frame, schema).frontier
    assert found is not None
    assert [point.epsilon_bound for point in found] == [
        narrowest(values, len(values) // point.m + 1) for point in found
    ]


def test_one_row_a_person_is_planned_as_rows_are():
    frame = pl.DataFrame({"who": [1, 2, 3, 4], "charges": [1, 2, 30, 40]})
    with_people = shoal.plan(frame, shoal.Schema(sensitive="charges", person="who"), m=2)
    assert (
        with_people.to_dict() == shoal.plan(frame, shoal.Schema(sensitive="charges"), m=2).to_dict()
    )
    assert "people" not in with_people.to_dict()


def test_what_is_not_defined_for_several_values_is_refused_in_a_plan_too():
    _, frame, schema = drawn(3)
    with pytest.raises(shoal.UsageError, match="one value per person"):
        shoal.plan(frame, schema, require="TCloseness(t=0.2)")


def test_groups_of_people_are_at_most_all_of_them():
    _, frame, schema = drawn(5)
    people = frame["who"].n_unique()
    known = shoal.plan(frame, schema, require=f"KAnonymity(k={people + 1})")
    assert isinstance(known, RequirementPlan)
    assert known.achievable is False
    assert known.people == people
    assert known.limits[0].limit == people


def test_rows_that_chance_leaves_out_are_not_planned_for():
    values, frame, _ = drawn(0)
    assert max(map(len, values.values())) > 1
    schema = shoal.Schema(sensitive="charges", person="who", most_rows=1)
    with pytest.raises(shoal.UsageError, match="draws at random"):
        shoal.plan(frame, schema, m=2)
