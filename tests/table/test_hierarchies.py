"""Hierarchies: their three forms, what is refused, and those built from a column's values."""

import json

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.table.coding import code_column
from shoal.table.groupings import Hierarchy
from shoal.table.hierarchy import Tree, read_levels
from shoal.table.placing import Distinct, distinct_of

PATHS = (("Italy", "Europe", "*"), ("Malta", "Europe", "*"), ("Japan", "Asia", "*"))


def distinct(labels, values=None, counts=None):
    counts = np.ones(len(labels), np.int64) if counts is None else np.array(counts)
    return Distinct("c", labels, None if values is None else np.array(values), counts)


def test_the_three_forms_say_the_same(tmp_path):
    (tmp_path / "h.csv").write_text("Italy;Europe;*\nMalta;Europe;*\nJapan;Asia;*\n")
    nested = {"*": {"Europe": ["Italy", "Malta"], "Asia": ["Japan"]}}
    (tmp_path / "h.json").write_text(json.dumps(nested))
    (tmp_path / "h.toml").write_text('Europe = ["Italy", "Malta"]\nAsia = ["Japan"]\n')
    for name in ("h.csv", "h.json", "h.toml"):
        assert read_levels(tmp_path / name) == PATHS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;x;*\nb;y;*\na;x;*\n", "'a' is listed twice"),
        ("a;x;*\nb;y\n", "'b' has 2 levels, others 3"),
        ("a;x;p\nb;x;q\n", "'x' has two parents: 'p' and 'q'"),
        ("a;x\nb;y\n", "more than one root"),
        ("", "is empty"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused(tmp_path, text, said):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(shoal.InputError, match=said):
        read_levels(tmp_path / "h.csv")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("h.json", "{", "is not JSON"), ("h.toml", "a =", "is not TOML"), ("h.json", "3", "has 3")],
)
def test_a_nested_file_that_is_none_is_refused(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(shoal.InputError, match=said):
        read_levels(tmp_path / name)


def test_a_name_for_different_labels_is_refused():
    with pytest.raises(shoal.InputError, match="'a' means different labels"):
        Tree.of((("a", "b", "*"), ("c", "a", "*")), "c")


def test_a_label_that_the_hierarchy_lacks_is_named():
    table = pl.DataFrame({"place": ["Italy", "Peru"], "salary": [1, 2]})
    schema = shoal.Schema(
        quasi="place",
        sensitive="salary",
        hierarchies={"place": shoal.hierarchies.Listed(paths=PATHS)},
    )
    with pytest.raises(shoal.InputError, match="'place' lacks the label 'Peru'"):
        shoal.anonymize(table, schema, require="KAnonymity(k=2)")


def test_codes_of_several_lengths_are_masked_to_the_longest():
    found = shoal.hierarchies.Prefix().levels(distinct(["12", "123", "1234"]))
    assert found == (
        ("12", "12", "12**", "1***", "*"),
        ("123", "123*", "12**", "1***", "*"),
        ("1234", "123*", "12**", "1***", "*"),
    )
    Tree.of(found, "zip")  # every name says what it covers


def test_the_calendar_gathers_days():
    (path,) = shoal.hierarchies.Calendar().levels(distinct(["2024-05-17"]))
    assert path == ("2024-05-17", "2024-05-17", "2024-05", "2024-Q2", "2024", "*")
    (path,) = shoal.hierarchies.Calendar().levels(distinct(["0999-12-31T23:59"]))
    assert path == ("0999-12-31T23:59", "0999-12-31", "0999-12", "0999-Q4", "0999", "*")
    with pytest.raises(shoal.InputError, match="has others"):
        shoal.hierarchies.Calendar().levels(distinct(["yesterday"]))


def test_bins_begin_at_multiples_and_pair_up():
    labels = ["-3", "0.3", "7", "19"]
    found = shoal.hierarchies.Bins(width=0.1).levels(distinct(labels[1:2], [0.3]))
    assert found == (("0.3", "[0.3, 0.4)", "*"),)
    found = shoal.hierarchies.Bins(width=5).levels(distinct(labels, [-3, 0.3, 7, 19]))
    assert [path[1] for path in found] == ["[-5, 0)", "[0, 5)", "[5, 10)", "[15, 20)"]
    assert [path[-2] for path in found] == ["[-20, 0)", *["[0, 20)"] * 3]


def test_quantiles_have_equal_numbers_of_rows():
    four = distinct(["1", "2", "3", "4"], [1, 2, 3, 4], [6, 2, 2, 2])
    found = shoal.hierarchies.Quantiles(parts=2).levels(four)
    assert [path[1] for path in found] == ["1", "2..4", "2..4", "2..4"]


def test_neighbours_are_grouped():
    found = shoal.hierarchies.Grouped(size=2).levels(distinct(list("abcde")))
    assert [path[1] for path in found] == ["a..b", "a..b", "c..d", "c..d", "e"]
    assert [path[2] for path in found] == ["a..d", "a..d", "a..d", "a..d", "e"]
    assert len({path[-1] for path in found}) == 1


@pytest.mark.parametrize(
    "text", ["Prefix()", "Calendar()", "Bins(width=5)", "Quantiles(parts=4)", "Grouped(size=3)"]
)
def test_a_hierarchy_reads_back_from_its_notation(text):
    assert repr(Hierarchy.of(text)) == text


@pytest.mark.parametrize("said", ["Split()", 3, "Prefix(size=2)", "Bins(width=0)"])
def test_what_is_no_hierarchy_is_refused(said):
    with pytest.raises(shoal.UsageError):
        Hierarchy.of(said)


def test_a_missing_cell_stands_under_the_root():
    table = pl.DataFrame({"zip": ["12", "12", None, "13"], "salary": [1, 2, 3, 4]})
    schema = shoal.Schema(quasi="zip", sensitive="salary", hierarchies={"zip": "Prefix()"})
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", missing="value")
    assert release.audit().holds
    assert "*" in release.published["zip"].to_list()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"hierarchies": {"salary": "Prefix()"}}, "has a hierarchy but is not a quasi column"),
        ({"weights": {"salary": 2}}, "has a weight but is not a quasi column"),
        ({"weights": {"age": 0}}, "must be a number above 0"),
        ({"types": {"age": "colour"}}, "cannot be 'colour'"),
        ({"types": {"age": "ordered"}}, "order of its labels"),
        ({"types": {"age": "numeric"}, "order": {"age": ["1"]}}, "cannot have an order"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(said, problem):
    with pytest.raises(shoal.UsageError, match=problem):
        shoal.Schema(quasi="age", sensitive="salary", **said)


@pytest.mark.parametrize(
    ("kind", "cells", "problem"),
    [
        ("latitude", ["12.5", "91"], "1 beyond 90 degrees cell, first in data row 2"),
        ("longitude", ["-180.1", "0"], "1 beyond 180 degrees cell, first in data row 1"),
        ("boolean", ["true", "perhaps"], "1 neither true nor false cell, first in data row 2"),
        ("date", ["2024-02-30", "2024-01-01"], "1 not a date cell, first in data row 1"),
        ("numeric", ["2024-01-01", "7"], "1 non-numeric cell, first in data row 1"),
    ],
)
def test_a_cell_against_its_type_is_named(kind, cells, problem):
    table = pl.DataFrame({"c": cells, "salary": [1, 2]})
    schema = shoal.Schema(quasi="c", sensitive="salary", types={"c": kind})
    with pytest.raises(shoal.InputError, match=problem):
        shoal.anonymize(table, schema, require="KAnonymity(k=2)")


def test_eight_digits_are_a_date_where_the_schema_says_so():
    table = pl.DataFrame({"day": ["20240131", "20240201"], "salary": [1, 2]})
    schema = shoal.Schema(quasi="day", sensitive="salary", types={"day": "date"})
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)")
    assert release.published["day"].to_list() == ['["20240131", "20240201"]'] * 2
    plain = shoal.Schema(quasi="day", sensitive="salary")
    release = shoal.anonymize(table, plain, require="KAnonymity(k=2)")
    assert release.published["day"].to_list() == ["[20240131, 20240201]"] * 2


def test_a_weight_steers_the_search():
    rng = np.random.default_rng(5)
    table = pl.DataFrame({name: rng.integers(0, 100, 400) for name in ("x", "y", "salary")})
    losses = []
    for weights in ({"x": 20}, {}, {"y": 20}):
        schema = shoal.Schema(quasi=["x", "y"], sensitive="salary", weights=weights)
        release = shoal.anonymize(table, schema, require="KAnonymity(k=5)", method="Split()")
        losses.append(release.manifest.loss.ncp["x"])
    assert losses[0] < losses[1] < losses[2]


def test_epsilon_of_dates_is_in_days():
    table = pl.DataFrame(
        {"age": [1, 2, 3, 4], "seen": ["2024-01-01", "2024-01-03", "2024-03-01", "2024-03-02"]}
    )
    schema = shoal.Schema(quasi="age", sensitive="seen")
    release = shoal.anonymize(table, schema, require="EpsilonM(epsilon=2, m=2)")
    assert release.audit().holds
    with pytest.raises(shoal.NotAchievable):
        shoal.anonymize(table, schema, require="EpsilonM(epsilon=61, m=2)")


@pytest.mark.parametrize(
    "require", ["KAnonymity(k=5)", "EpsilonM(epsilon=3, m=3)", "DistinctL(l=3)"]
)
def test_with_hierarchies_the_method_that_loses_least_is_taken(require):
    rng = np.random.default_rng(2)
    codes = [f"{code:04}" for code in rng.integers(0, 10000, 600)]
    table = pl.DataFrame({"zip": codes, "age": rng.integers(0, 80, 600)}).with_columns(
        salary=rng.integers(0, 100, 600)
    )
    schema = shoal.Schema(
        quasi=["zip", "age"],
        sensitive="salary",
        types={"zip": "code"},
        hierarchies={"zip": "Prefix()"},
    )
    losses = []
    for method in ("Exchange()", "Split()", "Mondrian()"):
        try:
            found = shoal.anonymize(table, schema, require=require, method=method)
        except shoal.UsageError:
            continue
        losses.append(found.loss)
    chosen = shoal.anonymize(table, schema, require=require)
    assert chosen.loss == min(losses)


def test_the_cut_of_least_loss_sees_a_flat_hierarchy():
    # Cutting a column whose every range is under one root pays only in the end.
    rng = np.random.default_rng(4)
    table = pl.DataFrame(
        {"state": [f"s{state}" for state in rng.integers(0, 20, 2000)]}
    ).with_columns(salary=rng.integers(0, 100, 2000))
    schema = shoal.Schema(
        quasi="state",
        sensitive="salary",
        hierarchies={"state": {"*": [f"s{n}" for n in range(20)]}},
    )
    release = shoal.anonymize(table, schema, require="KAnonymity(k=20)", method="Split()")
    assert release.loss == 0


def test_bins_of_dates_are_spelled_as_dates():
    days = ["2024-01-30", "2024-02-01", "2024-02-15", "2024-03-01"]
    column = code_column(pl.Series("born", days))
    paths = Hierarchy.of("Bins(width=7)").levels(distinct_of(column))
    for path in paths:
        for name in path[1:-1]:
            low, high = name[1:-1].split(", ")
            assert low <= path[0] < high  # ISO 8601 sorts as text
    names = {name for path in paths for name in path[1:-1]}
    covering = Hierarchy.of("Bins(width=7)").covering(names, distinct_of(column))
    assert covering == [list(path[1:-1]) for path in paths]
