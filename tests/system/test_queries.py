"""Counts on releases: the expression language, the command, DuckDB, workloads."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import shoal
from shoal.datasets.census import census
from shoal.utility.sets import Numbers
from system import shell

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "query.md").read_text("utf-8")
TOWNS = ["Aalen", "Bonn", "Ulm"]


@pytest.fixture(scope="module")
def people():
    chance = np.random.default_rng(7)
    rows = 400
    return pl.DataFrame(
        {
            "age": chance.integers(18, 80, rows),
            "town": chance.choice(TOWNS, rows),
            "marital status": chance.choice(["single", "married"], rows),
            "income": chance.integers(0, 120, rows) * 1000,
            "note": chance.choice(["=1+1", "plain"], rows),
        }
    )


@pytest.fixture(scope="module")
def schema():
    return shoal.Schema(quasi=["age", "town", "marital status"], sensitive="income", other="note")


@pytest.fixture(scope="module")
def release(people, schema):
    return shoal.anonymize(
        people, schema, require="EpsilonM(epsilon=2000, m=4)", escape_formulas=True
    )


@pytest.fixture(scope="module")
def directory(release, tmp_path_factory):
    path = tmp_path_factory.mktemp("queries") / "published"
    release.write(path, format="parquet")
    return path


def test_duckdb_answers_what_the_release_answers(release, directory, monkeypatch):
    monkeypatch.chdir(directory.parent)
    database = duckdb.connect()
    make, ask = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    database.execute(make)
    ((found,),) = database.sql(ask).fetchall()
    (condition,) = re.findall(r'`release.count\("([^`]*)"\)`', PAGE)
    assert found == pytest.approx(release.count(condition))
    assert found > 0


def test_the_command_answers_from_files_what_the_release_answers(release, directory):
    condition = "age < 40 and `marital status` == 'single' and note == '=1+1'"
    answer = shell.shoal("count", directory, condition, "--json").json()
    assert answer["rows"] == 400
    assert answer["count"] == pytest.approx(release.count(condition))
    assert 0 < answer["count"] < 200
    said = shell.shoal("count", directory, "age >= 0")
    assert (said.code, said.out) == (0, "400 of 400 rows\n")


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("ages > 3", "There is no column 'ages' in the table. Did you mean 'age'?"),
        ("age > 'x'", "column 'age' holds numbers, and \"'x'\" is not a number"),
        ("age == True", "column 'age' holds numbers, and 'True' is not a number"),
        ("age > 1e999", "is not a number"),
        ("town > 'Ulm'", "column 'town' holds labels, which have no order"),
        ("town == 3", "column 'town' holds labels: put '3' in quotes"),
        ("town == 'Uln'", "Column 'town' has no label 'Uln'. Did you mean 'Ulm'?"),
        ("age in 3", "'3' is not a set"),
        ("age", "'age' is not a comparison"),
        ("1 < 2", "'1' is not the name of a column"),
        ("age < income", "is not a number"),
        ("age is 3", "compared by <, <=, ==, !=, >=, > or in"),
        ("__import__('os').system('true') == 1", "is not the name of a column"),
        ("age <", "Cannot read the condition 'age <'"),
        ("", "Cannot read the condition ''"),
        ("(" * 300 + "age > 1" + ")" * 300, "Cannot read the condition"),
        ("not " * 99 + "age > 1", "nests too deeply"),
        ("group == 1", "There is no column 'group'"),
    ],
)
def test_what_is_no_condition_is_refused_in_a_sentence(directory, condition, said):
    outcome = shell.shoal("count", directory, condition)
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in outcome.err


def test_too_many_alternatives_are_refused(release):
    parts = [f"(age > {i} and income != {i * 41 % 97 * 1000})" for i in range(18, 80)]
    with pytest.raises(shoal.UsageError, match="too many alternatives"):
        release.count(" or ".join(parts))


def test_a_damaged_release_is_not_counted(directory, tmp_path):
    published = pl.read_parquet(directory / "release.parquet")
    (tmp_path / "manifest.json").write_bytes((directory / "manifest.json").read_bytes())
    wrong = published.with_columns(pl.struct(low=pl.lit(1), high=pl.lit(900)).alias("age"))
    wrong.write_parquet(tmp_path / "release.parquet")
    outcome = shell.shoal("count", tmp_path, "age > 3")
    assert outcome.code == 1
    assert "'release.parquet' is not the one that was published" in outcome.err
    stated_anew(tmp_path)
    outcome = shell.shoal("count", tmp_path, "age > 3")
    assert outcome.code == 1
    assert "cells of column 'age' are outside its domain" in outcome.err


def stated_anew(directory):
    """Let a manifest name the table that lies beside it."""
    path = directory / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    digest = hashlib.sha256((directory / "release.parquet").read_bytes()).hexdigest()
    manifest["digests"]["release.parquet"] = f"sha256:{digest}"
    path.write_text(json.dumps(manifest), "utf-8")


def test_dates_and_nodes_are_counted(tmp_path):
    table = pl.DataFrame(
        {
            "born": ["2000-01-01", "2000-01-03", "2000-01-04", "2000-01-31"],
            "zip": ["1203", "1204", "1311", "1399"],
            "ill": ["flu", "gout", "flu", "none"],
        }
    )
    known = shoal.Schema(
        quasi=["born", "zip"],
        sensitive="ill",
        types={"zip": "code"},
        hierarchies={"zip": "Prefix()"},
    )
    release = shoal.anonymize(table, known, require="KAnonymity(k=2)", method="Mondrian()")
    assert sorted(set(release.published["zip"])) == ["120*", "13**"]
    assert release.count("born <= '2000-01-02'") == pytest.approx(2 * 2 / 3)
    # 28 days beside 3: a stretched cell, whose two rows are within three days of its ends.
    assert release.count("born == '2000-01-31'") == pytest.approx(2 / 2 / 3)
    assert release.count("zip == '1203'") == pytest.approx(1)
    assert release.count("zip == '12**' and ill == 'flu'") == pytest.approx(1)
    assert release.count("zip >= 1300") == pytest.approx(2)
    found = release.losses()
    assert found["ncp[zip]"] == pytest.approx(1 / 3)
    assert found["gcp"] == pytest.approx(release.loss)
    assert found["kl_divergence"] == pytest.approx(np.log2([3 * 2] * 2 + [28 * 2] * 2).mean())
    assert found["non_uniform_entropy"] == pytest.approx(0.5)
    for kind in ("csv", "parquet"):
        release.write(tmp_path / kind, format=kind)
        assert shoal.count(tmp_path / kind, "born <= '2000-01-02'") == pytest.approx(2 * 2 / 3)
        assert shoal.measures.losses(tmp_path / kind, original=table) == pytest.approx(found)
    with pytest.raises(shoal.UsageError, match="holds dates, and '3' is not a date"):
        release.count("born < 3")
    error = shoal.measures.query_error(
        release, table, known, workload="Workload(queries=20)", seed=1
    )
    assert error.truth.min() >= 1


def test_a_workload_is_what_the_papers_say(people, schema):
    questions = shoal.measures.Workload(quasi=2, selectivity=0.125, queries=200).draw(
        people, schema, seed=3
    )
    assert len(questions.queries) == 200
    for query, truth in zip(questions.queries, questions.truth, strict=True):
        assert len(query) == 3
        assert "income" in query
        condition = pl.lit(value=True)
        for name, wanted in query.items():
            if isinstance(wanted, frozenset):
                places = sorted(sorted(set(people[name])).index(label) for label in wanted)
                assert len(places) == max(1, people[name].n_unique() // 2)
                assert places == list(range(places[0], places[0] + len(places)))
                condition &= pl.col(name).is_in(list(wanted))
            else:
                ((low, _), (high, _)) = wanted.cuts
                whole = people[name].max() - people[name].min() + 1
                assert high - low + 1 == int(whole) // 2
                condition &= pl.col(name).is_between(int(low), int(high))
        assert truth == people.filter(condition).height > 0
    again = shoal.measures.Workload(quasi=2, selectivity=0.125, queries=200).draw(
        people, schema, seed=3
    )
    assert again.queries == questions.queries
    assert again.redrawn == questions.redrawn


def test_empty_queries_are_drawn_again_and_counted():
    apart = pl.DataFrame({"age": [0, 1000], "pay": [0, 1]})
    known = shoal.Schema(quasi="age", sensitive="pay")
    workload = shoal.measures.Workload(quasi=1, sensitive=0, selectivity=0.25, queries=50)
    questions = workload.draw(apart, known, seed=1)
    assert questions.redrawn > 0
    assert set(questions.truth.tolist()) == {1}
    thin = shoal.measures.Workload(quasi=1, sensitive=0, selectivity=1e-9, queries=5)
    far = apart.with_columns(pl.Series("age", [0, 10**12]))
    with pytest.raises(shoal.InputError, match="choose a larger selectivity"):
        thin.draw(far, known, seed=1)


def test_the_original_itself_and_its_perturbation_are_compared(people):
    known = shoal.Schema(quasi=["age", "town"], sensitive="income")
    exact = shoal.anonymize(people, known, require="KAnonymity(k=1)", method="Mondrian()")
    questions = shoal.measures.Workload(quasi=1, queries=100).draw(people, known, seed=5)
    assert questions.error(exact).mean <= 0.2  # boxes of equal rows only, or nearly so
    kept = shoal.rivals.Perturb(p=1).publish(people, known)
    assert questions.error(kept).mean == pytest.approx(0)
    noisy = shoal.rivals.Perturb(p=0.5).publish(people, known, seed=1)
    assert 0 < questions.error(noisy).median < 1
    query = questions.queries[0]
    pay = query["income"]
    assert isinstance(pay, Numbers)
    ((low, _), (high, _)) = pay.cuts
    (name, wanted), *_ = query.items()
    if isinstance(wanted, frozenset):
        where = pl.col(name).is_in(list(wanted))
    else:
        where = pl.col(name).is_between(int(wanted.cuts[0][0]), int(wanted.cuts[1][0]))
    expected = noisy.count(int(low), int(high), where=where).count
    assert questions.error(noisy).estimates[0] == pytest.approx(expected)
    apart = shoal.rivals.Anatomy(l=2).publish(people, known)
    assert 0 < questions.error(apart).median < 1


def test_more_columns_than_there_are_cannot_be_asked_about(people, schema):
    with pytest.raises(shoal.UsageError, match="asks about 4 quasi columns"):
        shoal.measures.Workload(quasi=4).draw(people, schema)
    with pytest.raises(shoal.UsageError, match="'selectivity' parameter of Workload must be"):
        shoal.measures.Workload(selectivity=0)
    with pytest.raises(shoal.InputError, match="A release or its directory is needed"):
        shoal.measures.query_error(people, people, schema)


def test_a_closer_release_errs_less():
    table = census(2000)
    known = shoal.Schema(quasi=["age", "occupation"], sensitive="income")
    questions = shoal.measures.Workload(queries=300).draw(table, known, seed=2)
    fine, coarse = (
        shoal.anonymize(table, known, require=f"KAnonymity(k={k})", method="Mondrian()")
        for k in (2, 200)
    )
    assert questions.error(fine).median < questions.error(coarse).median


def test_a_file_without_a_column_of_its_manifest_is_refused(directory, tmp_path):
    published = pl.read_parquet(directory / "release.parquet")
    (tmp_path / "manifest.json").write_bytes((directory / "manifest.json").read_bytes())
    for lacking in ("age", "income"):
        published.drop(lacking).write_parquet(tmp_path / "release.parquet")
        stated_anew(tmp_path)
        outcome = shell.shoal("count", tmp_path, "age > 3")
        assert outcome.code == 1
        assert "the manifest says" in outcome.err


def test_missing_numbers_meet_no_comparison():
    table = pl.DataFrame({"age": [1, 2, 3], "pay": [1, 1, 2], "other": [5, None, 7]})
    known = shoal.Schema(quasi="age", sensitive="pay", other="other")
    release = shoal.anonymize(table, known, require="KAnonymity(k=3)")
    assert release.count("other > 0") == 2
    assert release.count("other != 5") == 1
    assert release.count("not other > 0") == 1


def test_numbers_in_another_writing_and_numbers_beside_missing_ones_are_counted():
    table = pl.DataFrame(
        {"age": ["1", "2", None, "4"], "pay": ["1.000,5", "2.000", "3", "4"], "x": list("aabb")}
    )
    known = shoal.Schema(quasi=["age", "x"], sensitive="pay", decimal=",")
    release = shoal.anonymize(
        table, known, require="KAnonymity(k=2)", method="Mondrian()", missing="value"
    )
    assert release.count("pay > 1000") == 2
    assert release.count("age <= 2") == pytest.approx(2)
    questions = shoal.measures.Workload(quasi=2, queries=20).draw(table, known, seed=1)
    assert questions.error(release).mean < 2
    assert release.losses()["gcp"] == pytest.approx(release.loss)
