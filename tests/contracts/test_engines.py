"""What every engine keeps: the same cases on one machine and on Spark.

Everything published is looked at with plain Polars, from the definitions.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import jvm
import shoal
from parted import in_parts, with_digests
from searched import searched
from shoal.audit.tables import read_manifest
from shoal.views.text import print_release
from system.shell import shoal as shell

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

pytestmark = pytest.mark.spark

ROWS = 1200
EPSILON = "income: EpsilonM(epsilon=50, m=3)"
CASES: dict[str, tuple[dict[str, Any], Any, dict[str, Any]]] = {
    "split": ({}, EPSILON, {"method": "Split()"}),
    "exchange": ({}, EPSILON, {"method": "Exchange()"}),
    "k-anonymity and labels": (
        {"quasi": ["age", "town", "region"]},
        ["KAnonymity(k=4)", "illness: FrequencyL(l=2)"],
        {"form": "bounds"},
    ),
    "several, composite": (
        {},
        [EPSILON, "illness+income: FrequencyL(l=3)", "illness: DistinctL(l=2)"],
        {"method": "Mondrian()"},
    ),
    "never mixed": ({"never_mix": ["sex"]}, EPSILON, {}),
    "scaled": (
        {"sensitive": ["income", "illness", "region"], "never_mix": ["sex"]},
        "income+region: Dissimilarity(epsilon=0.1, delta=0.6, k=3)",
        {},
    ),
    "oblivious": ({}, EPSILON, {"method": "Oblivious()"}),
    "hierarchies": (
        {"hierarchies": {"age": "Quantiles(parts=4)", "town": "Prefix()"}},
        "KAnonymity(k=3)",
        {"method": None},
    ),
    "means": ({}, EPSILON, {"form": "means", "method": "Split()"}),
    "missing values": ({}, EPSILON, {"missing": "value", "holes": True}),
    "missing means": ({}, EPSILON, {"missing": "value", "holes": True, "form": "means"}),
    "missing dropped": ({}, EPSILON, {"missing": "drop", "holes": True}),
    "suppression": ({}, "illness: FrequencyL(l=3)", {"suppress": "30%", "crowd": True}),
    "weights": ({"survey_weight": "weight"}, EPSILON, {"method": "Split()"}),
}


def table(*, rows: int = ROWS, holes: bool = False, crowd: bool = False, seed: int = 7):
    """Return people with ties, extremes and a crowd of equal values."""
    draw = np.random.default_rng(seed)
    illnesses = np.array(["flu", "cold", "asthma", "gout", "ulcer"])
    people = pl.DataFrame(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": draw.integers(17, 90, rows),
            "town": draw.choice(["Ulm", "Aalen", "Bonn", "[Köln]", 'a "b"'], rows),
            "sex": draw.choice(["f", "m"], rows),
            "region": np.round(draw.normal(0, 10, rows), 1) + 0.0,  # no minus before a zero
            "income": draw.integers(0, 400, rows) * 25,
            "illness": draw.choice(illnesses, rows, p=[0.3, 0.3, 0.2, 0.1, 0.1]),
            "note": [f"x{row % 7}" for row in range(rows)],
            "weight": draw.integers(1, 9, rows),
        }
    )
    if crowd:
        flu = pl.Series(draw.random(rows) < 0.2)
        people = people.with_columns(
            pl.when(flu).then(pl.lit("flu")).otherwise("illness").alias("illness")
        )
    if holes:
        missing = pl.Series(draw.random(rows) < 0.02)
        people = people.with_columns(pl.when(~missing).then("age").alias("age"))
    return people


def asked(name):
    said, require, how = CASES[name]
    # Where nobody names a method, one machine tries `Split()` too on tables as small as these.
    how = {"method": "Exchange()"} | how
    made = {key: how.pop(key) for key in ("holes", "crowd") if key in how}
    roles = {"quasi": ["age", "town", "sex"], "sensitive": ["income", "illness"], "other": ["note"]}
    return table(**made), shoal.Schema(**(roles | said)), require, how


def cells(frame: pl.DataFrame) -> list[str]:
    """Return rows without the numbers of groups and people, in no order."""
    kept = frame.drop("group", "person", strict=False)
    return sorted(json.dumps(row, default=str) for row in kept.rows())


def grouped(frame: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the groups as the rows that they hold, in no order."""
    return sorted(tuple(cells(part)) for _, part in frame.group_by("group"))


def published(release) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(release.table.toArrow()))


def near(values: list[int], epsilon: int) -> Fraction:
    """Return the largest share of a group that lies within epsilon of one of its values."""
    most = max(sum(abs(one - other) <= epsilon for other in values) for one in values)
    return Fraction(most, len(values))


def scaled_risk(
    whole: pl.DataFrame, group: pl.DataFrame, names: Iterable[str], epsilon: float
) -> float:
    """Return which share of the others is within epsilon, columns over their published ranges."""
    points = [[value / (whole[n].max() - whole[n].min()) for value in group[n]] for n in names]  # type: ignore[operator]
    rows = list(zip(*points, strict=True))
    close = [
        sum(sum(abs(x - y) for x, y in zip(u, v, strict=True)) <= epsilon for v in rows)
        for u in rows
    ]
    return (max(close) - 1) / (len(rows) - 1)


def cases(*short: str, of: Iterable[str] = CASES):
    """Return all cases; those that are not named take minutes together."""
    return [pytest.param(name, marks=[] if name in short else [pytest.mark.long]) for name in of]


# Of `Oblivious()` one machine says which part of its cuts a group comes from, and Spark does not.
ALIKE = [name for name in CASES if name != "oblivious"]


@pytest.mark.parametrize("name", cases("exchange", "k-anonymity and labels", of=ALIKE))
def test_one_shard_has_the_groups_and_cells_of_one_machine(name, tmp_path):
    people, schema, require, how = asked(name)
    here = shoal.anonymize(people, schema, require=require, **how)
    there = shoal.anonymize(jvm.frame(people), schema, require=require, engine=jvm.engine(), **how)
    mine, theirs = here.typed(), published(there)
    assert theirs.columns == mine.columns
    assert grouped(theirs) == grouped(mine)
    said, known = there.manifest.to_dict(), here.manifest.to_dict()
    assert said["asked"].pop("engine").startswith("Spark(")
    skipped = {"id", "digests", "loss"}
    for key in known.keys() - skipped - {"measured"}:
        assert said[key] == known[key], key
    assert said.keys() == known.keys()
    print_release(there, tmp_path)  # what the command says of it
    assert there.loss == pytest.approx(here.loss, abs=1e-12)
    assert there.audit().measured() == here.audit().measured()
    assert shoal.audit(there).measured() == here.audit().measured()
    counted = "income >= 5000"
    assert there.count(counted) == pytest.approx(shoal.count(here, counted))


@pytest.mark.parametrize("name", cases("several, composite", "scaled", "oblivious", "hierarchies"))
def test_several_shards_keep_every_row_once_and_what_is_required(name, tmp_path):
    people, schema, require, how = asked(name)
    target = tmp_path / "out"
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    run = shoal.results.Run(
        table=path,
        schema=schema,
        require=require,
        output=target,
        engine=jvm.engine(shard=300),
        **how,
    )
    outcome = run.publish()
    manifest = json.loads((target / "manifest.json").read_text())
    assert manifest["rows"] + manifest["suppressed"] + manifest["dropped"] == ROWS
    assert outcome.release.settings["shards"] > 1
    found = shoal.audit(target)
    assert found.holds, found.complaints()
    assert found.measured() == read_manifest(target).measured
    assert shoal.report(target).encode() == (target / "report.html").read_bytes()
    parts = pl.read_parquet(target / "release.parquet" / "*.parquet")
    if manifest["rows"] == ROWS:
        kept = ["income", "illness", "note"]
        assert sorted(parts.select(kept).rows()) == sorted(people.select(kept).rows())
    for _, group in parts.group_by("group"):
        if EPSILON in manifest["require"]:
            assert near(group["income"].to_list(), 50) <= Fraction(1, 3)
        if schema.never_mix:
            assert group["sex"].n_unique() == 1
        if name == "scaled":
            assert scaled_risk(parts, group, ("income", "region"), 0.1) <= 0.4
    assert {one.name for one in target.iterdir()} == {
        "release.parquet", "manifest.json", "report.html", "codebook.csv",
    }  # fmt: skip


ELSEWHERE = ("scaled", "hierarchies", "missing means", "suppression")  # what travels furthest


@pytest.mark.long
def test_cases_hold_on_executors_that_are_processes_of_their_own():
    """All of them in one session, since another master needs another process."""
    known = f"{__file__}::test_several_shards_keep_every_row_once_and_what_is_required"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "", *(f"{known}[{one}]" for one in ELSEWHERE)],
        env=os.environ | {jvm.MASTER: "local-cluster[2,1,1024]"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.startswith("." * len(ELSEWHERE)), ran.stdout


def with_people(rows: int = 900) -> pl.DataFrame:
    """Return rows of which one to three are about one person."""
    draw = np.random.default_rng(3)
    whom = np.repeat(np.arange(rows), draw.choice([1, 2, 3], rows, p=[0.5, 0.3, 0.2]))[:rows]
    return table(rows=rows).with_columns(pl.Series("who", whom).cast(pl.String))


@pytest.mark.smoke
def test_the_rows_of_a_person_stay_together():
    people = with_people().with_columns(ward=pl.int_range(pl.len()) % 7, all=pl.lit("same"))
    schema = shoal.Schema(
        quasi=["age", "sex"], sensitive="income", person="who", other=["all", "ward"]
    )
    require = ["EpsilonM(epsilon=50, m=2)", "KAnonymity(k=3)"]
    release = shoal.anonymize(
        jvm.frame(people), schema, require=require, engine=jvm.engine(250), suppress="5%"
    )
    assert release.settings["shards"] > 1
    shown = published(release)
    assert shown.columns == ["group", "person", "age", "sex", "income", "ward", "all"]
    wards = shown.group_by("group", "person").agg(
        pl.col("ward").sort().cast(pl.String).str.join(" ")
    )
    alike = wards.group_by("group", "ward").len()
    alone = [one.alone for one in release.manifest.exposed]
    assert alone == [alike.filter(pl.col("len") == 1).height, 0]
    assert release.manifest.verdict == "holds-with-open-questions"
    assert (shown.group_by("person").agg(pl.col("group").n_unique())["group"] == 1).all()
    for _, group in shown.group_by("group"):
        counts = group.group_by("person").agg(pl.len(), pl.col("income"))
        for _, alike in counts.group_by("len"):  # whoever has equally many rows is a candidate
            assert alike.height >= 3
            values = [
                set(one[0] if isinstance(one[0], list) else one)
                for one in alike["income"].to_list()
            ]
            for value in set().union(*values):
                near = sum(any(abs(value - one) <= 50 for one in mine) for mine in values)
                assert Fraction(near, alike.height) <= Fraction(1, 2)
    manifest = release.manifest.to_dict()
    assert manifest["people"] == shown["person"].n_unique()
    left = manifest["suppressed"] + manifest["capped"] + manifest["dropped"]
    assert manifest["rows"] + left == people.height


def test_text_in_a_folder_is_published_and_nothing_tells_its_order(tmp_path):
    folder, target = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    people = table(rows=1500).sort("income").with_columns(pl.col("note").replace("x3", None))
    for part in range(3):
        people[part * 500 : part * 500 + 500].write_csv(folder / f"{part}.csv")
    ran = shell(
        "anonymize", folder, "--quasi", "age,town", "--sensitive", "income", "--other", "note",
        "--require", "EpsilonM(epsilon=50, m=3)", "--output", target, "--json",
        "--engine", 'Spark(master="local[2]", shard=400)',
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "name" in ran.err  # columns without a role are named
    assert json.loads(ran.out)["rows"] == 1500
    assert shell("audit", target).code == 0
    parts = [pl.read_parquet(one) for one in sorted((target / "release.parquet").iterdir())]
    shown = pl.concat(parts)
    kept = shown.select("income", "note").with_columns(pl.col("income").cast(pl.Int64))
    assert kept.sort(pl.all()).equals(people.select("income", "note").sort(pl.all()))
    rank = np.corrcoef(np.arange(1500), shown["income"].to_numpy())[0, 1]
    assert abs(rank) < 0.15
    firsts = shown.group_by("group", maintain_order=True).first()
    assert abs(np.corrcoef(firsts["group"].to_numpy(), firsts["income"].to_numpy())[0, 1]) < 0.3
    assert shoal.count(target, "income >= 5000") == (people["income"] >= 5000).sum()


def test_values_that_no_cell_shows_have_no_say_in_types():
    whole = [[str(place), f"19{place}-05-06"] for place in range(20, 80)]
    hidden = [[f"{age}.5", f"{day}T07:08:09"] for age, day in whole]
    inside = {place for place in range(60) if place % 15 not in {0, 14}}
    mixed = [hidden[at] if at in inside else whole[at] for at in range(60)]
    types = []
    for rows in (whole, mixed):
        people = pl.DataFrame(rows, ["age", "born"], orient="row").with_columns(
            ward=pl.int_range(60) // 15 % 2, pay=pl.int_range(60)
        )
        schema = shoal.Schema(quasi=["age", "born", "ward"], sensitive="pay", never_mix=["ward"])
        for form in ("intervals", "bounds"):
            release = shoal.anonymize(
                jvm.frame(people),
                schema,
                require="KAnonymity(k=15)",
                form=form,
                engine=jvm.engine(),
            )
            types.append((form, published(release).drop("group", "pay").unique().sort(pl.all())))
    assert types[0][1].schema["age"] == pl.Struct({"low": pl.Int64, "high": pl.Int64})
    for (form, one), (_, other) in zip(types[:2], types[2:], strict=True):
        assert one.equals(other), form
        assert one.schema == other.schema, form


BAD = {
    "cell": (lambda lines: [*lines[:-1], "many,1"], "'age'.*row 200 of '2.csv'"),
    "row": (lambda lines: [*lines[:-1], "1,2,3"], "row 200 of '2.csv' has 3 cells"),
    "gap": (lambda lines: [*lines[:-1], ",1"], "'age'.*missing.*row 200 of '2.csv'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_cell_in_the_last_file_is_named_in_a_sentence(name, tmp_path):
    spoil, said = BAD[name]
    for part in range(3):
        lines = ["age,pay", *(f"{17 + row % 60},{row * 10}" for row in range(200))]
        (tmp_path / f"{part}.csv").write_text("\n".join(spoil(lines) if part == 2 else lines))
    schema = shoal.Schema(quasi="age", sensitive="pay", types={"age": "numeric"})
    run = shoal.results.Run(
        table=tmp_path, schema=schema, require="KAnonymity(k=3)", output=tmp_path.with_name("o"),
        engine=jvm.engine(),
    )  # fmt: skip
    with pytest.raises(shoal.InputError, match=said) as raised:
        run.publish()
    assert "java" not in str(raised.value).lower()
    assert not tmp_path.with_name("o").exists()
    assert not list(tmp_path.parent.glob(".o.*"))


def test_what_no_grouping_can_keep_is_refused_with_what_is_achievable():
    people = jvm.frame(table(rows=300))
    schema = shoal.Schema(quasi="age", sensitive="income")
    with pytest.raises(shoal.NotAchievable, match=r"What would help: .*epsilon must stay under"):
        shoal.anonymize(people, schema, require="EpsilonM(epsilon=9000, m=5)", engine=jvm.engine())


def test_what_makes_no_sense_or_is_left_open_is_said_on_both_engines(tmp_path):
    """The same refusal, with its exit code, and the same warnings as on one machine."""
    table = pl.DataFrame(
        {
            "patient": [f"p{row // 2}" for row in range(120)],
            "age": [20 + row % 40 for row in range(120)],
            "cost": [row * 37 % 211 for row in range(120)],
            "score": [row % 7 for row in range(120)],
            "town": [("Bonn", "bonn ", "Celle")[row % 3] for row in range(120)],
            "code": [f"c{row * 37 % 211 // 53}" for row in range(120)],
            "ill": [f"i{row * 37 % 211 // 53 % 3}" for row in range(120)],
        }
    )
    table.write_csv(tmp_path / "t.csv")
    asked: dict[str, Any] = {"table": tmp_path / "t.csv", "require": ["KE(k=3, e=5)"]}
    whom = shoal.Schema(quasi="age", sensitive="cost", person="patient")
    said = []
    for engine in (shoal.Local(), jvm.engine()):
        with pytest.raises(shoal.UsageError, match="defined for one value per person") as problem:
            shoal.results.Run(schema=whom, engine=engine, output=tmp_path / "no", **asked).publish()
        said.append(problem.value.sentence)
    assert said[0] == said[1]
    assert not (tmp_path / "no").exists()
    rows = shoal.Schema(quasi=["age", "town", "code"], sensitive=["cost", "score", "ill"])
    asked["require"] = ["cost: EpsilonM(epsilon=5, m=2)", "KAnonymity(k=1)", "ill: FrequencyL(l=2)"]
    asked["context"] = {"review_date": "2020-01-31"}
    for place, engine in (("here", shoal.Local()), ("there", jvm.engine())):
        run = shoal.results.Run(schema=rows, engine=engine, output=tmp_path / place, **asked)
        warned = " ".join(one.sentence for one in run.publish().remarks if one.warning)
        assert "No requirement protects score." in warned, place
        assert "olumn 'patient'" in warned, place
        assert "KAnonymity(k=1) limits nothing" in warned, place
        assert "'code' alone determines 'ill' in 100% of the rows" in warned, place
        assert "The date of review, 2020-01-31, has passed." in warned, place
        assert "in 'town' (80 rows). Shoal counts each spelling as a value" in warned, place


def test_a_plan_is_the_same_on_both_engines():
    people = table(rows=300)
    schema = shoal.Schema(sensitive="income")
    here = shoal.plan(people, schema)
    assert shoal.plan(jvm.frame(people), schema, engine=jvm.engine()) == here
    for require in ("FrequencyL(l=2)", "Dissimilarity(epsilon=10, delta=0.5, k=3)"):
        mine = shoal.plan(people, schema, require=require)
        assert shoal.plan(jvm.frame(people), schema, require=require, engine=jvm.engine()) == mine


@pytest.mark.parametrize("shard", [None, 5000, 60])
def test_rows_beyond_the_most_are_counted_with_people_who_stay(shard):
    """Rows of people who are left out are suppressed, those that were never offered too."""
    draw = np.random.default_rng(4)
    who = np.repeat(np.arange(120), draw.integers(1, 6, 120))
    people = pl.DataFrame(
        {
            "who": [f"p{one}" for one in who],
            "age": draw.integers(20, 60, 120)[who],
            "ill": [["flu", "flu", "flu", "gout", "cold"][one % 5] for one in who],
            "mark": [f"m{row}" for row in range(len(who))],
        }
    )
    schema = shoal.Schema(
        quasi="age", sensitive="ill", other="mark", nobody_knows="mark", person="who", most_rows=2
    )
    release = shoal.anonymize(
        people if shard is None else jvm.frame(people),
        schema,
        require="ill: FrequencyL(l=2)",
        suppress="40%",
        engine=None if shard is None else jvm.engine(shard),
    )
    shown = release.table if shard is None else published(release)
    stays = people.filter(pl.col("mark").is_in(shown["mark"].implode()))
    gone = people.filter(~pl.col("who").is_in(stays["who"].implode()))
    assert (gone.group_by("who").len()["len"] > 2).any()
    manifest = release.manifest
    assert manifest.suppressed == gone.height
    assert manifest.suppressed_people == gone["who"].n_unique()
    assert manifest.capped == people.height - gone.height - stays.height > 0


def with_several_rows(seed: int) -> pl.DataFrame:
    """Return rows of people who have one to four, of whom some are missing, with ties."""
    draw = np.random.default_rng(seed)
    who = np.repeat(np.arange(80), draw.integers(1, 5, 80))
    return pl.DataFrame(
        {
            "who": [None if one == 7 else f"p{one}" for one in who],
            "income": draw.integers(0, 30, len(who)) * 25,
            "illness": [["flu", "cold", None, "gout"][at] for at in draw.integers(0, 4, len(who))],
        }
    ).sample(fraction=1, shuffle=True, seed=seed)


@pytest.mark.parametrize("said", [{}, {"rows": "unknown"}])
def test_a_plan_for_people_is_the_same_on_both_engines(said):
    people = with_several_rows(5)
    schema = shoal.Schema(sensitive=["income", "illness"], person="who", **said)
    one = shoal.Schema(sensitive="income", person="who", **said)
    frame = jvm.frame(people)
    there: dict[str, Any] = {"engine": jvm.engine(), "missing": "value"}
    asked: list[dict[str, Any]] = [{}, {"m": 3}, {"epsilon": 25}, {"epsilon": 25, "m": 2}]
    for how in asked:
        here = shoal.plan(people, one, missing="value", **how)
        assert shoal.plan(frame, one, **how, **there) == here
        assert here.people == 80
    for require in (
        "KAnonymity(k=4)",
        "illness: FrequencyL(l=2)",
        "illness+income: FrequencyL(l=3)",
    ):
        mine = shoal.plan(people, schema, require=require, missing="value")
        assert shoal.plan(frame, schema, require=require, **there) == mine


def in_part_files(place) -> Path:
    """Publish on one machine, and part what was written."""
    schema = shoal.Schema(quasi=["age", "town"], sensitive=["income", "illness"], other="note")
    require = ["income: EpsilonM(epsilon=50, m=3)", "illness: FrequencyL(l=2)"]
    shoal.anonymize(table(), schema, require=require).write(place, format="parquet")
    in_parts(place)
    return place


def test_workers_audit_part_files_as_one_machine_does(tmp_path):
    target = in_part_files(tmp_path / "out")
    stricter = ["KAnonymity(k=40)", "illness: DistinctL(l=3)"]
    compared = "illness: TCloseness(t=0.3)"  # groups with the whole table
    for require in (None, stricter, compared):
        here = shoal.audit(target, require=require)
        there = shoal.audit(target, require=require, engine=jvm.engine())
        assert there.measured() == here.measured()
        for name in ("rows", "groups", "holds", "problems", "warnings", "reading"):
            assert getattr(there, name) == getattr(here, name), name
    told = shell("audit", target, "--json", "--engine", 'Spark(master="local[2]")')
    assert told.code == 0, told.err
    assert told.out == shell("audit", target, "--json").out
    path = max((target / "release.parquet").iterdir())
    spoiled = pl.read_parquet(path).with_columns(pl.col("income").first())
    spoiled.write_parquet(path)
    said = " ".join(shoal.audit(target, engine=jvm.engine()).complaints())
    assert "is not the one that was published" in said
    with_digests(target)
    found = shoal.audit(target, engine=jvm.engine())
    assert not found.holds
    assert found.measured() == shoal.audit(target).measured()
    assert shell("audit", target, "--engine", 'Spark(master="local[2]")').code == 1


def test_one_place_with_most_of_the_rows_is_published_in_shards():
    people = table(rows=2000).with_columns(
        pl.when(pl.int_range(2000) < 1200).then(40).otherwise("age").alias("age"),
        pl.when(pl.int_range(2000) < 1200).then(pl.lit("f")).otherwise("sex").alias("sex"),
    )
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="income")
    require = "EpsilonM(epsilon=50, m=3)"
    here = shoal.anonymize(people, schema, require=require, method="Split()")
    there = shoal.anonymize(
        jvm.frame(people), schema, require=require, engine=jvm.engine(400), method="Split()"
    )
    assert there.settings["shards"] >= 5
    assert there.manifest.rows == 2000
    assert there.loss < here.loss * 1.5
    shown = published(there)
    for _, group in shown.group_by("group"):
        assert near(group["income"].to_list(), 50) <= Fraction(1, 3)


def every_text(directory) -> tuple[str, str]:
    """Return whatever published files say, cells and dictionaries too, and the bytes of tables."""
    found: list[str] = []
    packed: list[str] = []
    for path in sorted(one for one in directory.rglob("*") if one.is_file()):
        text = path.read_bytes().decode("latin1")
        (packed if path.suffix == ".parquet" else found).append(text)
        if path.suffix != ".parquet":
            continue
        file = pq.ParquetFile(path)
        found += [str(file.schema), str(file.metadata)]
        found += [base64.b64decode(v).decode("latin1") for v in file.metadata.metadata.values()]
        columns = [file.schema.column(at).path for at in range(len(file.schema))]
        held = pq.read_table(path, read_dictionary=columns)
        found += [json.dumps(held.to_pylist(), default=str, ensure_ascii=False)]
        for column in held.columns:
            found += [str(one.dictionary) for one in column.chunks if hasattr(one, "dictionary")]
        for group in range(file.metadata.num_row_groups):
            chunks = file.metadata.row_group(group)
            found += [str(chunks.column(at)) for at in range(file.metadata.num_columns)]
    return "\n".join(found), "\n".join(packed)


LEFT_OUT = {
    "x": "3.5",
    "y": "1e9",
    "town": "FARMARK",
    "day": "2031-12-31",
    "pay": "777777",
    "note": "NOTEMARK",
}
LEAKS: dict[str, tuple[dict[str, Any], str, int]] = {
    "intervals": ({}, "intervals", 500),
    "several shards": ({}, "intervals", 30),
    "bounds": ({}, "bounds", 500),
    "means": ({}, "means", 500),
    "hierarchies": (
        {"town": "Prefix()", "x": "Quantiles(parts=2)", "day": "Calendar()"}, "intervals", 500,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", cases("several shards", "hierarchies", of=LEAKS))
def test_nothing_of_rows_left_out_stands_in_any_file(name, tmp_path):
    hierarchies, form, shard = LEAKS[name]
    rows = [
        {
            "x": f"{row % 4 + 1}.500",  # the shortest way to write it is that of the row left out
            "y": str(row % 3),
            "town": ["here", "there"][row % 2],
            "day": f"2020-01-{row % 5 + 1:02}",
            "pay": str(1000 + row * 7),
            "note": f"n{row % 3}",
        }
        for row in range(60)
    ]
    pl.DataFrame([*rows[:30], LEFT_OUT, *rows[30:]]).write_csv(tmp_path / "people.csv")
    schema = shoal.Schema(
        quasi=["x", "y", "town", "day"], sensitive="pay", other="note", hierarchies=hierarchies
    )
    for place, engine in (("here", shoal.Local()), ("there", jvm.engine(shard))):
        shoal.results.Run(
            table=tmp_path / "people.csv", schema=schema, require="KAnonymity(k=5)", form=form,
            suppress="5%", output=tmp_path / place, engine=engine, format="parquet",
        ).publish()  # fmt: skip
    here, there = (
        json.loads((tmp_path / place / "manifest.json").read_text()) for place in ("here", "there")
    )
    assert there["suppressed"] >= 1
    said, packed = every_text(tmp_path / "there")
    shown = searched(said)
    for mark in ("FARMARK", "2031-", '"2031"', "777777", "NOTEMARK", "1000000000", "1e9", "1e+09"):
        assert mark not in shown, mark
        assert len(mark) < 5 or mark not in packed, mark  # any three bytes are there now and then
    domains = {one["name"]: one.get("domain") for one in there["columns"]}
    assert json.dumps(domains["y"]) == "[0, 2]"
    if name == "hierarchies":
        leaves = {one["name"] for one in domains["x"]["nodes"]}
        assert "3.5" not in leaves
        assert "3.500" in leaves
    if name != "several shards":
        assert there["columns"] == here["columns"]
        assert there["loss"]["gcp"] == pytest.approx(here["loss"]["gcp"])
        books = [(tmp_path / one / "codebook.csv").read_text() for one in ("here", "there")]
        assert books[0] == books[1]


def test_a_share_of_the_whole_table_may_be_left_out_wherever_it_is_needed(tmp_path):
    people = table(rows=1000).with_columns(
        pl.when(pl.int_range(1000) < 9).then(pl.lit("x")).otherwise("sex").alias("sex")
    )
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="income", never_mix="sex")
    require = "KAnonymity(k=10)"  # which nine people cannot keep by themselves
    for share, fits in (("1%", True), ("0.8%", False)):
        asked: dict[str, Any] = {"require": require, "suppress": share, "engine": jvm.engine(300)}
        if not fits:
            with pytest.raises(shoal.NotAchievable, match="suppress` allows 8 of the whole table"):
                shoal.anonymize(jvm.frame(people), schema, **asked)
            continue
        release = shoal.anonymize(jvm.frame(people), schema, **asked)
        assert release.manifest.suppressed in {9, 10}
        assert set(published(release)["sex"].explode()) == {"f", "m"}


def test_nobody_is_left_out_by_a_method_that_must_not_choose(tmp_path):
    schema = shoal.Schema(quasi=["age", "sex"], sensitive="income", never_mix="sex")
    for engine, people in (
        (shoal.Local(shard=100), table(rows=400)),
        (jvm.engine(100), jvm.frame(table(rows=400))),
    ):
        with pytest.raises(shoal.UsageError, match="does not remove rows"):
            shoal.anonymize(
                people,
                schema,
                require="EpsilonM(epsilon=50, m=3)",
                method="Oblivious()",
                suppress="2%",
                engine=engine,
            )
