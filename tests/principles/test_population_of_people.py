"""k-map where several rows are about one person, by its definition, on heavy-tailed tables."""

from __future__ import annotations

import json
import random
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from amount import examples
from reference import population as definition
from system.shell import shoal as command

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("interval", "set")
COUNTS = (1, 1, 1, 1, 1, 2, 2, 3, 7)  # most people have one row, somebody has many
SEEDS = 32  # of each part of the test that draws most
NAMES = ["who", "age", "town"]

Rows = list[tuple[str, int, str]]


def drawn(chance: random.Random) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw a table of visits and a population around it; some people move between visits."""
    towns = chance.choice(["ab", "abcd"])
    ages = chance.choice([3, 12, 40])
    rows: Rows = []
    people = chance.randint(3, 60)
    for person in range(people):
        age, town = chance.randint(0, ages), chance.choice(towns)
        count = 30 if person == 0 and chance.random() < 0.3 else chance.choice(COUNTS)
        for _ in range(count):
            moved = chance.random() < 0.15
            here = chance.choice(towns + "x") if moved else town
            rows.append((f"p{person}", age + moved * chance.randint(0, 3), here))
    chance.shuffle(rows)
    inside = {f"p{person}" for person in range(people) if chance.random() < 0.5} or {"p0"}
    everybody = pl.DataFrame(rows, schema=NAMES, orient="row")
    if not chance.randint(0, 4):  # a population that lacks some of those in the table
        everybody = everybody.filter(pl.col("who") != "p1")
    table = pl.DataFrame([row for row in rows if row[0] in inside], schema=NAMES, orient="row")
    return table.with_columns(pl.Series("cost", range(table.height))), everybody


def described(age: str, town: str) -> list[tuple[int, str]]:
    """Return rows with the description that cells spell: their corners."""
    ends = json.loads(age) if age.startswith("[") else [json.loads(age)] * 2
    towns = json.loads(town) if town.startswith("[") else [town]
    return [(end, place) for end in ends for place in towns]


def fewest(published: pl.DataFrame, everybody: pl.DataFrame, *, known: bool) -> int:
    """Return how few people of the population a published person can be, by the definition."""
    population = [(who, (age, town)) for who, age, town in everybody.iter_rows()]
    counts = Counter(published["person"].to_list())
    cells = {
        (age, town, counts[person] if known else None)
        for person, age, town in published.select("person", "age", "town").iter_rows()
    }
    return min(
        definition.candidates(described(age, town), KINDS, population, count)
        for age, town, count in cells
    )


def schema_of(**more: Any) -> shoal.Schema:
    return shoal.Schema(quasi=["age", "town"], sensitive="cost", person="who", **more)


@pytest.mark.parametrize("seed", range(5))
def test_every_published_person_may_be_k_people_of_the_population(
    seed: int, tmp_path: Path
) -> None:
    """The release, a stranger who reads its files, and the definition agree."""
    released = refused = capped = 0
    for drawing in range(seed * SEEDS, (seed + 1) * SEEDS):
        chance = random.Random(drawing)
        table, everybody = drawn(chance)
        known, k = bool(drawing % 3), chance.randint(1, 5)
        most = chance.choice([None, None, 1, 2])
        schema = schema_of(rows="known" if known else "unknown", most_rows=most)
        method = chance.choice([None, "Mondrian()", "Mondrian(split='least-loss')"])
        require = [f"KMap(k={k})", *(["KAnonymity(k=2)"] if chance.random() < 0.3 else [])]
        try:
            release = shoal.anonymize(
                table, schema, require=require, population=everybody, method=method
            )
        except shoal.NotAchievable:
            refused += 1
            continue
        released += 1
        capped += bool(release.manifest.capped)
        lowest = fewest(release.published, everybody, known=known)
        assert lowest >= k, drawing
        audit = release.audit()
        assert audit.holds, (drawing, audit.complaints())
        assert audit.findings[0].measurement.risk == Fraction(1, lowest), drawing
        if drawing % 25 == 0:
            release.write(tmp_path / str(drawing))
            whose = shoal.Schema(person="who")
            read = shoal.audit(tmp_path / str(drawing), whose, population=everybody)
            assert read.holds, (drawing, read.complaints())
            assert read.findings[0].measurement.risk == Fraction(1, lowest), drawing
    assert released > SEEDS // 2
    assert refused > 1 or seed  # of the first drawings, which `make test` has too
    assert capped > 1


def test_nobody_loses_rows_where_the_people_of_every_count_can_stay() -> None:
    """One group of each count is enough where its description fits k people who have as many."""
    whole = 0
    for seed in range(80):
        chance = random.Random(1000 + seed)
        table, everybody = drawn(chance)
        population = [(who, (age, town)) for who, age, town in everybody.iter_rows()]
        counts = Counter(table["who"].to_list())
        enough = all(
            definition.candidates(
                [(age, town) for who, age, town, _ in table.iter_rows() if counts[who] == count],
                KINDS,
                population,
                count,
            )
            >= 3
            for count in set(counts.values())
        )
        if enough:
            whole += 1
            release = shoal.anonymize(table, schema_of(), require="KMap(k=3)", population=everybody)
            assert release.manifest.capped == 0
            assert release.manifest.people == len(counts)
    assert whole > 10


@pytest.mark.more
@pytest.mark.parametrize("known", [True, False])
def test_the_audit_of_any_groups_equals_the_definition(known: bool) -> None:
    """People in groups by chance, their boxes as they come; some have rows in two."""
    held = 0
    for seed in range(examples(60)):
        chance = random.Random(2000 + seed)
        table, everybody = drawn(chance)
        groups = {who: chance.randint(0, 3) for who in table["who"].unique().sort()}
        labels = [groups[who] + (chance.random() < 0.02) * 4 for who in table["who"]]
        cells = {}
        for group in set(labels):
            rows = table.filter(pl.Series(labels) == group)
            ages = sorted(rows["age"].to_list())
            cells[group] = (f"[{ages[0]}, {ages[-1]}]", json.dumps(sorted(set(rows["town"]))))
        published = pl.DataFrame(
            {
                "group": labels,
                "person": table["who"],
                "age": [cells[label][0] for label in labels],
                "town": [cells[label][1] for label in labels],
            }
        )
        schema = shoal.Schema(
            quasi=["age", "town"], person="person", rows="known" if known else "unknown"
        )
        people = everybody.rename({"who": "person"})
        if any(not (set(json.loads(towns)) & set(people["town"])) for _, towns in cells.values()):
            continue  # a cell of labels that nobody has cannot be read
        audit = shoal.audit(published, schema, require="KMap(k=2)", population=people)
        split = Counter(who for who, _ in {*zip(table["who"], labels, strict=True)})
        if max(split.values()) > 1:
            assert any("more than one group" in one for one in audit.problems)
            continue
        lowest = fewest(published, everybody, known=known)
        (finding,) = audit.findings
        risk = Fraction(1, lowest) if lowest else 2
        assert (finding.measurement.risk, finding.by, finding.members) == (
            risk, "population", "person",
        )  # fmt: skip
        assert audit.holds == (lowest >= 2)
        held += audit.holds
    assert held >= examples(4 if known else 21)


def test_rows_do_not_make_somebody_several_people() -> None:
    """A population in which one person has all rows is one candidate, however many rows fit."""
    table = pl.DataFrame({"who": ["a", "b"], "age": [4, 4], "town": ["x", "x"], "cost": [1, 2]})
    crowd = pl.DataFrame({"who": ["a", "b"] + ["c"] * 50, "age": [4] * 52, "town": ["x"] * 52})
    with pytest.raises(shoal.NotAchievable, match=r"KMap\(k=3\)"):
        shoal.anonymize(table, schema_of(), require="KMap(k=3)", population=crowd)
    release = shoal.anonymize(table, schema_of(), require="KMap(k=2)", population=crowd)
    assert release.audit().findings[0].measurement.risk == Fraction(1, 2)
    # Where nobody knows how many rows a person has, c may be either of them, but is one person.
    unknown = schema_of(rows="unknown")
    release = shoal.anonymize(table, unknown, require="KMap(k=3)", population=crowd)
    assert release.audit().findings[0].measurement.risk == Fraction(1, 3)


TREE = {"north": ["a", "b", "x"], "south": ["c", "d"]}


@pytest.mark.more
def test_nodes_fit_people_all_of_whose_labels_are_under_them() -> None:
    under = {label: node for node, labels in TREE.items() for label in labels}
    tried = 0
    for seed in range(examples(40)):
        chance = random.Random(3000 + seed)
        table, everybody = drawn(chance)
        schema = schema_of(hierarchies={"town": TREE})
        try:
            release = shoal.anonymize(table, schema, require="KMap(k=2)", population=everybody)
        except shoal.NotAchievable:
            continue
        tried += 1
        counts = Counter(release.published["person"].to_list())
        rows: dict[str, list[tuple[int, str]]] = {}
        for who, age, town in everybody.iter_rows():
            rows.setdefault(who, []).append((age, town))
        lowest = 10**6
        for person, age, cell in release.published.select("person", "age", "town").iter_rows():
            ends = json.loads(age) if age.startswith("[") else [json.loads(age)] * 2
            fitting = sum(
                all(
                    ends[0] <= own <= ends[1] and cell in {town, under[town], "*"}
                    for own, town in theirs
                )
                for theirs in rows.values()
                if len(theirs) == counts[person]
            )
            lowest = min(lowest, fitting)
        assert release.audit().findings[0].measurement.risk == Fraction(1, lowest), seed
        assert lowest >= 2
    assert tried >= examples(16)


OPTIONS = ("--quasi", "age,town", "--sensitive", "cost", "--person", "who")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    table, everybody = drawn(random.Random(4))
    table.write_csv(tmp_path / "some.csv")
    everybody.write_csv(tmp_path / "all.csv")
    return tmp_path


def test_files(files: Path) -> None:
    asked = ("--require", "KMap(k=2)", "--population", files / "all.csv")
    made = command(
        "anonymize", files / "some.csv", *OPTIONS, *asked, "--output", files / "out", "--json"
    )
    assert made.code == 0, made.said
    assert "who" not in (files / "out" / "manifest.json").read_text("utf-8")
    report = (files / "out" / "report.html").read_text("utf-8")
    assert "shoal audit DIR --population PEOPLE --person COLUMN" in report
    told = ("--population", files / "all.csv", "--person", "who")
    assert command("audit", files / "out", *told).code == 0
    unsaid = command("audit", files / "out", "--population", files / "all.csv")
    assert unsaid.code == 2
    assert "needs the person column too" in unsaid.said
    assert "--person" in unsaid.said
    page = command("certificate", files / "out", files / "page.html", *told)
    assert page.code == 0, page.said
    assert "fits at least 2 people of the population" in (files / "page.html").read_text("utf-8")
    # With nearly all of the population gone the promise is broken.
    pl.read_csv(files / "all.csv").head(2).write_csv(files / "few.csv")
    broken = command("audit", files / "out", "--population", files / "few.csv", "--person", "who")
    assert broken.code == 1
    compared = command("compare", files / "some.csv", *OPTIONS, *asked, "--json")
    assert compared.json()["entries"][0]["holds"]


def test_what_is_refused(files: Path) -> None:
    table = ("anonymize", files / "some.csv", *OPTIONS, "--output", files / "out")
    everybody = pl.read_csv(files / "all.csv")
    population = ("--population", files / "all.csv")
    share = command(*table, "--require", "DeltaPresence(high=0.5)", *population)
    assert share.code == 2
    assert "share of the people" in share.said
    everybody.drop("who").write_csv(files / "unnamed.csv")
    unnamed = command(*table, "--require", "KMap(k=2)", "--population", files / "unnamed.csv")
    assert unnamed.code == 2
    assert "There is no column 'who'" in unnamed.said
    everybody.with_columns(pl.when(pl.int_range(pl.len()) > 0).then("who").alias("who")).write_csv(
        files / "gaps.csv"
    )
    gaps = command(*table, "--require", "KMap(k=2)", "--population", files / "gaps.csv")
    assert gaps.code == 2
    assert "(population)' has 1 missing cell" in gaps.said
    one_each = everybody.unique("who", maintain_order=True)
    one_each.write_csv(files / "register.csv")
    several = pl.read_csv(files / "some.csv").filter(pl.len().over("who") > 1)
    several.write_csv(files / "several.csv")
    register = ("--require", "KMap(k=1)", "--population", files / "register.csv")
    never = command("anonymize", files / "several.csv", *table[2:], *register)
    assert never.code == 3
    assert "no person in the population has" in never.said
    assert "--rows unknown" in never.said
    told = command("anonymize", files / "several.csv", *table[2:], *register, "--rows", "unknown")
    assert told.code in {0, 3}
    assert "no person in the population has" not in told.said


def test_linked_tables_have_counts_that_a_population_lacks() -> None:
    table, everybody = drawn(random.Random(4))
    first = table.unique("who", maintain_order=True).drop("cost")
    given: dict[str, Any] = {
        "require": ["KMap(k=2)"],
        "population": everybody.unique("who", maintain_order=True),
        "linked": {"visits": table.select("who", "cost")},
    }
    columns: dict[str, Any] = {"quasi": ["age", "town"], "person": "who"}
    known = shoal.Schema(**columns, sensitive="visits.cost")
    with pytest.raises(shoal.UsageError, match="cannot be used with linked tables"):
        shoal.anonymize(first, known, **given)
    unknown = shoal.Schema(**columns, sensitive="visits.cost", rows="unknown")
    assert shoal.anonymize(first, unknown, **given).audit().holds
