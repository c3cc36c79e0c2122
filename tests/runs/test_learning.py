"""Learning utility: the features of cells, and scores on tables where the truth is known."""

from __future__ import annotations

import sys
from unittest import mock

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.release.cover import Cover
from shoal.runs.features import Feature, Learner, Learnt, balanced_accuracy
from shoal.table.coded import code_table


def _cover(*groups):
    """Return cells that cover the given rows each."""
    from shoal.principles.groups import Groups

    labels = np.empty(sum(map(len, groups)), np.int64)
    for number, rows in enumerate(groups):
        labels[list(rows)] = number
    return Groups(labels)


def test_an_interval_is_its_midpoint_in_units_of_the_original():
    ages = pl.Series("age", [10, 20, 30, 40])
    feature = Feature.of(ages, np.arange(4), kind=None)
    cells = feature.cells(Cover.of(feature.column, _cover([0, 1], [2, 3])))
    deviation = np.std([10, 20, 30, 40])
    assert cells[:, 0] == pytest.approx([(15 - 25) / deviation, (35 - 25) / deviation])
    points = feature.points(np.array([0, 3]))
    assert points[:, 0] == pytest.approx([-15 / deviation, 15 / deviation])


def test_a_set_shares_itself_among_its_labels():
    towns = pl.Series("town", ["a", "b", "c", "a"])
    feature = Feature.of(towns, np.arange(4), kind=None)
    cells = feature.cells(Cover.of(feature.column, _cover([0, 1, 2], [3])))
    assert cells == pytest.approx(np.array([[1 / 3, 1 / 3, 1 / 3, 0], [1, 0, 0, 0]]))
    assert feature.points(np.array([2])).tolist() == [[0, 0, 1, 0]]


def test_a_node_shares_itself_among_the_labels_under_it():
    ages = pl.DataFrame({"age": ["11", "12", "21", "22", "29"], "pay": range(5)})
    schema = shoal.Schema(
        quasi="age",
        sensitive="pay",
        types={"age": "code"},
        hierarchies={"age": shoal.hierarchies.Prefix()},
    )
    feature = Feature.of(ages["age"], np.arange(5), kind="code")
    column = code_table(ages, schema).quasi[0]
    covered = Cover.of(column, _cover([0, 1], [2, 3], [4]))
    found = feature.cells(covered)
    assert found[:, :5] == pytest.approx(
        np.array([[1 / 2, 1 / 2, 0, 0, 0], [0, 0, 1 / 3, 1 / 3, 1 / 3], [0, 0, 0, 0, 1]])
    )
    assert feature.points(np.array([3])).tolist() == [[0, 0, 0, 1, 0, 0]]


def test_a_node_of_numbers_is_their_mean():
    ages = pl.DataFrame({"age": ["11", "12", "21", "22", "29", None], "pay": range(6)})
    schema = shoal.Schema(
        quasi="age", sensitive="pay", hierarchies={"age": shoal.hierarchies.Prefix()}
    )
    feature = Feature.of(ages["age"], np.arange(6), kind=None)
    column = code_table(ages, schema, missing="value").quasi[0]
    found = feature.cells(Cover.of(column, _cover([0, 1], [2, 3], [4], [5])))
    numbers = found[:, 0] * feature.unit + feature.middle
    assert numbers == pytest.approx([11.5, 24, 29, 19])  # nothing known is the mean
    assert found[:, 1].tolist() == [0, 0, 0, 1]
    assert feature.points(np.array([5, 0]))[:, 1].tolist() == [1, 0]


def test_dates_and_hierarchies_are_learned_from():
    chance = np.random.default_rng(3)
    days = chance.integers(0, 3000, 600)
    people = pl.DataFrame(
        {
            "born": [str(np.datetime64("1990-01-01") + int(day)) for day in days],
            "zip": (zips := chance.integers(10, 40, 600)).astype(str),
            "pay": days * 10 + np.where(zips >= 20, 20_000, 0),
        }
    )
    schema = shoal.Schema(
        quasi=["born", "zip"], sensitive="pay", hierarchies={"zip": shoal.hierarchies.Prefix()}
    )
    found = shoal.measures.learning_utility(
        people, schema, require="KAnonymity(k=3)", method="Split()"
    )
    assert (found.best("original") or 0) > 0.9
    assert 0.5 < (found.kept or 0) <= 1.05


def test_labels_that_training_rows_lack_share_one_feature():
    towns = pl.Series("town", ["a", "b", "new", "newer"])
    feature = Feature.of(towns, np.array([0, 1]), kind=None)
    assert feature.points(np.arange(4)).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]


def test_missing_numbers_count_as_the_mean_and_missing_labels_as_a_label():
    hours = Feature.of(pl.Series("hours", [2, None, 4, 9]), np.array([0, 1, 2]), kind=None)
    assert hours.points(np.arange(3))[:, 0] == pytest.approx([-1, 0, 1])
    assert hours.points(np.arange(3))[:, 1].tolist() == [0, 1, 0]
    notes = Feature.of(pl.Series("note", ["x", None]), np.arange(2), kind=None)
    assert notes.points(np.arange(2)).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_a_release_with_fewer_labels_keeps_the_places_of_the_original():
    whole = Feature.of(pl.Series("town", ["a", "b", "c"]), np.arange(3), kind=None)
    fewer = Feature.of(pl.Series("town", ["c", "b"]), np.arange(2), kind=None).column
    cells = whole.cells(Cover.of(fewer, _cover([0], [1])))
    assert cells.tolist() == [[0, 0, 1, 0], [0, 1, 0, 0]]


def test_balanced_accuracy_is_the_mean_recall():
    truth, said = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 0])
    assert balanced_accuracy(truth, said) == (2 / 3 + 0) / 2


def _people(rows=1200):
    """Return a table whose quasi columns decide the target, labels and numbers alike."""
    chance = np.random.default_rng(5)
    age = chance.integers(20, 80, rows)
    town = chance.choice(["a", "b", "c", "d"], rows)
    bonus = np.where(np.isin(town, ["a", "b"]), 30, 0)
    return pl.DataFrame(
        {
            "age": age,
            "town": town,
            "pay": age * 100 + bonus * 100 + chance.integers(0, 100, rows),
            "rich": np.where(age + bonus > 65, "yes", "no"),
            "kind": np.array(["x", "y", "z"])[(age + bonus) % 90 // 30],
            "noise": chance.integers(0, 5, rows),
        }
    )


SCHEMA = shoal.Schema(quasi=["age", "town"], sensitive=["pay"], other=["noise", "rich", "kind"])


@pytest.mark.parametrize(
    ("target", "metric"), [("pay", "r2"), ("rich", "roc_auc"), ("kind", "accuracy")]
)
@pytest.mark.parametrize("method", ["Split()", "Ring()", "Mondrian()"])
def test_the_original_teaches_most_and_the_trivial_release_least(target, metric, method):
    others = [name for name in ("pay", "rich", "kind") if name != target]
    schema = shoal.Schema(
        quasi=["age", "town"], sensitive=["noise"], other=[target], identifying=others
    )
    found = shoal.measures.learning_utility(
        _people(), schema, require="KAnonymity(k=5)", method=method, target=target
    )
    assert found.metric == metric
    original, release, trivial = map(found.best, ("original", "release", "trivial"))
    assert original is not None
    assert release is not None
    assert trivial is not None
    assert original > 0.95
    assert original + 0.02 >= release > trivial + 0.2
    assert found.kept is not None
    assert 0.5 < found.kept <= 1.05
    assert abs(trivial - (found.baseline[metric] or 0)) < 0.15  # noise teaches nothing
    assert (found.trained, found.asked) == (960, 240)


def test_cells_that_say_nothing_teach_nothing():
    people = _people(400)
    schema = shoal.Schema(quasi=["age", "town"], sensitive="rich")
    found = shoal.measures.learning_utility(
        people, schema, require="KAnonymity(k=200)", method="Mondrian()"
    )
    assert found.best("original") == pytest.approx(1, abs=0.05)
    assert found.best("release") == pytest.approx(0.5, abs=0.2)
    assert found.best("trivial") == found.baseline["roc_auc"] == 0.5


def test_the_answer_that_knows_nothing_is_the_commonest_label_or_the_mean():
    people = pl.DataFrame(
        {"age": range(100), "ill": ["flu"] * 70 + ["gout"] * 20 + ["none"] * 10, "pay": range(100)}
    )
    schema = shoal.Schema(quasi="age", sensitive=["ill", "pay"])
    labels = shoal.measures.learning_utility(people, schema, require="KAnonymity(k=2)").baseline
    assert labels["balanced_accuracy"] in {1 / 3, 1 / 2, 1}
    assert (labels["accuracy"] or 0) * 20 == round((labels["accuracy"] or 0) * 20)
    numbers = shoal.measures.learning_utility(
        people, schema, require="KAnonymity(k=2)", target="pay"
    )
    assert numbers.baseline["r2"] is not None
    assert numbers.baseline["r2"] <= 0


def test_equal_calls_give_equal_scores_and_the_table_stays():
    people = _people(300)
    before = people.clone()
    first, again = (
        shoal.measures.learning_utility(people, SCHEMA, require="KAnonymity(k=3)", method="Ring()")
        for _ in range(2)
    )
    other = shoal.measures.learning_utility(people, SCHEMA, require="KAnonymity(k=3)", seed=1)
    assert first == again
    assert first != other
    assert people.equals(before)


def test_a_release_that_was_made_before_is_learned_from():
    people = _people(600)
    train, held_out = people[:450], people[450:]
    release = shoal.anonymize(train, SCHEMA, require="KAnonymity(k=4)")
    found = shoal.measures.learning_from_release(release, held_out.to_pandas(), target="rich")
    assert (found.trained, found.asked) == (450, 150)
    assert (found.best("release") or 0) > 0.9
    # text and numbers are the same cells
    spelled = shoal.measures.learning_from_release(release, held_out.cast(pl.String), target="rich")
    assert spelled.original == found.original


def test_suppressed_and_incomplete_rows_are_not_trained_on():
    people = _people(200).with_columns(
        pl.when(pl.int_range(pl.len()) < 10).then(None).otherwise("age").alias("age")
    )
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    release = shoal.anonymize(people, schema, require="KAnonymity(k=3)", missing="drop")
    assert shoal.measures.learning_from_release(release, _people(50)).trained == 190


@pytest.mark.parametrize("target", ["age", "name", "nothing"])
def test_what_is_not_published_as_it_is_cannot_be_learned(target):
    schema = shoal.Schema(quasi=["age", "town"], sensitive="pay")
    with pytest.raises(shoal.UsageError):
        shoal.measures.learning_utility(
            _people(50), schema, require="KAnonymity(k=2)", target=target
        )


def test_without_scikit_learn_a_sentence_names_the_extra():
    with (
        mock.patch.dict(sys.modules, {"sklearn": None, "sklearn.dummy": None}),
        pytest.raises(shoal.UsageError, match=r"shoal\[learning\]"),
    ):
        shoal.measures.learning_utility(_people(50), SCHEMA, require="KAnonymity(k=2)")


@pytest.mark.parametrize("classes", [None, 2, 3])
def test_a_row_of_weight_n_counts_as_n_rows(classes):
    chance = np.random.default_rng(3)
    rows, weights = 60, chance.integers(1, 5, 60)
    features = chance.normal(size=(rows, 2)).astype(np.float32)
    target = features[:, 0] + chance.normal(size=rows)
    if classes is not None:
        target = np.digitize(target, [0.0, 1.0][: classes - 1]).astype(np.float64)
    asked, learner = features[:20], Learner(classes, 0)
    copies = np.repeat(np.arange(rows), weights)
    once = learner.learn(features, target, asked, weights.astype(np.float64))["linear"]
    often = learner.learn(features[copies], target[copies], asked)["linear"]
    if classes is None:
        assert once.said == pytest.approx(often.said, rel=1e-4)
    else:
        assert (once.said == often.said).mean() >= 0.95  # both stop after some steps
    truth, own = target[:20], weights[:20].astype(np.float64)
    asked_often = np.repeat(np.arange(20), weights[:20])
    for answers in (once, Learnt(once.said[::-1], None if once.likely is None else own / 5)):
        scores = learner.score(answers, truth, own)
        assert scores == pytest.approx(learner.score(answers.only(asked_often), truth[asked_often]))
    known = learner.baseline(target, truth, weights.astype(np.float64), own)
    assert known == pytest.approx(learner.baseline(target[copies], truth[asked_often]))


def fitted(scores):
    """Return what a line explains of the target."""
    return scores["linear"]["r2"]


def test_survey_weights_weigh_what_is_learned_and_are_no_feature():
    """Pay rises up to the age of 50, in rows that stand for many, and falls in those for few."""
    age = np.random.default_rng(5).integers(20, 80, 1000)
    many = age < 50
    table = pl.DataFrame(
        {
            "age": age,
            "pay": 100 * np.minimum(age, 100 - age),
            "w": np.where(many, 1000.0, 1.0),
        }
    )
    require = "KAnonymity(k=3)"
    weighed = shoal.measures.learning_utility(
        table, shoal.Schema(quasi="age", sensitive="pay", survey_weight="w"), require=require
    )
    alike = shoal.measures.learning_utility(
        table.drop("w"), shoal.Schema(quasi="age", sensitive="pay"), require=require
    )
    assert fitted(weighed.original) > 0.8
    assert fitted(weighed.release) > 0.8
    assert fitted(alike.original) < 0.3
    nothing = table.with_columns(age=pl.lit(1), pay=pl.col("w") + age % 2)
    told = shoal.measures.learning_utility(
        nothing, shoal.Schema(quasi="age", sensitive="pay", survey_weight="w"), require=require
    )
    assert fitted(told.original) < 0.1


def test_rows_that_stand_for_nobody_neither_teach_nor_are_asked():
    table = pl.DataFrame({"age": range(100), "pay": range(100), "w": [0] * 50 + [1] * 50})
    found = shoal.measures.learning_utility(
        table,
        shoal.Schema(quasi="age", sensitive="pay", survey_weight="w"),
        require="KAnonymity(k=2)",
    )
    assert found.trained + found.asked == 50
