"""What the page says of a requirement agrees with what a search is told of it."""

import random
import re
from contextlib import suppress

import polars as pl
import pytest

import shoal
from shoal.principles.remedies import under
from shoal.runs.consider import changed, consider
from shoal.runs.run import Run


def tables(seed):
    draw = random.Random(seed)
    rows = draw.randint(2, 40)
    heavy = [draw.choice([0, 5, 5, 5, 7, draw.randint(0, 60)]) for _ in range(rows)]
    return pl.DataFrame({"age": [draw.randint(0, 9) for _ in range(rows)], "pay": heavy})


def reachable(table, text, suppress="0"):
    """Whether a run would begin to search, or say at once that nothing can be found."""
    schema = shoal.Schema(quasi="age", sensitive="pay")
    try:
        Run(table=table, schema=schema, require=text, suppress=suppress).ready(table)
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
            assert remedy["parameter"] not in {"k", "l", "m"} or remedy["value"] > 1
        for name, share in known["fix"]:
            assert name == "suppress"
            assert reachable(table, text, suppress=share)


def heap(zeros, rows=100):
    pay = [0] * zeros + [1000 + 700 * i for i in range(rows - zeros)]
    return pl.DataFrame({"age": [i % 7 for i in range(rows)], "pay": pay})


@pytest.mark.parametrize("low", [0, -500])
@pytest.mark.parametrize("zeros", [30, 45, 70, 96])
def test_values_beside_a_heap_are_offered_to_be_protected_apart(zeros, low):
    """Where they can be, in what a search says too; and there what is required can be kept."""
    table = heap(zeros)
    if low:
        table[0, "pay"] = low
    text = "EpsilonM(epsilon=500, m=5)"
    schema = shoal.Schema(quasi="age", sensitive="pay")
    others = table.filter(pl.col("pay") != 0)
    with pytest.raises(shoal.NotAchievable) as refused:
        Run(table=table, schema=schema, require=text).ready(table)
    said = consider(table, schema, text)["apart"]
    assert (said is not None) == reachable(others, text) == (zeros < 96 or low < 0)
    if said is not None:
        which = "other than 0" if low else "above 0"
        assert said.startswith(f"protect pay {which} apart, if it is not secret who has 0")
        assert f"the {others.height} other rows" in said
        assert said in str(refused.value)
    assert consider(table, schema, "KAnonymity(k=5)")["apart"] is None


@pytest.mark.parametrize(("zeros", "m"), [(30, 3), (45, 2), (70, None), (96, None)])
@pytest.mark.parametrize(
    "text", ["EpsilonM(epsilon=500, m=5)", "FrequencyL(l=5)", "Window(width=500, m=5)"]
)
def test_a_heap_is_named_and_given_a_way_out(zeros, m, text):
    known = consider(heap(zeros), shoal.Schema(quasi="age", sensitive="pay"), text)
    assert known["reason"] == f"{zeros}.0% of the rows have pay 0"
    levels = [one["value"] for one in known["remedies"] if one["parameter"] in {"m", "l"}]
    assert levels == ([] if m is None else [m])
    shares = [one["value"] for one in known["remedies"] if one["parameter"] == "alpha"]
    assert all(zeros / 100 < share <= zeros / 100 + 0.1 for share in shares)
    assert bool(shares) == (zeros < 90)
    assert bool(known["fix"]) == (zeros < 35)
    schema = shoal.Schema(quasi="age", sensitive="pay")
    with pytest.raises(shoal.NotAchievable) as refused:
        shoal.anonymize(heap(zeros), schema, require=text)
    assert known["reason"] in str(refused.value)
    wanted = [("require", one["text"]) for one in known["remedies"]] + known["fix"]
    assert list(refused.value.fix) == wanted


def test_a_plan_says_what_is_in_the_way_and_what_would_help():
    schema = shoal.Schema(sensitive="pay")
    for m, epsilon in ((5, None), (5, 10), (None, None)):
        found = shoal.plan(heap(30), schema, m=m, epsilon=epsilon)
        assert found.reason == "30.0% of the rows have pay 0"
        assert all("m=1" not in one for one in found.remedies)
        assert found.remedies
    for m, epsilon in ((3, None), (None, 10)):
        found = shoal.plan(heap(30), schema, m=m, epsilon=epsilon)
        assert (found.reason, found.remedies) == (None, ())
        assert "reason" not in found.to_dict()
    most = shoal.plan(heap(70), schema, epsilon=10)
    assert most.reason == "70.0% of the rows have pay 0"


def test_near_values_in_the_way_are_named_by_their_ends():
    table = heap(0).with_columns(
        pay=pl.Series([100 + i for i in range(40)] + [9000 * i for i in range(1, 61)])
    )
    known = consider(table, shoal.Schema(quasi="age", sensitive="pay"), "EpsilonM(epsilon=50, m=5)")
    assert known["reason"] == "40.0% of the rows have pay from 100 to 139"


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 0.1, 0.3, 1e-9, 12345.678, 1e12, 29_100])
def test_a_number_under_a_bound_is_strictly_under_it_and_near(bound):
    assert 0.97 * bound < under(bound) < bound or (bound <= 1 and 0 <= under(bound) < bound)


def test_a_number_is_changed_as_people_write_it():
    for said in ("1 in 7", "7", " 7 ", "1 in 7"):
        assert changed("EpsilonM(epsilon=1, m=2)", ["pay"], {"m": said}).endswith("m=7)")
    assert "epsilon=2000" in changed("pay: EpsilonM(epsilon=1, m=2)", ["pay"], {"epsilon": "2,000"})
    with pytest.raises(shoal.UsageError, match="must be a number"):
        changed("EpsilonM(epsilon=1, m=2)", ["pay"], {"m": "many"})


def test_rows_that_are_not_published_have_no_say_in_what_can_be_required():
    """Where one row of each person is published, whoever has several has one value."""
    table = pl.DataFrame(
        {
            "who": [f"p{row // 2}" for row in range(200)],
            "age": [20 + row % 30 for row in range(200)],
            "out": ["a" if row % 7 else "b" for row in range(200)],
        }
    )
    several = shoal.Schema(quasi="age", sensitive="out", person="who")
    with pytest.raises(shoal.UsageError, match="needs one value per person"):
        consider(table, several, "TCloseness(t=0.2)")
    one = shoal.Schema(quasi="age", sensitive="out", person="who", most_rows=1)
    assert consider(table, one, "TCloseness(t=0.2)")["achievable"]


def test_a_limit_on_equal_values_asks_for_no_larger_groups_than_shares_need():
    table = pl.DataFrame({"age": range(900), "pay": [0] * 90 + [*range(1, 811)]})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    found = consider(table, schema, "FrequencyL(l=500)")["remedies"]
    sizes = [int(k) for one in found for k in re.findall(r"AlphaK\(.*k=(\d+)", one["text"])]
    assert sizes
    assert max(sizes) <= 20


@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("gaps", [0, 4])
@pytest.mark.parametrize(
    "text",
    [
        "EpsilonM(epsilon=500, m=3)",
        "EpsilonM(epsilon=0.1, m=2, relative=True)",
        "DeltaLDiversity(delta=200, l=2)",
        "Window(width=500, m=2)",
        "Chain(epsilon=100, m=2)",
        "FrequencyL(l=2)",
        "DistinctL(l=2)",
        "KAnonymity(k=3)",
        "TCloseness(t=0.4)",
        "Dissimilarity(epsilon=0.1, delta=0.5, k=4)",
    ],
)
def test_whatever_a_table_has_a_requirement_is_considered_or_refused_in_words(text, gaps, people):
    """Rows with gaps that are kept, and people with several rows, each and both."""
    draw = random.Random(3)
    pay = [None if row < gaps else draw.randint(0, 90) * 100 for row in range(60)]
    table = pl.DataFrame(
        {"who": [row % 45 for row in range(60)], "age": [row % 7 for row in range(60)], "pay": pay}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", person="who" if people else None)
    with suppress(shoal.ShoalError):
        known = consider(table, schema, text, "value")
        assert known["achievable"] in {True, False, None}


@pytest.mark.parametrize("level", [3, 4, 5])
def test_nothing_is_ruled_out_that_fewer_rows_of_people_allow(level):
    """Few rows have one diagnosis, but of people with many rows, many have it in some row."""
    who = [row // 6 if row < 120 else row - 100 for row in range(240)]
    ill = [f"d{0 if row % 6 == row // 6 % 6 else 1 + row % 7}" for row in range(240)]
    table = pl.DataFrame({"who": who, "age": [40 + one % 9 for one in who], "ill": ill})
    schema = shoal.Schema(quasi="age", sensitive="ill", person="who")
    known = consider(table, schema, f"FrequencyL(l={level})")
    assert known["achievable"] is not False
    assert known["limits"]["l"]["limit"] >= level
    release = shoal.anonymize(table, schema, require=f"FrequencyL(l={level})", seed=1)
    assert release.audit().holds
    least = consider(table, schema, "FrequencyL(l=30)")
    assert least["achievable"] is False
    assert "ill" in least["reason"]
