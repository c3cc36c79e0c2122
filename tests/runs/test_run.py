"""A run is everything asked for at once: what overrules what, what is refused, what is told."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import polars as pl
import pytest

import shoal
from amount import examples
from shoal.ask.ask import Ask
from shoal.ask.options import options_of

PEOPLE = pl.DataFrame(
    {
        "age": [17, 19, 20, 24, 29, 34, 39, 45],
        "town": list("aabbabab"),
        "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
        "name": list("abcdefgh"),
    }
)
FILE = """\
table = "people.csv"
quasi = ["age", "town"]
sensitive = "salary"
require = "EpsilonM(epsilon=100, m=2)"
method = "Split()"
output = "published"
missing = "drop"
suppress = "10%"
title = "From the file"
seconds = 2

[columns.age]
weight = 3
type = "numeric"
"""
OVERRULED: dict[str, Any] = {
    "quasi": ["age"],
    "sensitive": "salary",
    "require": ["KAnonymity(k=2)"],
    "method": "Mondrian()",
    "output": "elsewhere",
    "missing": "value",
    "suppress": "0%",
    "title": "From an option",
    "seconds": 9,
}


@pytest.fixture
def file(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    path = tmp_path / "shoal.toml"
    path.write_text(FILE, "utf-8")
    return path


def said(run, name):
    return getattr(run if hasattr(run, name) else run.schema, name)


def test_every_option_overrules_the_file_and_leaves_the_others_alone(file):
    plain = shoal.load(file)
    names = list(OVERRULED)
    for some in itertools.chain([[]], ([name] for name in names), [names]):
        run = shoal.load(file, **{name: OVERRULED[name] for name in some})
        alone = shoal.results.Run.of(**{name: OVERRULED[name] for name in some})
        for name in names:
            told = alone if name in some else plain
            assert said(run, name) == said(told, name), (some, name)
    assert plain.schema.weights == {"age": 3}
    assert shoal.load(file, quasi=["town"]).schema.weights == {}


@pytest.mark.parametrize("nothing", [None, False, [], ()])
def test_what_says_nothing_overrules_nothing(file, nothing):
    plain = shoal.load(file)
    run = shoal.load(file, **dict.fromkeys(OVERRULED, nothing))
    for name in OVERRULED:
        assert said(run, name) == said(plain, name)


def test_an_option_that_there_is_not_is_refused_with_the_nearest():
    with pytest.raises(shoal.UsageError, match=r"no option 'quassi'. Did you mean 'quasi'"):
        shoal.results.Run.of(quassi=["age"])


def test_every_key_of_a_schema_file_is_a_part_of_a_run_or_of_its_schema():
    run = shoal.results.Run.of()
    for name, option in options_of(Ask).items():
        assert not option.key or hasattr(run, name) or hasattr(run.schema, name), name


def test_a_run_does_what_the_file_says_and_tells_what_was_dropped(file):
    heard: list[shoal.results.Remark] = []
    outcome = shoal.load(file, output=file.parent / "out", seed=1).publish(tell=heard.append)
    assert outcome.audit.holds
    told = {"seconds": outcome.facts["seconds"], "seconds_by": "processor"}
    assert outcome.facts == outcome.release.manifest.to_dict() | told
    assert outcome.facts["title"] == "From the file"
    assert list(outcome.remarks) == heard
    assert any("name" in str(one) and not one.warning for one in heard)
    assert any("seed" in str(one) and one.warning for one in heard)
    written = {path.name for path in outcome.files}
    assert {"release.csv", "manifest.json", "report.html"} <= written
    assert all(path.exists() for path in outcome.files)
    assert outcome.report is not None


def test_private_files_are_among_those_written(file):
    linkage = file.parent / "linkage.csv"
    outcome = shoal.load(file, output=file.parent / "out", linkage=linkage).publish()
    assert linkage in outcome.files


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"require": ["EpsilonM(epsilon=1)"]}, "EpsilonM needs m"),
        ({"require": ["KMap(k=2)"]}, "population"),
        ({"method": "Walk()"}, "Unknown name 'Walk'"),
        ({"suppress": "200%"}, "share such as 1%"),
        ({"seconds": -1}, "seconds above 0"),
        ({"seed": -1}, "seed"),
        ({"title": " "}, "title"),
        ({"threshold": 7}, "threshold"),
        ({"format": "doc"}, "written as"),
        ({"engine": "Moon()"}, "Unknown name 'Moon'"),
        ({"linkage": "x.csv", "owner_report": "x.csv"}, "same file"),
    ],
)
def test_what_is_wrong_is_known_before_any_work(file, monkeypatch, wrong, words):
    monkeypatch.chdir(file.parent)
    run = shoal.load(file, **wrong)
    (file.parent / "people.csv").unlink()  # nothing may need it
    run_without_table = shoal.results.Run(**{**vars(run), "table": []})
    with pytest.raises(shoal.UsageError, match=words):
        run_without_table.check()


def test_a_file_that_exists_is_refused_before_any_work(file):
    (file.parent / "published").mkdir()
    with pytest.raises(shoal.OutputError, match="exists"):
        shoal.load(file).check()


def test_frames_and_files_lead_to_the_same_task(file):
    read = shoal.load(file)
    given = shoal.results.Run.of(
        table=PEOPLE, quasi=["age", "town"], sensitive="salary", require=read.require
    )
    for run in (read, given):
        task = run.prepare(run.frame()).task
        assert len(task.coded) == PEOPLE.height
        assert [column.name for column in task.coded.quasi] == ["age", "town"]
        assert task.requirements == tuple(read.requirements)
    facts = given.rehearse()
    assert facts["rows"] == 8
    assert facts["require"][0]["achievable"]


def test_an_output_is_asked_for_in_the_words_of_who_asks():
    with pytest.raises(shoal.UsageError, match="No column has a role") as told:
        shoal.results.Run.of(table=PEOPLE).publish()
    assert ("output", None) in told.value.fix
    assert "--" not in str(told.value)


@pytest.mark.more
@pytest.mark.parametrize("people", [False, True])
def test_a_rehearsal_looks_at_what_is_never_mixed_by_itself(people):
    """What a part cannot keep is refused before a run, and nothing that a run would publish."""
    draw, ends = random.Random(11), Counter[bool]()
    for _ in range(examples(60)):
        rows = draw.randint(6, 16)
        table = pl.DataFrame(
            {
                "pid": [draw.randint(0, rows) if people else row for row in range(rows)],
                "age": [draw.randint(20, 60) for _ in range(rows)],
                "sex": [draw.choice("ffffm") for _ in range(rows)],
                "pay": [draw.randint(0, 9) for _ in range(rows)],
            }
        )
        if people:  # nobody's own rows differ in it
            table = table.with_columns(pl.col("sex").first().over("pid"))
        schema = shoal.Schema(
            quasi="age", never_mix="sex", sensitive="pay", person="pid" if people else None
        )
        run = shoal.results.Run(
            table=table,
            schema=schema,
            require=draw.choice(["KAnonymity(k=2)", "KAnonymity(k=3)", "FrequencyL(l=2)"]),
            suppress=draw.choice([None, "10%", "50%"]),
            seed=1,  # which of their rows people are published with
        )
        said: list[str | None] = []
        for way in (run.rehearse, run.release):
            try:
                way()
                said.append(None)
            except shoal.NotAchievable as problem:
                said.append(problem.sentence)
        foreseen, found = said
        assert (foreseen is None) == (found is None), (said, table.rows())
        ends[found is None] += 1
    assert min(ends[True], ends[False]) >= examples(9)


@pytest.mark.parametrize(("day", "told"), [("2001-01-31", True), ("9999-12-31", False)])
def test_a_date_of_review_that_has_passed_is_told(tmp_path, day, told):
    table = pl.DataFrame({"age": [20 + i % 9 for i in range(60)], "pay": range(60)})
    heard: list[str] = []
    shoal.results.Run(
        table=table,
        schema=shoal.Schema(quasi="age", sensitive="pay"),
        require=("KAnonymity(k=3)",),
        context={"review_date": day},
        output=tmp_path / "out",
    ).publish(tell=lambda one: heard.append(str(one)))
    assert any(f"The date of review, {day}, has passed." in one for one in heard) == told
