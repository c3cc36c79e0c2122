"""Learning utility says nothing where nothing can be said, and knows the original at its best."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.principles.groups import Groups
from shoal.release.cover import Cover
from shoal.runs.features import Feature
from shoal.runs.learned import (
    HELD_OUT,
    about_whom,
    blocks_of,
    guessing_error,
    part_rows,
    standard_error,
)
from shoal.runs.learning import part
from shoal.table.coded import code_table
from shoal.views.pages import comparison_page
from shoal.views.tables import print_comparison

SCHEMA = shoal.Schema(quasi=["x", "town"], sensitive="y")


def score(found, which) -> float:
    """Return the score of the better model, which there is."""
    best = found.best(which)
    assert best is not None
    return float(best)


def random_labels(rows, kind, seed):
    """Return a table whose target has nothing to do with anything."""
    chance = np.random.default_rng(seed)
    labels = {"two": ["a", "b"], "three": ["a", "b", "c"]}
    y = chance.normal(size=rows) if kind == "numbers" else chance.choice(labels[kind], rows)
    towns = chance.choice(["u", "v", "w"], rows)
    return pl.DataFrame({"x": chance.integers(0, 50, rows), "town": towns, "y": y})


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
@pytest.mark.parametrize("rows", [40, 200])
def test_from_random_labels_nothing_can_be_learned(rows, kind):
    for seed in range(2):
        table = random_labels(rows, kind, seed)
        found = shoal.measures.learning_utility(
            table, SCHEMA, require="KAnonymity(k=3)", method="Mondrian()", seed=seed
        )
        assert not found.learnable
        assert found.kept is None
        assert found.to_dict()["kept"] is None


def test_where_nothing_can_be_learned_every_view_says_so(capsys):
    for rows, kind, learnable in ((120, "two", False), (120, "x", True)):
        table = random_labels(rows, "two", 1)
        if kind == "x":
            table = table.with_columns(y=pl.when(pl.col("x") < 25).then(pl.lit("a")).otherwise("y"))
            table = table.with_columns(y=pl.when(pl.col("x") < 25).then("y").otherwise(pl.lit("b")))
        compared = shoal.compare(
            table, SCHEMA, require="KAnonymity(k=3)", methods=["Mondrian()"], queries=0,
            learning=True,
        ).to_dict()  # fmt: skip
        (entry,) = compared["entries"]
        assert entry["learning"]["learnable"] == (entry["learning"]["kept"] is not None)
        assert entry["learning"]["learnable"] == learnable
        print_comparison(compared)
        said = " ".join(capsys.readouterr().out.split())
        assert ("Nothing to compare: on these" in said) != learnable
        assert ("Nothing to compare: on these" in comparison_page(compared)) != learnable


@pytest.mark.few(2)
@pytest.mark.parametrize("hierarchy", ["Bins(width=10)", "Quantiles(parts=4)", "Prefix()"])
def test_numbers_are_numbers_to_the_original_with_a_hierarchy_too(hierarchy):
    """Every number occurs once: labels of their own would teach nothing about other people."""
    chance = np.random.default_rng(6)
    x = chance.permutation(1000)[:400]
    table = pl.DataFrame({"x": x, "y": x * 7 + 3})
    plain = shoal.Schema(quasi="x", sensitive="y")
    tree = shoal.Schema(quasi="x", sensitive="y", hierarchies={"x": hierarchy})
    options: Any = {"require": "KAnonymity(k=2)", "method": "Mondrian()"}
    found = shoal.measures.learning_utility(table, tree, **options)
    assert found.original == shoal.measures.learning_utility(table, plain, **options).original
    assert score(found, "original") > 0.99
    assert score(found, "release") <= score(found, "original") + 0.01
    assert score(found, "release") > 0.5  # nodes are the mean of what is under them
    release = shoal.anonymize(table[:300], tree, **options)
    assert score(shoal.measures.learning_from_release(release, table[300:]), "original") > 0.99


@pytest.mark.parametrize("hierarchies", [{}, {"x": "Bins(width=10)"}])
def test_missing_numbers_can_be_a_value(hierarchies):
    chance = np.random.default_rng(8)
    x = chance.integers(0, 100, 300)
    gone = chance.random(300) < 0.2
    table = pl.DataFrame(
        {
            "x": [None if missing else int(value) for value, missing in zip(x, gone, strict=True)],
            "town": [
                None if missing else "abc"[value % 3]
                for value, missing in zip(x, ~gone, strict=True)
            ],
            "y": np.where(gone, 500, x * 2),
        }
    )
    schema = shoal.Schema(quasi=["x", "town"], sensitive="y", hierarchies=hierarchies)
    options: Any = {"require": "KAnonymity(k=3)", "missing": "value"}
    found = shoal.measures.learning_utility(table, schema, method="Mondrian()", **options)
    assert score(found, "original") > 0.9  # that a number is missing is known too
    release = shoal.anonymize(table[:250], schema, **options)
    again = shoal.measures.learning_from_release(release, table[250:])
    assert score(again, "original") > 0.9
    spelled = shoal.measures.learning_from_release(release, table[250:].cast(pl.String))
    assert spelled.original == again.original


numbers = st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=2, max_size=12)


@given(numbers, st.data())
def test_cells_of_single_rows_are_what_the_rows_are(cells, data):
    """A release in which every cell stands for one value teaches what the original does."""
    if all(cell is None for cell in cells):
        cells[0] = 1
    table = pl.DataFrame({"x": pl.Series(cells, dtype=pl.Int64), "y": range(len(cells))})
    tree = data.draw(st.booleans())
    schema = shoal.Schema(
        quasi="x", sensitive="y", hierarchies={"x": "Bins(width=2)"} if tree else {}
    )
    column = code_table(table, schema, missing="value").quasi[0]
    feature = Feature.of(table["x"], np.arange(len(cells)), kind=None)
    found = feature.cells(Cover.of(column, Groups(np.arange(len(cells)))))
    assert found == pytest.approx(feature.points(np.arange(len(cells))), abs=1e-5)


def persons(people=80, rows=8, seed=2):
    """Return several rows a person: equal quasi values, a random label for each person."""
    chance = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rows)
    mixed = chance.permutation(len(who))
    return pl.DataFrame(
        {
            "patient": [f"p{one}" for one in who],
            "visit": np.arange(len(who)),
            "x": chance.permutation(people * 10)[who],
            "town": chance.choice(["u", "v"], people)[who],
            "y": chance.choice(["ill", "well"], people)[who],
        }
    )[mixed], who[mixed]


@pytest.mark.parametrize("role", ["identifying", "pseudonymize", "person"])
def test_nobody_is_trained_on_and_asked_about(role):
    table, who = persons()
    named: Any = {role: "patient" if role == "person" else ["patient", "visit"]}
    schema = shoal.Schema(quasi=["x", "town"], sensitive="y", **named)
    trial, train, fixed = part(table, schema, target=None, missing="error", seed=0)
    assert fixed.person == schema.person  # what is trained on protects people as well
    assert train.group_by("patient").len()["len"].to_list() == [8] * train["patient"].n_unique()
    assert len(np.unique(trial.who)) == len(trial.who) // 8
    scores = trial._scores(trial.original)
    assert max(one["roc_auc"] or 0 for one in scores.values()) < 0.85
    unknown = shoal.Schema(quasi=["x", "town"], sensitive="y")
    _, told_train, _ = part(table, unknown, target=None, missing="error", seed=0, who=who)
    assert told_train["patient"].n_unique() * 8 == told_train.height
    leaking, _, _ = part(table, unknown, target=None, missing="error", seed=0)
    known = leaking._scores(leaking.original)
    assert max(one["roc_auc"] or 0 for one in known.values()) > 0.95  # what the rule is for


keys = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.one_of(st.none(), st.integers(0, 9))),
    min_size=2, max_size=30,
)  # fmt: skip


@given(keys)
def test_rows_with_a_key_in_common_are_about_one_person(rows):
    table = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
    schema = shoal.Schema(identifying="a", pseudonymize="b")
    found = about_whom(table, schema)
    columns = [
        column
        for column in zip(*rows, strict=True)
        if max((column.count(v) for v in column if v is not None), default=0)
        <= HELD_OUT * len(rows)
    ]
    person = list(range(len(rows)))
    for column in columns:  # until nothing changes: every link joins all that its ends have
        for one, left in enumerate(column):
            for two, right in enumerate(column):
                if left is not None and left == right:
                    old, new = person[one], person[two]
                    person = [new if p == old else p for p in person]
    for one in range(len(rows)):
        for two in range(len(rows)):
            assert (found[one] == found[two]) == (person[one] == person[two])


@given(st.lists(st.integers(0, 6), min_size=2, max_size=40), st.integers(0, 5))
def test_people_are_parted_whole(who, seed):
    who = np.array(who)
    if len(set(who.tolist())) == 1:
        with pytest.raises(shoal.InputError):
            part_rows(who, seed)
        return
    train, asked = part_rows(who, seed)
    assert sorted([*train.tolist(), *asked.tolist()]) == list(range(len(who)))
    assert set(who[train]).isdisjoint(set(who[asked]))
    assert len(train)
    assert len(asked) >= min(round(HELD_OUT * len(who)), 1)


def test_errors_of_scores_are_those_of_the_textbook():
    values = np.random.default_rng(0).normal(size=2000)
    left = blocks_of(np.arange(2000), 0)
    assert sorted(len(rows) for rows in left) == [1900] * 20
    found = standard_error(lambda rows: float(values[rows].mean()), left)
    assert found == pytest.approx(1 / np.sqrt(2000), rel=0.4)
    assert standard_error(lambda _: None, left) == np.inf
    assert standard_error(lambda _: 1.0, left[:1]) == np.inf
    who = np.repeat(np.arange(50), 4)
    for rows in blocks_of(who, 1):
        assert set(who[rows]).isdisjoint(set(who) - set(who[rows]))
        assert len(rows) % 4 == 0
    assert guessing_error("accuracy", np.zeros(100), np.arange(100)) == 0.05
    truth = np.repeat([0, 1], 50)
    assert guessing_error("roc_auc", truth, np.arange(100)) == pytest.approx(0.058, abs=1e-3)
    assert guessing_error("roc_auc", np.zeros(9), np.arange(9)) == np.inf
