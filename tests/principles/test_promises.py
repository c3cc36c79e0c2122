"""What a promise says is true of every guess: all are tried on all small groups that keep it."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from amount import LONG
from shoal.notation import parse
from shoal.principles.groups import UNLIMITED, Groups
from shoal.principles.requirement import requirements
from shoal.runs.consider import consider
from shoal.table.coding import code_column
from shoal.table.sensitive import Sensitive
from shoal.views.column_words import columns, guess_limits
from shoal.views.sentences import promised

pytestmark = pytest.mark.more

VALUES = (0, 1, 2, 3, 5, 7, 10)
HALVES = [Fraction(n, 2) for n in range(-4, 28)]
PERCENT = re.compile(r"([0-9.]+)%")


def groups_of(least: int = 1, most: int = 6 if LONG else 5):
    """Yield every multiset of few values."""
    for size in range(least, most + 1):
        yield from combinations_with_replacement(VALUES, size)


def named(text: str) -> Any:
    return parse(text)


def keeps(principle, group, rest=()) -> bool:
    """Return whether a group keeps a principle, beside the rest of its table."""
    values = Sensitive.of((code_column(pl.Series("pay", [*group, *rest]), kind="numeric"),))
    labels = np.repeat([0, 1], [len(group), len(rest)])
    measured = principle.measure(Groups(labels), values)
    return not bool(measured.breaches[0])


def chance(group, is_right) -> Fraction:
    return Fraction(sum(map(is_right, group)), len(group))


def kept(text: str, least: int = 1, rest=()):
    """Return a principle and the groups that keep it, all of them of one table.

    None of those here says more of a group than its own values, and the range of the column.
    """
    principle, every = named(text), [*groups_of(least), *([rest] if rest else [])]
    cells = pl.Series("pay", [value for group in every for value in group])
    labels = np.repeat(np.arange(len(every)), [len(group) for group in every])
    values = Sensitive.of((code_column(cells, kind="numeric"),))
    breaches = principle.measure(Groups(labels), values).breaches
    found = [group for group, breach in zip(every, breaches, strict=True) if not breach]
    assert found, text
    for group in found[:: len(found) // 9 + 1]:  # as each of them does beside nobody else
        assert keeps(principle, group, rest)
    return principle, found


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("epsilon", [0, 1, 2])
def test_epsilon_m(epsilon: int, m: int) -> None:
    principle, found = kept(f"EpsilonM(epsilon={epsilon}, m={m})")
    said = principle.promise("pay")
    assert f"at most 1 in {m}" in said
    if epsilon:
        assert (UNLIMITED if m == 2 else f"(any other guess: at most 2 in {m}).") in said
    listed = max(chance(g, lambda v, x=x: abs(v - x) <= epsilon) for g in found for x in g)
    other = max(chance(g, lambda v, x=x: abs(v - x) <= epsilon) for g in found for x in HALVES)
    assert listed == Fraction(1, m)
    assert other <= principle.guess.any == Fraction(2 if epsilon else 1, m)
    assert other == 1 or UNLIMITED not in said


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [2, 3])
def test_epsilon_m_by_shares_of_the_guess(m: int) -> None:
    principle, found = kept(f"EpsilonM(epsilon=0.5, m={m}, relative=True)")
    assert "that person's value is within 50% of the guess" in principle.promise("pay")
    half = Fraction(1, 2)
    assert all(
        chance(g, lambda v, x=x: abs(v - x) <= half * abs(x)) <= Fraction(1, m)
        for g in found for x in g
    )  # fmt: skip
    of_truth = [chance(g, lambda v, x=x: abs(v - x) <= half * abs(v)) for g in found for x in g]
    assert max(of_truth) > Fraction(1, m)  # so a promise about shares of the truth would be false


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [2, 3])
def test_neighbourhood(m: int) -> None:
    principle, found = kept(f"Neighbourhood(below=1, above=2, m={m})")
    assert "between 1 below and 2 above the guess" in principle.promise("pay")
    for group, guesses, most in ((g, *one) for g in found for one in ((g, 1), (HALVES, 2))):
        assert all(
            chance(group, lambda v, x=x: x - 1 <= v <= x + 2) <= Fraction(most, m) for x in guesses
        )


@pytest.mark.few(1)
@pytest.mark.parametrize("l", [2, 3])
def test_delta_l(l: int) -> None:
    principle, found = kept(f"DeltaL(delta=1, l={l})")
    assert f"it is within 1 of that person's value with a chance of at most 1 in {l}" in (
        principle.promise("pay")
    )
    for group in found:
        assert all(chance(group, lambda v, x=x: abs(v - x) <= 1) <= Fraction(1, l) for x in HALVES)
        assert all(chance(group, lambda v, x=x: abs(v - x) <= 2) <= Fraction(1, l) for x in group)


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [2, 3])
def test_window_holds_in_mixtures_too(m: int) -> None:
    principle, found = kept(f"Window(width=2, m={m})")
    assert "it is within 1 of that person's value" in principle.promise("pay")
    small = [group for group in found if len(group) <= 4]
    for one, other in product(small, small[::7]):
        for group in (one, one + other):
            assert all(
                chance(group, lambda v, x=x: abs(v - x) <= 1) <= Fraction(1, m) for x in HALVES
            )


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [2, 3])
def test_chain(m: int) -> None:
    principle, found = kept(f"Chain(epsilon=1, m={m})")
    assert "gap larger than 1" in principle.promise("pay")
    for group in found:
        runs, last = [], None
        for value in sorted(group):
            if last is None or value - last > 1:
                runs.append(0)
            runs[-1] += 1
            last = value
        assert max(runs) <= Fraction(len(group), m)


@pytest.mark.few(1)
@pytest.mark.parametrize(("delta", "k"), [("0.5", 3), ("0.75", 5), ("0.8", 4)])
def test_dissimilarity(delta: str, k: int) -> None:
    # Distances are shares of the table's range, which is 10 here: 0.1 is a difference of 1.
    principle, found = kept(f"Dissimilarity(epsilon=0.1, delta={delta}, k={k})", k, (0, 10))
    said = principle.on("pay").promise()
    others, listed, *rest = (Fraction(one) / 100 for one in PERCENT.findall(said))
    assert others >= 1 - Fraction(delta)
    assert (UNLIMITED in said) == (not rest)
    for group in found:
        for x in group:
            assert chance(group, lambda v, x=x: abs(v - x) <= 1) <= listed
        for x in HALVES:
            assert chance(group, lambda v, x=x: abs(v - x) <= 1) <= (rest[0] if rest else 1)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text",
    [
        "EpsilonM(epsilon=1, m=3)",
        "EpsilonM(epsilon=0.5, m=3, relative=True)",
        "Neighbourhood(below=1, above=2, m=3)",
        "DeltaL(delta=0.5, l=3)",
        "Chain(epsilon=1, m=3)",
        "Window(width=2, m=3)",
        "Dissimilarity(epsilon=1, delta=0.75, k=5, distance=Absolute())",
        "Dissimilarity(epsilon=0, delta=0.75, k=5, distance=Equality())",
        "FrequencyL(l=3)",
        "AlphaK(alpha=0.4, k=2)",
        "MUniqueness(m=3)",
    ],
)
def test_the_cell_of_a_column_gives_the_bound_of_every_guess_that_is_tried(text: str) -> None:
    principle, found = kept(text, 5 if "Dissimilarity" in text else 1)
    asked = principle.on("pay")
    bound = asked.guess
    said = guess_limits(
        {"guess": bound, "holds": True, "by_distance": "Dissimilarity" in text, "notation": text}
    )
    shares = [Fraction(one) / 100 + Fraction(1, 1000) for one in PERCENT.findall(said)[-2:]]
    if bound.any == bound.listed:
        assert "listed" not in said
    else:
        assert " for a listed value, " in said
        assert said.endswith(" for any other guess")
    width = Fraction(str(bound.width))
    for group in found:
        for x in {*HALVES, *group}:
            reach = width * abs(x) if bound.relative else width
            right = chance(group, lambda v, x=x, reach=reach: abs(v - x) <= reach)
            assert right <= (bound.listed if x in group else bound.any)
            assert right <= (shares[0] if x in group else shares[-1])


@pytest.mark.parametrize(
    ("text", "roles", "cells"),
    [
        ("pay+town: FrequencyL(l=4)", ["protected"] * 2, ["", ""]),
        (
            "pay: FrequencyL(l=4)",
            ["protected", "sensitive, nothing required"],
            ["a right guess: at most 1\xa0in\xa04 (25%)", ""],
        ),
    ],
)
def test_a_cell_says_only_what_is_limited_for_its_column_alone(text, roles, cells) -> None:
    measured = {"principle": text, "holds": True, "bound": 0.25, "risk": 0.2}
    names = [{"name": name, "role": "sensitive"} for name in ("pay", "town")]
    release = {"require": [text], "measured": [measured], "columns": names, "loss": {"ncp": {}}}
    shown = {"release": release | {"groups": 3, "form": "intervals"}, "shown": {"cells": []}}
    found = columns(shown)
    assert [one["role"] for one in found] == roles
    assert [one["cell"] for one in found] == cells


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text",
    ["FrequencyL(l=3)", "AlphaK(alpha=0.4, k=3)", "MUniqueness(m=3)", "RecursiveCL(c=2, l=2)"],
)
def test_guesses_of_exact_values(text: str) -> None:
    principle, found = kept(text)
    said = principle.promise("pay")
    most = PERCENT.findall(said)
    bound = Fraction(most[-1]) / 100 if most else Fraction(1, 3)
    assert most or "1 in 3" in said
    for group in found:
        for x in VALUES:
            assert chance(group, lambda v, x=x: v == x) <= bound


def test_recursive_diversity_holds_with_values_excluded() -> None:
    principle, found = kept("RecursiveCL(c=2, l=3)")
    said = principle.promise("pay")
    assert "the third most frequent and all rarer ones together, so even a reader who can" in said
    (bound,) = PERCENT.findall(said)
    for group in found:
        for gone in {*group}:
            left = [value for value in group if value != gone]
            if left:
                assert all(
                    chance(left, lambda v, x=x: v == x) <= Fraction(bound) / 100 for x in left
                )


def test_variance() -> None:
    principle, found = kept("Variance(at_least=4)")
    assert "root mean square error of any guess is at least 2." in principle.promise("pay")
    for group in found:
        assert all(sum((v - x) ** 2 for v in group) >= 4 * len(group) for x in HALVES)


REST = (0, 1, 1, 2, 5)  # the other rows of a table


def kept_beside(text: str, most: int = 4, rest=REST):
    """Return what a principle promises, and every small group that keeps it, with its table."""
    principle = named(text)
    found = [(g, (*g, *rest)) for g in groups_of(2, most) if keeps(principle, g, rest)]
    assert found, text
    return principle.promise("pay"), found


def sets_apart(group, whole, *, values: Any = VALUES, of: Any = lambda value: value) -> Fraction:
    """Return by how much the share of any set of values differs at most."""
    return max(
        abs(
            chance(group, lambda v, s=some: of(v) in s)
            - chance(whole, lambda v, s=some: of(v) in s)
        )
        for size in range(1, len(values))
        for some in combinations(values, size)
    )


def test_closeness_of_shares() -> None:
    said, found = kept_beside("TCloseness(t=0.25)")
    assert "by at most 25 percentage points" in said
    assert all(sets_apart(*both) <= Fraction(1, 4) for both in found)


def test_closeness_of_what_lies_below_cuts() -> None:
    said, found = kept_beside("TCloseness(t=0.15, ground='ordered')")
    assert "by 15 percentage points or less on average over all cuts" in said
    apart = []
    for group, whole in found:
        apart.append(
            [
                abs(chance(group, lambda v, c=c: v <= c) - chance(whole, lambda v, c=c: v <= c))
                for c in sorted({*whole})[:-1]
            ]
        )
        assert sum(apart[-1]) <= Fraction(15, 100) * len(apart[-1])
    assert max(map(max, apart)) > Fraction(15, 100)  # "A single cut may differ by more."


def test_closeness_along_a_hierarchy() -> None:

    def branch(value) -> str:
        return "few" if value in {0, 1, 2} else "many"

    paths = [[str(value), branch(value), "any"] for value in VALUES]
    said, found = kept_beside(f"TCloseness(t=0.2, ground=Hierarchical(levels={paths}))")
    assert "by 20 percentage points or less on average over all levels" in said
    apart = [
        (sets_apart(*both), sets_apart(*both, values=("few", "many"), of=branch)) for both in found
    ]
    assert all(sum(both) <= 2 * Fraction(1, 5) for both in apart)
    assert max(map(max, apart)) > Fraction(1, 5)  # "A single level may differ by more."


NUMBER = re.compile(r"([0-9.]+[0-9]|[0-9]) times")


@pytest.mark.parametrize("delta", ["0.5", "1", "0.75"])
def test_shares_differ_by_the_factors_that_are_said(delta: str) -> None:
    said, found = kept_beside(f"DeltaDisclosure(delta={delta})", 5, (0, 1))
    more, less = (Fraction(one) for one in NUMBER.findall(said))
    assert float(more) >= math.exp(float(delta))  # rounded to the sides that hold
    assert float(less) <= math.exp(-float(delta))
    for group, whole in found:
        for x in {*whole}:
            share = chance(whole, lambda v, x=x: v == x)
            assert less * share < chance(group, lambda v, x=x: v == x) < more * share


@pytest.mark.parametrize("beta", ["0.5", "1", "2"])
@pytest.mark.parametrize("enhanced", [False, True])
def test_no_value_gains_more_than_is_said(beta: str, enhanced: bool) -> None:
    said, found = kept_beside(f"BetaLikeness(beta={beta}, enhanced={enhanced})")
    (times,) = (Fraction(one) for one in NUMBER.findall(said))
    figures = [Fraction(one) / 100 for one in PERCENT.findall(said)]
    for group, whole in found:
        for x in {*whole}:
            share, here = (chance(some, lambda v, x=x: v == x) for some in (whole, group))
            assert here <= times * share
            if enhanced:
                for known, most in zip((Fraction(1, 3), Fraction(1, 2)), figures, strict=True):
                    assert share != known or here <= most
            else:
                assert here < 1 or share >= figures[0] - Fraction(1, 10_000)


@pytest.mark.parametrize("beta", ["0.5", "1", "2"])
def test_what_frequent_values_gain_is_rounded_up(beta: str) -> None:
    said = named(f"BetaLikeness(beta={beta}, enhanced=True)").promise("pay")
    for share, most in zip((1 / 3, 1 / 2), PERCENT.findall(said), strict=True):
        exact = share * (1 + min(float(beta), -math.log(share)))
        assert exact <= float(most) / 100 <= exact + 0.0001


def sizes(*counts: int) -> Groups:
    return Groups(np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_whose_row_is_whose(k: int) -> None:
    principle = named(f"KAnonymity(k={k})")
    others = "1 other person" if k == 2 else f"{k - 1} others"
    assert f"with at least {others}, so" in principle.promise("")
    assert f"a chance of at most 1 in {k}." in principle.promise("")
    assert "knows the person by the quasi-identifiers alone" in principle.promise("")
    every = range(1, 9)
    breaches = principle.measure(sizes(*every), None).breaches
    for size, breach in zip(every, breaches, strict=True):
        assert bool(breach) == (size - 1 < k - 1) == (Fraction(1, size) > Fraction(1, k))


def of_population(text: str):
    """Return a principle, and each pair of rows and of people whom they fit that keeps it."""
    principle = named(text)
    every = list(product(range(1, 6), range(1, 12)))
    groups = sizes(*(rows for rows, _ in every))
    groups = replace(groups, matches=np.array([people for _, people in every]))
    breaches = principle.measure(groups, None).breaches
    found = [one for one, breach in zip(every, breaches, strict=True) if not breach]
    assert found
    return principle.promise(""), found


@pytest.mark.parametrize("k", [2, 5])
def test_who_is_behind_a_row(k: int) -> None:
    said, found = of_population(f"KMap(k={k})")
    assert f"fits at least {k} people" in said
    assert f"a chance of at most 1 in {k}." in said
    assert "A person of the population who alone does so is visibly in the release." in said
    assert min(people for _, people in found) == k


def test_who_is_in_the_table() -> None:
    said, found = of_population("DeltaPresence(low=0.1234567, high=0.6666666)")
    low, high = (Fraction(one) / 100 for one in PERCENT.findall(said))
    assert "A person of the population who alone does so is visibly in the release." in said
    assert (low, high) == (Fraction("0.1234"), Fraction("0.6667"))  # each to the side that holds
    assert all(low <= Fraction(rows, people) <= high for rows, people in found)


@pytest.mark.parametrize(
    ("text", "says"),
    {
        "KAnonymity(k=1)": "limits nothing: every guess may be right",
        "EpsilonM(epsilon=0.123456789012, m=5, relative=True)": "within 12.345678% of the guess",
        "Dissimilarity(epsilon=0.1234567, delta=0.5, k=2)": "a distance of 0.1234567.",
        "RecursiveCL(c=2.0000001, l=2)": "fewer than 2.0000001 times as many",
        "DeltaDisclosure(delta=1)": "less than 2.719 times, and more than 0.3678 times",
        "DeltaDisclosure(delta=1000)": "less than e^1000 times, and more than e^-1000 times",
        "RecursiveCL(c=0.5, l=1)": "as all values together, so any guess is right with a chance",
        "RecursiveCL(c=3, l=5)": "even a reader who can exclude 3 values guesses right with",
    }.items(),
)
def test_limits_are_rounded_to_the_side_that_holds(text: str, says: str) -> None:
    assert says in named(text).promise("pay")


@pytest.mark.parametrize("text", ["DistinctL(l=3)", "EntropyL(l=3)", "KE(k=3, e=2)"])
def test_what_bounds_no_guess_says_so(text: str) -> None:
    assert "does not limit" in named(text).promise("pay")


@pytest.mark.parametrize(
    ("text", "says"),
    {
        "EpsilonM(epsilon=30, m=5)": ["within 30 days of that person's value"],
        "EpsilonM(epsilon=1, m=5)": ["within 1 day of"],
        "Neighbourhood(below=10, above=20, m=3)": ["between 10 days below and 20 days above"],
        "DeltaL(delta=7.5, l=2)": ["within 7.5 days of", "within 15 days with"],
        "Chain(epsilon=14, m=2)": ["every gap larger than 14 days"],
        "Window(width=60, m=5)": ["within 30 days of"],
        "KE(k=3, e=90)": ["at least 90 days above the lowest"],
        "Variance(at_least=400)": ["any guess is at least 20 days"],
        "Dissimilarity(epsilon=30, delta=0.5, k=2, distance=Absolute())": ["distance of 30 days"],
    }.items(),
)
def test_widths_of_dates_are_days(text: str, says: list[str]) -> None:
    said = named(text).promise_in("admitted", "days")
    for part in says:
        assert part in said


@pytest.mark.parametrize(
    "text",
    ["EpsilonM(epsilon=0.1, m=5, relative=True)", "Dissimilarity(epsilon=0.5, delta=0.5, k=2)"],
)
def test_what_is_a_share_has_no_unit(text: str) -> None:
    assert "day" not in named(text).promise_in("admitted", "days")


@pytest.mark.parametrize("said", [{}, {"types": {"admitted": "date"}}])
def test_before_a_release_dates_are_known_by_their_cells(said) -> None:
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2021, 1, 1), eager=True).cast(pl.String)
    table = pl.DataFrame({"age": range(len(days)), "admitted": days})
    schema = shoal.Schema(quasi="age", sensitive="admitted", **said)
    known = consider(table, schema, "EpsilonM(epsilon=30, m=5)")
    assert "within 30 days of" in known["promise"]


def test_a_release_says_days_where_its_manifest_names_dates() -> None:
    (one,) = requirements("EpsilonM(epsilon=30, m=5)", ["admitted"])
    for kind, says in {"date": "30 days of", "numeric": "30 of"}.items():
        columns = [{"name": "admitted", "role": "sensitive", "type": kind}]
        assert f"within {says}" in promised(one, {"groups": 1, "columns": columns})
