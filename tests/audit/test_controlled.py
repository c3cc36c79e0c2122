"""Attacks on members and controls: against definitions, and where the truth is known."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from amount import examples
from reference import controls as reference
from shoal.audit.compared import Compared, Rate
from shoal.audit.controlled import Sides, against_controls, without_controls
from shoal.audit.predicates import at_most_one, exactly_one, single_out
from shoal.audit.published import open_published
from shoal.sampling import newcombe, wilson

SCHEMA = shoal.Schema(quasi=["age", "zip"], sensitive="salary")
counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, counts)
def test_intervals_are_those_of_the_definitions(one, other):
    for successes, count in (one, other):
        assert wilson(successes / count, count) == pytest.approx(
            reference.score_interval(successes, count), abs=1e-9
        )
    found = newcombe(one[0] / one[1], one[1], other[0] / other[1], other[1])
    assert found == pytest.approx(reference.difference_interval(*one, *other), abs=1e-9)


def test_newcombe_gives_the_published_example():
    # Newcombe 1998, table II, example (a), method 10: 56/70 against 48/80.
    assert newcombe(0.8, 70, 0.6, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)


@given(st.integers(1, 30), st.data())
def test_the_chance_of_exactly_one(whole, data):
    fitting = data.draw(st.integers(0, whole))
    drawn = data.draw(st.integers(1, whole))
    expected = float(reference.one_of_drawn(fitting, whole, drawn))
    assert exactly_one(fitting, whole, drawn) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.fractions(0, 1, max_denominator=50), min_size=1, max_size=8), st.integers(2, 40))
@settings(max_examples=30)
def test_no_weights_of_a_mean_isolate_more_often_than_the_bound(weights, people):
    mean = sum(weights) / len(weights)
    chance = sum(people * w * (1 - w) ** (people - 1) for w in weights) / len(weights)
    often = 10**7  # tried so often the mean weight is known
    bound = at_most_one(int(mean * often), often, people)
    assert chance <= Fraction(bound) + Fraction(1, 10**6)


def people(random, rows):
    return pl.DataFrame(
        {
            "age": random.integers(16, 90, rows),
            "zip": random.integers(100, 200, rows),
            "salary": random.integers(0, 10_000, rows),
        }
    )


def controlled(release, members, controls, **more):
    found = shoal.attack([release], original=members, control=controls, seed=1, **more)
    return {one["attack"]: one for one in found.to_dict()["controlled"]}


def release_of(table, tmp_path, **more):
    shoal.anonymize(table, SCHEMA, require="EpsilonM(epsilon=500, m=4)", seed=1, **more).write(
        tmp_path / "release", force=True
    )
    return tmp_path / "release"


@pytest.mark.more
def test_where_nobody_attacked_is_in_the_release_the_difference_is_chance(tmp_path):
    random = np.random.default_rng(7)
    release = open_published(release_of(people(random, 120), tmp_path))
    inside = []
    for draw in range(examples(20)):
        sides = Sides.of(release, people(random, 200), people(random, 420), None)
        found = [one.difference for one in against_controls(sides, {"salary": [500]}, draw)]
        inside += [low <= 0 <= high for _, low, high in filter(None, found)]
    assert len(inside) == 4 * examples(20)  # singling out, linking, inference and learning
    assert sum(inside) >= 0.9 * len(inside)


def test_where_every_row_is_published_everything_is_found(tmp_path):
    random = np.random.default_rng(7)
    everybody = people(random, 900).with_columns(
        age=pl.Series(random.permutation(900)), zip=pl.Series(random.permutation(900))
    )
    members, controls = everybody[:200], everybody[200:]
    found = controlled(members, members, controls, schema=SCHEMA, epsilons=[10])
    for name in ("linking", "inference", "finding"):
        assert found[name]["members"]["share"] == 1
    assert found["singling out"]["members"]["share"] == 1
    assert found["linking"]["controls"]["share"] == 0
    for name in ("singling out", "linking", "inference"):
        assert found[name]["low"] > 0.4, name
        assert "come from being in the release" in found[name]["sentence"]
    assert found["finding"]["controls"] is None


def test_what_is_published_of_all_together_gives_members_away_no_more_than_others():
    random = np.random.default_rng(7)
    table = people(random, 500)
    one_group = table.select(age=pl.lit("16-90"), zip=pl.lit("100-200"), salary="salary")
    found = controlled(one_group, table, people(random, 600), schema=SCHEMA, epsilons=[500])
    assert found["inference"]["low"] <= 0.01
    assert found["finding"]["members"]["share"] == pytest.approx(1 / 500)
    assert found["linking"]["difference"] == 0


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_inference_is_that_of_the_definition(tmp_path_factory, seed):
    random = np.random.default_rng(seed)
    folder = release_of(people(random, 60), tmp_path_factory.mktemp("one"))
    members, controls = people(random, 30), people(random, 40)
    rows = pl.read_csv(folder / "release.csv").iter_rows(named=True)

    def box(row):
        cells = [json.loads(str(row[name])) for name in ("age", "zip")]
        return [tuple(c) if isinstance(c, list) else (c, c) for c in cells]

    release = [(box(row), row["salary"]) for row in rows]
    found = controlled(folder, members, controls)["inference"]
    for side, table in (("members", members), ("controls", controls)):
        asked = [((a, z), s) for a, z, s in table.iter_rows()]
        right = reference.guessed(release, asked, 500)
        assert found[side]["share"] == pytest.approx(sum(right) / len(right))


def test_few_controls_are_too_few(tmp_path):
    random = np.random.default_rng(7)
    table = people(random, 100)
    found = controlled(release_of(table, tmp_path), table, people(random, 399))
    for name in ("singling out", "linking", "inference"):
        assert found[name]["too_few"]
        assert found[name]["difference"] is None
        assert "too few" in found[name]["sentence"]


def test_a_control_takes_one_equal_row_out_or_the_rows_of_a_person():
    table = pl.DataFrame({"who": ["a", "a", "b", "c"], "x": ["1", "1", "2", None]})
    control = table[[1, 3]]
    assert without_controls(table, control, None)["who"].to_list() == ["a", "b"]
    assert without_controls(table, control, "who")["who"].to_list() == ["b"]
    with pytest.raises(shoal.InputError, match="Everyone in the original is a control"):
        without_controls(table, table, None)


def test_other_people_with_equal_cells_take_nobody_out_of_the_members():
    """Few cells are shared by many: without them the members left would be the unusual ones."""
    table = pl.DataFrame({"age": [1, 1, 2, 2, 3], "pay": [5, 5, 6, 6, 7]})
    others = pl.DataFrame({"age": [1, 2, 2, 4], "pay": [5, 6, 6, 8]})  # one has no equal row
    assert without_controls(table, others, None).rows() == table.rows()
    more = pl.DataFrame({"age": [3, 3], "pay": [7, 7]})  # more of them than the original has
    assert without_controls(table, more, None).rows() == table.rows()


def test_people_with_several_rows_count_once(tmp_path):
    random = np.random.default_rng(7)

    def visits(first, persons):
        rows = people(random, persons)
        rows = rows.with_columns(who=pl.Series(range(first, first + persons)))
        return pl.concat([rows, rows.with_columns(salary=pl.col("salary") + 1)])

    schema = shoal.Schema(quasi=["age", "zip"], sensitive="salary", person="who")
    table, others = visits(0, 100), visits(100, 450)
    release = shoal.anonymize(table, schema, require="EpsilonM(epsilon=100, m=3)", seed=1)
    release.write(tmp_path / "release")
    found = controlled(
        tmp_path / "release",
        pl.concat([table, others]),
        others,
        schema=shoal.Schema(person="who"),
    )
    assert found["inference"]["members"]["count"] == 100
    assert found["inference"]["controls"]["count"] == 450
    assert found["finding"]["members"]["share"] > 0
    assert found["inference"]["low"] > 0


def test_weights_may_come_from_a_population(tmp_path):
    random = np.random.default_rng(7)
    table, everybody = people(random, 300), people(random, 6000)
    release = release_of(table, tmp_path, method="Exchange()")
    asked = {"original": table, "seed": 1}
    known = pl.concat([everybody, table]).drop("salary")  # members included, values unknown
    (by_all,) = shoal.attack([release], population=known, **asked).to_dict()["controlled"]
    assert by_all["attack"] == "singling out"
    assert not by_all["controls_at_most"]
    assert by_all["low"] > 0.1  # tight cells end where somebody lies
    both = shoal.attack([release], population=known, control=everybody[:500], **asked)
    found = {one["attack"]: one for one in both.to_dict()["controlled"]}
    assert found["singling out"]["controls"] == by_all["controls"]
    assert found["inference"]["controls"]["count"] == 500
    with pytest.raises(shoal.UsageError, match="original"):
        shoal.attack([release], population=known)
    with pytest.raises(shoal.ShoalError, match="zip"):
        shoal.attack([release], population=known.drop("zip"), **asked)


def test_a_control_group_needs_the_people_in_the_release(tmp_path):
    table = people(np.random.default_rng(7), 60)
    with pytest.raises(shoal.UsageError, match="original"):
        shoal.attack([release_of(table, tmp_path)], control=table)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (0.426, "the difference of at least 5.8 points"),  # more, and not enough to be sure
        (0.3, "no more than chance"),
        (0.6, "come from being in the release"),
    ],
)
def test_more_than_chance_can_explain_is_never_called_no_more(members, said):
    one = Compared("it", "singling out", Rate(members, 500), Rate(0.368, 500), bounded=True)
    assert said in one.to_dict()["sentence"]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", ["Exchange()", "Mondrian()"])
def test_the_predicate_that_is_tried_is_the_least_likely_one(method, seed, tmp_path):
    random = np.random.default_rng(seed)
    members, controls = people(random, 90), people(random, 400)
    require = "KAnonymity(k=4)"
    shoal.anonymize(members, SCHEMA, require=require, method=method, seed=1).write(tmp_path / "out")
    published = open_published(tmp_path / "out")
    found = single_out(Sides.of(published, members, controls, None), seed)
    drawn = np.random.default_rng(seed)  # the same chance
    part = [reference.MEMBER] * 90 + [reference.WEIGHING] * 400
    for one in drawn.permutation(400)[:200].tolist():
        part[90 + one] = reference.CHOOSING
    everybody = pl.concat([members, controls]).select("age", "zip").rows()
    boxes: dict[tuple, int] = {}
    for row in published.table.select("age", "zip").rows():
        boxes[row] = boxes.get(row, 0) + 1  # in the order of their first rows
    fitting = [
        reference.least_likely(
            [(int(ends[0]), int(ends[-1])) for ends in (re.findall(r"\d+", cell) for cell in box)],
            size, everybody, part, lambda n: drawn.random(n).tolist(),
        )
        for box, size in boxes.items()
    ]  # fmt: skip
    assert found is not None
    assert found.controls is not None
    assert found.members.share == pytest.approx(sum(one[0] == 1 for one in fitting) / len(boxes))
    chances = [float(reference.one_of_drawn(one[2], 200, 90)) for one in fitting]
    assert found.controls.share == pytest.approx(sum(chances) / len(boxes))
    assert not found.bounded
