"""The oracles against the papers' worked examples, against truth, and against each other."""

import csv
import json
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log2
from pathlib import Path
from typing import Any

import pytest

from reference import proximity, release, splitting
from reference.proximity import achievable, epsilon_bound, holds, largest_m, maxsize, risk

SALARIES = [1000, 1010, 1020, 16000, 24000, 31000, 33000, 50000]
RUNNING: dict[str, Any] = {"below": 20, "above": 10000}
TABLE_1A = [
    (17, 12, 1000),
    (19, 13, 1010),
    (20, 14, 1020),
    (24, 16, 50000),
    (29, 21, 16000),
    (34, 24, 24000),
    (39, 36, 33000),
    (45, 39, 31000),
]
DECIMALS = ["-2.5", "-1", "-0.3", "-0.1", "0", "0.1", "0.2", "0.3", "1", "1.1", "2.5", "4"]


def random_values(rng: random.Random, largest: int = 6) -> list[str]:
    """Return up to so many decimals with ties, zeros and negatives."""
    return rng.choices(rng.sample(DECIMALS, rng.randint(1, 6)), k=rng.randint(1, largest))


def random_relation(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a kind of proximity with parameters that often tie with the decimals."""
    small = ["0", "0.1", "0.2", "0.5", "1", "1.1", "3"]
    kind = rng.choice(["absolute", "relative", "general", "delta-l", "equality"])
    params: dict[str, dict[str, Any]] = {
        "absolute": {"epsilon": rng.choice(small)},
        "relative": {"epsilon": rng.choice(["0", "0.1", "0.2", "0.5", "0.9", "1"])},
        "general": {"below": rng.choice(small), "above": rng.choice(small)},
        "delta-l": {"delta": rng.choice(small)},
        "equality": {},
    }
    return kind, params[kind]


# EM, section 2


def test_andys_risk_is_three_quarters() -> None:
    group = [1000, 1010, 1020, 50000]
    low, high = proximity.neighbourhood("absolute", 1000, epsilon=100)
    assert low == 900
    assert high == 1100
    assert proximity.member_risk(group, 1000, "absolute", epsilon=100) == Fraction(3, 4)
    assert proximity.member_risk(group, 50000, "absolute", epsilon=100) == Fraction(1, 4)
    assert risk(group, "absolute", epsilon=100) == Fraction(3, 4)


def test_one_member_group_has_risk_one() -> None:
    for kind, params in [("absolute", {"epsilon": 0}), ("equality", {}), ("window", {"width": 1})]:
        assert risk([7], kind, **params) == 1
        assert holds([7], kind, 1, **params)
        assert not holds([7], kind, 2, **params)


def test_ties_at_the_edge_are_proximate_in_exact_decimals() -> None:
    assert 0.3 - 0.2 != 0.1
    assert proximity.proximate("absolute", 0.2, 0.3, epsilon=0.1)
    assert proximity.proximate("absolute", "1.1", "1.0", epsilon=0.1)
    assert not proximity.proximate("absolute", "1.1000000001", "1.0", epsilon=0.1)


# EM, sections 4 and 5


def test_union_of_two_anonymous_groups_need_not_be_anonymous() -> None:
    assert holds([40, 60], "absolute", 2, epsilon=15)
    assert holds([50, 80], "absolute", 2, epsilon=15)
    assert risk([40, 50, 60, 80], "absolute", epsilon=15) == Fraction(3, 4)
    assert not holds([40, 50, 60, 80], "absolute", 2, epsilon=15)
    assert risk([40, 50, 60], "absolute", epsilon=15) == 1


def test_running_example_has_maxsize_3_and_m_up_to_2() -> None:
    assert proximity.left(SALARIES, 1020, "general", **RUNNING) == [1000, 1010, 1020]
    assert proximity.right(SALARIES, 1020, "general", **RUNNING) == [1020]
    assert proximity.size(SALARIES, 1020, "general", **RUNNING) == 3
    assert maxsize(SALARIES, "general", **RUNNING) == 3
    assert maxsize(SALARIES, "general", below=10000, above=20) == 3
    assert largest_m(SALARIES, "general", **RUNNING) == 2
    assert achievable(SALARIES, "general", 2, **RUNNING)
    assert not achievable(SALARIES, "general", 3, **RUNNING)


def test_lemma_2_example_has_maxsize_2_and_3() -> None:
    assert maxsize(SALARIES[:2], "general", **RUNNING) == 2
    assert maxsize(SALARIES[2:], "general", **RUNNING) == 3
    assert proximity.size(SALARIES[2:], 24000, "general", **RUNNING) == 3


def test_running_example_has_bound_20_for_m_3() -> None:
    assert epsilon_bound(SALARIES, 3) == 20
    assert not achievable(SALARIES, "absolute", 3, epsilon=20)
    assert achievable(SALARIES, "absolute", 3, epsilon="19.999")
    assert SALARIES[3] - SALARIES[1] == 14990  # the paper prints 14900
    assert epsilon_bound(SALARIES, 2) == 23000


def test_relative_neighbourhood_is_the_general_one_of_logarithms() -> None:
    below, above = log2(1 / (1 - 0.2)), log2(1 + 0.2)
    assert (round(below, 2), round(above, 2)) == (0.32, 0.26)
    for u, v in product(range(1, 60), repeat=2):
        if 5 * abs(u - v) != v:  # a tie is for exact arithmetic alone
            inside = log2(v) - below <= log2(u) <= log2(v) + above
            assert proximity.proximate("relative", u, v, epsilon=0.2) is inside
    assert proximity.proximate("relative", 80, 100, epsilon=0.2)
    assert not proximity.proximate("relative", 100, 80, epsilon=0.2)


def test_relative_two_tenths_with_m_2() -> None:
    assert holds([80, 101], "relative", 2, epsilon=0.2)
    assert not holds([80, 100], "relative", 2, epsilon=0.2)
    assert largest_m(SALARIES, "relative", epsilon=0.2) == 2
    assert not holds([-80, -100], "relative", 2, epsilon=0.2)
    assert holds([-1, 0], "relative", 2, epsilon=0.2)
    assert not holds([0, 0], "relative", 2, epsilon=0.2)


def test_relative_bound_is_one_less_two_to_the_minus_e_max() -> None:
    for m in range(2, 9):
        h = 8 // m
        e_max = min(log2(SALARIES[i + h] / SALARIES[i]) for i in range(8 - h))
        bound = epsilon_bound(SALARIES, m, relative=True)
        assert bound is not None
        assert float(bound) == pytest.approx(1 - 2**-e_max)


def test_uniform_values_reach_m_10_for_a_tenth() -> None:
    uniform = [Fraction(i, 99) for i in range(100)]
    assert maxsize(uniform, "absolute", epsilon=0.1) == 10
    assert largest_m(uniform, "absolute", epsilon=0.1) == 10


def test_bounds_at_the_edges() -> None:
    assert epsilon_bound([3, 1, 2], 1) is None
    assert epsilon_bound([3, 1, 2], 3) == 1
    assert epsilon_bound([3, 1, 2], 4) == 0
    assert epsilon_bound([5], 1) is None
    assert epsilon_bound([5], 2) == 0
    assert epsilon_bound([0, 0], 2, relative=True) == 0
    assert epsilon_bound([0, 5], 2, relative=True) == 1
    assert epsilon_bound([-5, 5], 2, relative=True) == 2
    assert achievable([-5, 5], "relative", 2, epsilon=1)
    assert not achievable([0, 5], "relative", 2, epsilon=1)
    assert proximity.frontier([1, 2, 4, 8]) == [
        (m, Fraction(bound)) for m, bound in ((2, 3), (3, 1), (4, 1))
    ]
    with pytest.raises(ValueError, match="at least 1"):
        epsilon_bound([1], 0)


def find_maxsize(ordered: list[int], e_max: int) -> int:
    """Transcribe the printed find-maxsize (EM Figure 1)."""
    found, i, j = 1, 1, 2
    while j <= len(ordered):
        if ordered[j - 1] - ordered[i - 1] <= e_max:
            j, found = j + 1, found + 1
        else:
            i, j = i + 1, j + 1
    return found


def test_printed_find_maxsize_is_the_definition_and_sees_only_the_larger_side() -> None:
    for n in range(1, 6):
        for values in combinations_with_replacement(range(6), n):
            for below, above in product(range(3), repeat=2):
                expected = find_maxsize(list(values), max(below, above))
                assert maxsize(values, "general", below=below, above=above) == expected
                assert proximity.window_count(values, max(below, above)) == expected


def test_maxsize_share_never_grows_by_union() -> None:
    rng = random.Random(2)
    for _ in range(500):
        kind, params = random_relation(rng)
        groups = random_values(rng), random_values(rng)
        shares = [Fraction(maxsize(g, kind, **params), len(g)) for g in groups]
        union = groups[0] + groups[1]
        assert Fraction(maxsize(union, kind, **params), len(union)) <= max(shares)


# Theorems 1 and 2 against truth


def test_all_set_partitions_are_tried() -> None:
    for n, bell in enumerate([1, 1, 2, 5, 15, 52, 203, 877, 4140]):
        partitions = {frozenset(p) for p in proximity.set_partitions(range(n))}
        assert len(partitions) == bell


@pytest.mark.parametrize("seed", range(40))
def test_theorem_1_says_exactly_what_some_partition_achieves(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(5):
        values = random_values(rng, largest=7 if seed < 8 else 6)
        kind, params = random_relation(rng)
        for m in range(1, len(values) + 2):
            truth = achievable(values, kind, m, **params)
            assert truth is (m <= largest_m(values, kind, **params)), (values, kind, params, m)
            assert truth is proximity.generalizable(values, kind, m, **params)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("relative", [False, True])
def test_theorem_2_says_exactly_which_epsilon_some_partition_achieves(
    seed: int, *, relative: bool
) -> None:
    rng, kind = random.Random(seed), "relative" if relative else "absolute"
    hair = Fraction(1, 10**6)
    for _ in range(3):
        values = random_values(rng)
        for m in range(1, len(values) + 2):
            bound = epsilon_bound(values, m, relative=relative)
            limit = Fraction(1) if relative else Fraction(100)
            if bound is None or bound > limit:
                assert achievable(values, kind, m, epsilon=limit)
                continue
            assert not achievable(values, kind, m, epsilon=bound)
            if bound:
                assert achievable(values, kind, m, epsilon=bound - hair)
                general: dict[str, Any] = {"below": bound - hair, "above": 0}
                assert relative or achievable(values, "general", m, **general)


def test_a_least_size_makes_theorem_1_with_max_m_k_sufficient_only() -> None:
    tied = [0, 0, 100, 100]
    assert achievable(tied, "absolute", 2, k=4, epsilon=1)
    assert not proximity.generalizable(tied, "absolute", 2, k=4, epsilon=1)
    rng = random.Random(5)
    for _ in range(100):
        values, (kind, params) = random_values(rng), random_relation(rng)
        m, k = rng.randint(1, 3), rng.randint(1, 4)
        if proximity.generalizable(values, kind, m, k=k, **params):
            assert achievable(values, kind, m, k=k, **params)


def test_window_is_achievable_only_by_the_whole_table() -> None:
    rng = random.Random(6)
    for _ in range(100):
        values, m, width = random_values(rng), rng.randint(1, 4), rng.choice(["0", "0.1", "1"])
        truth = achievable(values, "window", m, width=width)
        assert truth is holds(values, "window", m, width=width)
        assert truth is (m <= largest_m(values, "window", width=width))


# DL


def test_figure_2_for_epsilon_15_and_delta_15() -> None:
    first, second = [40, 60], [40, 50, 60]
    assert [risk(g, "absolute", epsilon=15) for g in (first, second)] == [Fraction(1, 2), 1]
    counts = [proximity.member_risk(second, v, "absolute", epsilon=15) * 3 for v in second]
    assert counts == [2, 3, 2]
    assert [risk(g, "delta-l", delta=15) for g in (first, second)] == [1, 1]
    assert [risk(g, "window", width=30) for g in (first, second)] == [1, 1]


def test_delta_intervals_meet_when_the_distance_is_at_most_two_delta() -> None:
    rng = random.Random(3)
    for _ in range(300):
        u, v, delta = rng.choice(DECIMALS), rng.choice(DECIMALS), rng.choice(["0", "0.1", "1"])
        absolute = proximity.proximate("absolute", u, v, epsilon=2 * Fraction(delta))
        assert proximity.proximate("delta-l", u, v, delta=delta) is absolute


def test_monotonicity_claimed_for_delta_l_fails() -> None:
    assert holds([40, 60], "delta-l", 2, delta=7.5)
    assert holds([50, 80], "delta-l", 2, delta=7.5)
    assert not holds([40, 60, 50, 80], "delta-l", 2, delta=7.5)


def small_groups(largest: int) -> list[tuple[int, ...]]:
    """Return all groups of up to so many values from 0 to 5."""
    return [g for n in range(1, largest + 1) for g in combinations_with_replacement(range(6), n)]


@pytest.mark.parametrize("width", [0, 1, 2])
def test_window_is_monotone_under_union(width: int) -> None:
    risks = {group: risk(group, "window", width=width) for group in small_groups(6)}
    for first, second in product(small_groups(3), repeat=2):
        union = tuple(sorted(first + second))
        assert risks[union] <= max(risks[first], risks[second])


@pytest.mark.parametrize("width", [1, 2])
def test_delta_l_is_not_monotone_on_the_same_groups(width: int) -> None:
    delta, groups = Fraction(width, 2), small_groups(2)
    risks = {group: risk(group, "delta-l", delta=delta) for group in small_groups(4)}
    worse = [
        (first, second)
        for first, second in product(groups, repeat=2)
        if risks[tuple(sorted(first + second))] > max(risks[first], risks[second])
    ]
    assert worse


def test_epsilon_m_bounds_windows_of_epsilon_by_its_risk_and_of_twice_by_double() -> None:
    for group in small_groups(5):
        measured = risk(group, "absolute", epsilon=1)
        assert risk(group, "window", width=1) <= measured
        assert risk(group, "window", width=2) <= 2 * measured


# Splitting


def test_a_failing_bucket_is_dealt_into_the_papers_two_groups() -> None:
    rows, sensitive = [(1,), (1,), (1,), (1,)], [40, 50, 60, 80]
    groups = splitting.split(rows, ["interval"], sensitive, "absolute", 2, epsilon=15)
    assert groups == [{0, 2}, {1, 3}]


def test_equal_sensitive_values_are_dealt_in_row_order() -> None:
    rows, sensitive = [(1,)] * 6, [40, 50, 50, 65, 80, 90]
    groups = splitting.split(rows, ["interval"], sensitive, "absolute", 2, epsilon=15)
    assert groups == [{0, 3}, {1, 4}, {2, 5}]


def test_an_odd_bucket_is_cut_above_its_middle_and_an_even_one_in_half() -> None:
    ages = [(age,) for age in range(5)]
    assert splitting.mondrian(ages, ["interval"], 2) == [{0, 1, 2}, {3, 4}]
    assert splitting.mondrian(ages[:4], ["interval"], 2) == [{0, 1}, {2, 3}]
    assert splitting.mondrian(ages[:2], ["interval"], 1) == [{0}, {1}]


def test_splits_at_the_lower_median_then_deals() -> None:
    rows = [(age, "x") for age in (1, 2, 3, 4, 11, 12, 13, 14)]
    kinds = ["interval", "set"]
    groups = splitting.split(rows, kinds, [40, 50, 60, 80] * 2, "absolute", 2, epsilon=15)
    assert groups == [{0, 2}, {1, 3}, {4, 6}, {5, 7}]


def test_satisfied_bucket_is_kept_whole() -> None:
    rows = [row[:2] for row in TABLE_1A]
    sensitive = [row[2] for row in TABLE_1A]
    kinds = ["interval", "interval"]
    assert splitting.split(rows, kinds, sensitive, "general", 2, **RUNNING) == [set(range(8))]


def test_equal_loss_goes_to_the_first_attribute_and_less_loss_wins() -> None:
    rows = [(0, 0), (0, 1), (1, 0), (1, 1)]
    sensitive, kinds = [1, 2, 2, 1], ["interval", "interval"]
    assert splitting.split(rows, kinds, sensitive, "equality", 2) == [{0, 1}, {2, 3}]
    mixed = [(0, "a"), (10, "b"), (1, "b"), (11, "a")]
    kinds = ["interval", "set"]  # by number 4 * (1/11 + 1), by label 2 * 1 + 2 * 9/11
    assert splitting.split(mixed, kinds, [1, 1, 2, 2], "equality", 2) == [{0, 3}, {1, 2}]


def test_given_order_of_labels_moves_the_median() -> None:
    rows = [(label,) for label in ("high", "low", "mid", "low", "high", "mid")]
    natural = splitting.mondrian(rows, ["set"], 2)
    ordered = splitting.mondrian(rows, ["set"], 2, orders={0: ["low", "mid", "high"]})
    assert natural == [{0, 4}, {1, 3}, {2, 5}]
    assert ordered == [{1, 3}, {2, 5}, {0, 4}]
    assert splitting.mondrian(rows, ["set"], 2, orders={0: ["mid", "low", "high"]})[0] == {2, 5}


def test_mondrian_cuts_the_widest_first_and_falls_back() -> None:
    rows = [(0, 0), (0, 9), (0, 1), (10, 8)]
    kinds = ["interval", "interval"]
    # Column 0 is as wide, but its lower median 0 leaves one row above; column 1 halves the table.
    assert splitting.mondrian(rows, kinds, 2) == [{0, 2}, {1, 3}]
    assert splitting.mondrian(rows, kinds, 3) == [{0, 1, 2, 3}]
    assert splitting.mondrian(rows, kinds, 2, admissible=lambda g: 0 not in g or 1 in g) == [
        {0, 1, 2, 3}
    ]


def test_mondrian_takes_the_wider_of_two_that_could_be_cut() -> None:
    rows = [(age, 10 * (row % 2)) for row, age in enumerate((0, 0, 1, 1, 9, 9, 10, 10))]
    groups = splitting.mondrian(rows, ["interval", "interval"], 2)
    assert groups == [{0, 2}, {1, 3}, {4, 6}, {5, 7}]


def random_table(rng: random.Random) -> tuple[list[tuple[int, str]], list[str]]:
    """Return quasi rows with ties and their sensitive values."""
    n = rng.randint(1, 24)
    rows = [(rng.randint(0, 6), rng.choice("abcd")) for _ in range(n)]
    return rows, [rng.choice(DECIMALS) for _ in range(n)]


@pytest.mark.parametrize("seed", range(60))
def test_split_gives_a_partition_whose_groups_hold(seed: int) -> None:
    rng = random.Random(seed)
    (rows, sensitive), (kind, params) = random_table(rng), random_relation(rng)
    m = max(1, min(rng.randint(1, 4), largest_m(sensitive, kind, **params)))
    groups = splitting.split(rows, ["interval", "set"], sensitive, kind, m, **params)
    assert sorted(row for group in groups for row in group) == list(range(len(rows)))
    assert all(holds([sensitive[row] for row in g], kind, m, **params) for g in groups)
    assert 0 <= splitting.gcp(rows, ["interval", "set"], groups) <= 1
    with pytest.raises(ValueError, match="not achievable"):
        splitting.split(rows, ["interval", "set"], sensitive, kind, len(rows) + 1, **params)


@pytest.mark.parametrize("seed", range(30))
def test_mondrian_gives_groups_of_at_least_k_that_hold_the_window(seed: int) -> None:
    rng = random.Random(seed)
    rows, sensitive = random_table(rng)
    k = rng.randint(1, len(rows))
    m = largest_m(sensitive, "window", width="0.1")
    groups = splitting.mondrian(
        rows,
        ["interval", "set"],
        k,
        admissible=lambda g: holds([sensitive[row] for row in g], "window", m, width="0.1"),
    )
    assert sorted(row for group in groups for row in group) == list(range(len(rows)))
    assert min(map(len, groups)) >= k
    assert max(risk([sensitive[r] for r in g], "window", width="0.1") for g in groups) <= Fraction(
        1, m
    )


# Release


REQUIREMENT = {"kind": "absolute", "column": "salary", "epsilon": 15, "m": 2}
ORIGINAL = [
    {"age": "17", "town": "Bonn", "salary": "40", "note": "=x"},
    {"age": "19", "town": "Ulm", "salary": "50.0", "note": ""},
    {"age": "2e1", "town": "Bonn", "salary": "60", "note": 'a"b,c'},
    {"age": "27", "town": "Ulm", "salary": "80", "note": "two\nlines"},
]
LINKAGE = {0: 1, 1: 3, 2: 0, 3: 2}
PUBLISHED = [
    {"group": "1", "age": "[17, 2e1]", "town": "Bonn", "salary": "60", "note": 'a"b,c'},
    {"group": "1", "age": "[17, 2e1]", "town": "Bonn", "salary": "40", "note": "=x"},
    {"group": "0", "age": "[19, 27]", "town": "Ulm", "salary": "80", "note": "two\nlines"},
    {"group": "0", "age": "[19, 27]", "town": "Ulm", "salary": "50.0", "note": ""},
]
MANIFEST: dict[str, Any] = {
    "shoal": "0.1",
    "rows": 4,
    "suppressed": 0,
    "groups": 2,
    "columns": [
        {"name": "age", "role": "quasi", "kind": "interval", "domain": [17, 27]},
        {"name": "town", "role": "quasi", "kind": "set", "domain": ["Bonn", "Ulm"]},
        {"name": "salary", "role": "sensitive", "kind": None, "domain": None},
        {"name": "note", "role": "other", "kind": None, "domain": None},
    ],
    "measured": [{"principle": "EpsilonM", "holds": True, "risk": 0.5, "bound": 0.5}],
    "loss": {"gcp": 0.275, "ncp": {"age": 0.55, "town": 0}},
}


def write_release(
    directory: Path, rows: list[dict[str, str]], manifest: dict[str, Any]
) -> list[str]:
    """Write the two files and return the problems the oracle finds in them."""
    with (directory / "release.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (directory / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return release.problems(directory, [REQUIREMENT], ORIGINAL, LINKAGE)


def test_a_sound_release_has_no_problem(tmp_path: Path) -> None:
    assert write_release(tmp_path, PUBLISHED, MANIFEST) == []
    assert release.problems(tmp_path, [REQUIREMENT]) == []
    read = release.read_release(tmp_path)
    assert list(release.check_tight(read, ORIGINAL, LINKAGE)) == []
    assert release.ncp(read) == {"age": Fraction(11, 20), "town": 0}
    assert release.gcp(read, ORIGINAL) == Fraction(11, 40)
    k_anonymity = {"kind": "k-anonymity", "k": 2}
    assert release.worst_risk(read.boxes(), k_anonymity) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("column", "cell", "word"),
    [
        ("salary", "60", "has risk 1"),
        ("salary", "4e1", "salary was '40', is '4e1'"),
        ("salary", "90", "too often"),
        ("note", "x", "too seldom"),
        ("age", "[17, 19]", "different boxes"),
        ("age", "[19, 27]", "does not cover age = '17'"),
        ("age", "[17, 20]", "not spelled"),
        ("age", "[17, 17]", "low is not below high"),
        ("age", '["17", "2e1"]', "numbers in quotes"),
        ("age", "[17]", "not two numbers"),
        ("age", "17-20", "does not parse"),
        ("town", '["Bonn"]', "array around one"),
        ("town", '["Bonn", "Bonn"]', "twice"),
        ("town", '["Bonn", "Ulm"]', "as ncp of 'town'"),
        ("town", "Rome", "not spelled"),
        ("group", "0", "different boxes"),
        ("group", "2", "has risk 1"),
        ("group", "x", "not an integer"),
    ],
)
def test_one_spoiled_cell_is_found(tmp_path: Path, column: str, cell: str, word: str) -> None:
    rows = [dict(row) for row in PUBLISHED]
    rows[1][column] = cell
    assert word in "\n".join(write_release(tmp_path, rows, MANIFEST))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"rows": 5}, "says 5 rows"),
        ({"groups": 3}, "says 3 groups"),
        ({"seed": 1}, "must not hold 'seed'"),
        ({"suppressed": 1}, "do not make"),
        ({"loss": {"gcp": 0.2, "ncp": {"age": 0.55, "town": 0}}}, "as gcp"),
        ({"measured": []}, "measures 0"),
        ({"measured": [{**MANIFEST["measured"][0], "risk": 0.4}]}, "as risk"),
        ({"measured": [{**MANIFEST["measured"][0], "holds": False}]}, "holds = False"),
        ({"loss": {}}, "loss cannot be checked"),
        ({"columns": [{**MANIFEST["columns"][0], "domain": [0, 27]}]}, "as the domain of 'age'"),
        ({"columns": MANIFEST["columns"][:3]}, "not those of the manifest"),
    ],
)
def test_a_spoiled_manifest_is_found(tmp_path: Path, change: dict[str, Any], word: str) -> None:
    assert word in "\n".join(write_release(tmp_path, PUBLISHED, {**MANIFEST, **change}))


def test_a_spoiled_linkage_or_file_is_found(tmp_path: Path) -> None:
    assert write_release(tmp_path, PUBLISHED, MANIFEST) == []
    swapped = {**LINKAGE, 0: 0, 2: 1}
    assert release.problems(tmp_path, [], ORIGINAL, swapped)
    assert release.problems(tmp_path, [], ORIGINAL, {0: 1})
    (tmp_path / "link.csv").write_text("row,release_row\n0,1\n1,3\n2,0\n3,2\n")
    assert release.problems(tmp_path, [], ORIGINAL, tmp_path / "link.csv") == []
    (tmp_path / "release.csv").write_text("group,age\n1\n")
    assert "cells, not 2" in release.problems(tmp_path)[0]
    assert "cannot be read" in release.problems(tmp_path / "nowhere")[0]


def test_cells_parse_as_spelled() -> None:
    assert release.parse_interval("[-0, 12.50]") == ("-0", "12.50")
    assert release.parse_interval("1e6") == ("1e6", "1e6")
    assert release.parse_set("[1]") == ("[1]",)
    assert release.parse_set("[odd") == ("[odd",)
    assert release.parse_set(json.dumps(['["a"]'])) == ('["a"]',)
    assert Counter(release.parse_set('["a", "b"]')) == {"a": 1, "b": 1}
