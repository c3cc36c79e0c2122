"""A coarser release is made of unions of groups, keeps what both ask for, and reads one alone."""

import csv
import hashlib
import itertools
import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from amount import examples
from reference import proximity
from reference import series as oracle
from shoal.audit.nesting import Filling
from shoal.methods.base import Task
from shoal.methods.coarsening import Coarsening, Now
from shoal.principles.groups import Groups
from shoal.principles.requirement import requirements
from shoal.table.coded import code_table

SEEDS = range(12)


def table(draw: random.Random) -> pl.DataFrame:
    rows = draw.randint(12, 34)
    missing = draw.random() < 0.3

    def job() -> str | None:
        return None if missing and draw.random() < 0.2 else draw.choice("abcde")

    return pl.DataFrame(
        {
            "age": [draw.choice([20, 30, 30, 41, 55, 60, 77]) for _ in range(rows)],
            "score": [draw.choice(["0.5", "1e3", "2", "-3", "1000.0"]) for _ in range(rows)],
            "job": [job() for _ in range(rows)],
            "zip": [draw.choice(["1101", "1102", "1201", "2101", "2102"]) for _ in range(rows)],
            "born": [f"19{draw.randint(50, 59)}-0{draw.randint(1, 9)}-11" for _ in range(rows)],
            "salary": [draw.choice([0, 10, 10, 20, 35, 50, 80, 10**9]) for _ in range(rows)],
            "note": [draw.choice(["x", "y", ""]) for _ in range(rows)],
        }
    )


SCHEMA = shoal.Schema(
    quasi=["age", "score", "job", "zip", "born"],
    sensitive="salary",
    other="note",
    types={"zip": "code"},
    hierarchies={"zip": "Prefix()"},
)


def values(directory: Path) -> list[list[str]]:
    return [[row["salary"] for row in rows] for rows in oracle.read(directory)[1].values()]


def finer(draw: random.Random, directory: Path, format: str = "csv") -> None:
    epsilon = draw.choice([0, 5, 10])
    release = shoal.anonymize(
        table(draw),
        SCHEMA,
        require=[f"EpsilonM(epsilon={epsilon}, m=2)"],
        method=draw.choice(["Exchange()", "Split()"]),
        missing="value",
    )
    release.write(directory, format=format)


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_are_unions_that_hold(seed, tmp_path):
    draw = random.Random(seed)
    fine, coarse = tmp_path / "fine", tmp_path / "coarse"
    try:
        finer(draw, fine)
    except shoal.NotAchievable:
        pytest.skip("nothing finer can be made of this table")
    k = draw.choice([3, 4, 6])
    asked = draw.choice([f"KAnonymity(k={k})", f"FrequencyL(l={min(k, 3)})"])
    try:
        shoal.coarsen(fine, require=asked).write(coarse)
    except shoal.NotAchievable:
        return
    assert oracle.nests(fine, coarse)
    kept = json.loads((fine / "manifest.json").read_text())["require"][0]
    epsilon = int(kept.split("epsilon=")[1].split(",")[0])
    for group in values(coarse):
        assert proximity.holds(group, "absolute", 2, epsilon=epsilon)
        if asked.startswith("KAnonymity"):
            assert len(group) >= k
        else:
            assert max(map(group.count, group)) * min(k, 3) <= len(group)
    found = shoal.audit_series([fine, coarse])
    assert found.holds, found.complaints()
    manifest = json.loads((coarse / "manifest.json").read_text())
    digest = hashlib.sha256((fine / "manifest.json").read_bytes()).hexdigest()
    assert manifest["coarsened_from"] == f"sha256:{digest}"
    assert manifest["require"] == [kept, asked]


def spoil(directory: Path, draw: random.Random) -> None:
    """Exchange what two rows carry, and let the manifest say that this was published."""
    path = directory / "release.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    one, two = draw.sample(range(len(rows)), 2)
    for place in (header.index("salary"), header.index("note")):
        rows[one][place], rows[two][place] = rows[two][place], rows[one][place]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    manifest = json.loads((directory / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["digests"]["release.csv"] = f"sha256:{digest}"
    (directory / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.more
def test_the_audit_finds_what_an_exhaustive_search_finds(tmp_path):
    found = {True: 0, False: 0}
    for seed in range(examples(14)):
        draw = random.Random(seed)
        fine, coarse = tmp_path / f"fine{seed}", tmp_path / f"coarse{seed}"
        try:
            finer(draw, fine)
            shoal.coarsen(fine, require="KAnonymity(k=4)").write(coarse)
        except shoal.NotAchievable:
            continue
        spoil(coarse, draw)
        nested = oracle.nests(fine, coarse)
        audit = shoal.audit_series([fine, coarse])
        said = [one for one in audit.problems if "unions" in one or "other cells" in one]
        assert bool(said) is not nested, (seed, audit.problems)
        found[nested] += 1
    assert found[False] >= examples(3), found


def test_only_the_finer_release_is_read(tmp_path):
    draw = random.Random(3)
    fine, coarse = tmp_path / "fine", tmp_path / "coarse"
    finer(draw, fine, format="parquet")
    moved = tmp_path / "elsewhere"
    fine.rename(moved)
    shoal.coarsen(moved, require="KAnonymity(k=4)", seed=1).write(coarse, format="parquet")
    again = tmp_path / "again"
    shoal.coarsen(moved, require="KAnonymity(k=4)", seed=1).write(again, format="parquet")
    assert (coarse / "release.parquet").read_bytes() == (again / "release.parquet").read_bytes()
    assert shoal.audit_series([moved, coarse]).holds


def test_columns_that_are_never_mixed_stay_so(tmp_path):
    draw = random.Random(5)
    frame = pl.DataFrame(
        {
            "sex": [draw.choice("fm") for _ in range(60)],
            "age": [draw.randint(20, 60) for _ in range(60)],
            "salary": draw.sample(range(1000), 60),
        }
    )
    schema = shoal.Schema(quasi=["sex", "age"], sensitive="salary", never_mix="sex")
    shoal.anonymize(frame, schema, require="KAnonymity(k=3)").write(tmp_path / "fine")
    shoal.coarsen(tmp_path / "fine", require="KAnonymity(k=9)").write(tmp_path / "coarse")
    _, groups = oracle.read(tmp_path / "coarse")
    assert {rows[0]["sex"] for rows in groups.values()} == {"f", "m"}
    assert min(map(len, groups.values())) >= 9
    assert shoal.audit_series([tmp_path / "fine", tmp_path / "coarse"]).holds


@pytest.mark.parametrize(
    ("form", "made"),
    [("bounds", "bounds"), ("means", "intervals"), ("two-tables", "intervals")],
)
def test_every_form_is_made_coarser_and_nests(form, made, tmp_path):
    draw = random.Random(11)
    frame = pl.DataFrame(
        {
            "age": [draw.randint(20, 60) for _ in range(60)],
            "town": [draw.choice("abcd") for _ in range(60)],
            "salary": draw.sample(range(1000), 60),
        }
    )
    schema = shoal.Schema(quasi=["age", "town"], sensitive="salary")
    require = "EpsilonM(epsilon=3, m=3)"
    shoal.anonymize(frame, schema, require=require, form=form).write(tmp_path / "fine")
    shoal.coarsen(tmp_path / "fine", require="FrequencyL(l=6)").write(tmp_path / "coarse")
    assert json.loads((tmp_path / "coarse" / "manifest.json").read_text())["form"] == made
    found = shoal.audit_series([tmp_path / "fine", tmp_path / "coarse"])
    assert found.holds, found.complaints()


def test_people_get_fresh_numbers(tmp_path):
    draw = random.Random(2)
    frame = pl.DataFrame(
        {
            "who": list(range(80)),
            "age": [draw.randint(20, 60) for _ in range(80)],
            "salary": draw.sample(range(1000), 80),
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="salary", person="who")
    shoal.anonymize(frame, schema, require="KAnonymity(k=3)").write(tmp_path / "fine")
    shoal.coarsen(tmp_path / "fine", require="KAnonymity(k=8)").write(tmp_path / "coarse")
    both = [
        {row["salary"]: row["person"] for rows in oracle.read(place)[1].values() for row in rows}
        for place in (tmp_path / "fine", tmp_path / "coarse")
    ]
    assert all(sorted(map(int, one.values())) == list(range(80)) for one in both)
    assert both[0] != both[1]
    assert shoal.audit_series([tmp_path / "fine", tmp_path / "coarse"]).holds


def visits(draw: random.Random) -> pl.DataFrame:
    rows = [
        {
            "who": person,
            "age": draw.randint(20, 60),
            "town": draw.choice("abc"),
            "salary": draw.choice([0, 10, 20, 300, 500, 510, 900, draw.randint(0, 1000)]),
        }
        for person in range(50)
        for _ in range(draw.choice([1, 1, 2, 3]))
    ]
    return pl.DataFrame(rows)


PEOPLE = shoal.Schema(quasi=["age", "town"], sensitive="salary", person="who")


def members(directory: Path) -> dict[str, list[tuple[int, ...]]]:
    """Return what the people of each group have, sorted, by group."""
    found: dict[str, list[tuple[int, ...]]] = {}
    for group, rows in oracle.read(directory)[1].items():
        by_person: dict[str, list[int]] = {}
        for row in rows:
            by_person.setdefault(row["person"], []).append(int(row["salary"]))
        found[group] = [tuple(sorted(some)) for some in by_person.values()]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_people_with_several_rows_stay_whole_and_are_what_is_counted(seed, tmp_path):
    draw = random.Random(seed)
    fine, coarse = tmp_path / "fine", tmp_path / "coarse"
    require = ["EpsilonM(epsilon=15, m=2)"]
    most = draw.choice([None, 2])
    schema = replace(PEOPLE, most_rows=most)
    try:
        shoal.anonymize(visits(draw), schema, require=require, suppress="20%").write(fine)
        shoal.coarsen(fine, require="KAnonymity(k=4)").write(coarse)
    except shoal.NotAchievable:
        pytest.skip("nothing can be made of these people")
    everybody = [
        sorted(one for people in members(place).values() for one in people)
        for place in (fine, coarse)
    ]
    assert everybody[0] == everybody[1]
    for people in members(coarse).values():
        for count in {len(one) for one in people}:
            alike = [one for one in people if len(one) == count]
            assert len(alike) >= 4
            for value in {value for one in alike for value in one}:
                near = sum(any(abs(value - other) <= 15 for other in one) for one in alike)
                assert 2 * near <= len(alike)
    said = [json.loads((place / "manifest.json").read_text()) for place in (fine, coarse)]
    for key in (
        "people",
        "rows",
        "rows_in",
        "capped",
        "suppressed",
        "suppressed_people",
        "dropped",
    ):
        assert said[0][key] == said[1][key], key
    found = shoal.audit_series([fine, coarse])
    assert found.holds, found.complaints()


def test_rows_that_change_their_person_are_found(tmp_path):
    draw = random.Random(4)
    fine, coarse = tmp_path / "fine", tmp_path / "coarse"
    shoal.anonymize(visits(draw), PEOPLE, require="KAnonymity(k=2)").write(fine)
    shoal.coarsen(fine, require="KAnonymity(k=5)").write(coarse)
    assert shoal.audit_series([fine, coarse]).holds
    path = coarse / "release.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))

    def everybody():
        """Return what people have, without who they are."""
        return Counter(
            tuple(sorted(row["salary"] for row in rows if row["person"] == person))
            for person in {row["person"] for row in rows}
        )

    before = everybody()
    for one, other in itertools.combinations(rows, 2):
        if one["group"] != other["group"]:
            continue
        one["person"], other["person"] = other["person"], one["person"]
        if everybody() != before:
            break
        one["person"], other["person"] = other["person"], one["person"]
    assert everybody() != before
    with path.open("w", newline="") as file:
        written = csv.DictWriter(file, rows[0], lineterminator="\n")
        written.writeheader()
        written.writerows(rows)
    manifest = json.loads((coarse / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["digests"]["release.csv"] = f"sha256:{digest}"
    (coarse / "manifest.json").write_text(json.dumps(manifest))
    assert any("not unions" in said for said in shoal.audit_series([fine, coarse]).problems)


def test_survey_weights_are_those_of_the_rows_that_were_joined(tmp_path):
    draw = random.Random(7)
    fine, coarse = tmp_path / "fine", tmp_path / "coarse"
    frame = pl.DataFrame(
        {
            "age": [draw.randint(20, 60) for _ in range(70)],
            "pay": draw.sample(range(9000), 70),  # every row can be found again
            "w": [draw.choice(["1", "2.5", "0.333", "1000"]) for _ in range(70)],
        }
    )
    schema = shoal.Schema(quasi="age", sensitive="pay", survey_weight="w")
    shoal.anonymize(frame, schema, require="KAnonymity(k=3)").write(fine)
    shoal.coarsen(fine, require="KAnonymity(k=8)").write(coarse)
    rows = {
        row["pay"]: (row["group"], Fraction(row["w"]))
        for rows in oracle.read(fine)[1].values()
        for row in rows
    }
    exact = dict(zip(map(str, frame["pay"]), map(Fraction, frame["w"]), strict=True))
    uneven = 0
    for group in oracle.read(coarse)[1].values():
        (shown,) = {float(row["w"]) for row in group}
        weighted = sum((rows[row["pay"]][1] for row in group), Fraction(0)) / len(group)
        assert shown == pytest.approx(float(weighted))
        assert shown == pytest.approx(float(sum(exact[row["pay"]] for row in group) / len(group)))
        parts = {rows[row["pay"]] for row in group}
        plain = sum((weight for _, weight in parts), Fraction(0)) / len(parts)
        uneven += abs(plain - weighted) > Fraction(1, 1000)
    assert uneven  # a mean that forgets how large groups are would be seen
    assert shoal.audit_series([fine, coarse]).holds
    path = coarse / "release.csv"
    changed = pl.read_csv(path, infer_schema=False)
    group = changed["group"][0]
    other = pl.when(pl.col("group") == group).then(pl.lit("17.5")).otherwise("w").alias("w")
    changed.with_columns(other).write_csv(path)
    manifest = json.loads((coarse / "manifest.json").read_text())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    manifest["digests"]["release.csv"] = f"sha256:{digest}"
    (coarse / "manifest.json").write_text(json.dumps(manifest))
    assert any("survey weight" in said for said in shoal.audit_series([fine, coarse]).problems)


def test_groups_with_equal_rows_are_tried_until_their_cells_fit():
    ones = [Counter([1, 2]) for _ in range(4)]
    twos = [Counter([1, 1, 2, 2]) for _ in range(2)]
    tried = []

    def accept(owner: list[int]) -> bool:
        tried.append(list(owner))
        return owner == [1, 0, 1, 0]

    assert Filling(ones, twos, [{0, 1} for _ in ones]).run(accept) == [1, 0, 1, 0]
    assert len(tried) > 1
    ones = [Counter([1, 2]) for _ in range(4)]
    twos = [Counter([1, 1, 2, 2]) for _ in range(2)]
    assert Filling(ones, twos, [{0, 1} for _ in ones]).run(lambda _: False) is None


def test_a_union_is_compared_with_the_table_whatever_unions_are_tried_beside_it():
    """Half the table is 1; {1, 1} with {2, 2} is as the table, and with {1, 2} it is not."""
    salaries = [1, 1, 2, 2, 1, 2, 1, 2]
    groups = Groups(np.repeat(np.arange(4), 2))
    frame = pl.DataFrame({"age": range(8), "salary": salaries})
    schema = shoal.Schema(quasi="age", sensitive="salary")
    for asked, of_table, of_other in (
        ("TCloseness(t=0.1)", 0, Fraction(1, 4)),
        ("BetaLikeness(beta=0.1)", 0, Fraction(1, 2)),
        ("DeltaDisclosure(delta=0.1)", 0, Fraction(1, 2)),
    ):
        task = Task(code_table(frame, schema), tuple(requirements(asked, ["salary"])))
        now = Now(Coarsening(task, 0, groups, np.zeros(4, np.int64)), groups)
        for one, other, expected in (
            ([0], [1], [of_table]),
            ([0], [2], [of_other]),
            ([0, 0, 0], [1, 2, 3], [of_table, of_other, of_other]),
        ):
            (found,) = now.measure(np.array(one), np.array(other))
            pairs = zip(found.parts, found.wholes, strict=True)
            assert [Fraction(int(part), int(whole)) for part, whole in pairs] == expected, asked
