"""People, not rows: what is measured, searched and published, against the definitions."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import shoal
from reference import people as oracle
from shoal.audit.people import Members
from shoal.audit.published import Published, read_release
from shoal.principles.groups import Groups
from shoal.table.coded import persons_of
from shoal.table.coding import code_column
from shoal.table.partition import PersonOf
from shoal.table.people import values_of
from shoal.table.sensitive import Sensitive
from shoal.views.again import command

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.principles.base import Principle

PAIRWISE: list[tuple[Principle, Any, Fraction, int]] = [
    (shoal.principles.EpsilonM(epsilon=2, m=3), lambda u, v: abs(u - v) <= 2, Fraction(1, 3), 3),
    (
        shoal.principles.EpsilonM(epsilon=0.2, m=2, relative=True),
        lambda u, v: 5 * abs(u - v) <= abs(v),
        Fraction(1, 2),
        2,
    ),
    (
        shoal.principles.Neighbourhood(below=0, above=3, m=2),
        lambda u, v: v <= u <= v + 3,
        Fraction(1, 2),
        2,
    ),
    (shoal.principles.DeltaL(delta=1, l=3), lambda u, v: abs(u - v) <= 2, Fraction(1, 3), 3),
    (shoal.principles.Window(width=2, m=3), lambda u, v: v <= u <= v + 2, Fraction(1, 3), 3),
    (shoal.principles.FrequencyL(l=3), lambda u, v: u == v, Fraction(1, 3), 3),
    (shoal.principles.AlphaK(alpha=0.4, k=3), lambda u, v: u == v, Fraction(2, 5), 3),
]
COUNTS = (1, 1, 1, 1, 2, 2, 3, 9)  # most people have one row, somebody has many


def visits(
    chance: random.Random, people: int, values: int, counts: tuple[int, ...] = COUNTS
) -> pl.DataFrame:
    """Draw a table of visits; some people move between them."""
    rows = []
    for person in range(people):
        age, town = chance.randint(20, 60), chance.choice("abcd")
        for _ in range(chance.choice(counts)):
            moved = chance.random() < 0.2
            rows.append(
                (
                    f"p{person}",
                    age + moved,
                    chance.choice("abcd") if moved else town,
                    chance.randint(0, values),
                )
            )
    chance.shuffle(rows)
    return pl.DataFrame(rows, schema=["patient", "age", "town", "cost"], orient="row")


def schema_of(**more: Any) -> shoal.Schema:
    return shoal.Schema(quasi=["age", "town"], sensitive="cost", person="patient", **more)


def triples(published: pl.DataFrame) -> list[oracle.Row]:
    return list(published.select("group", "person", pl.col("cost").cast(pl.Int64)).iter_rows())


@pytest.mark.parametrize(
    ("principle", "near", "bound", "least"), PAIRWISE, ids=lambda one: str(one)[:12]
)
@pytest.mark.parametrize("known", [True, False])
def test_what_is_measured_among_people_is_what_is_defined(
    principle: Principle, near: Any, bound: Fraction, least: int, *, known: bool
) -> None:
    chance = random.Random(1)
    for _ in range(60):
        table = visits(chance, chance.randint(1, 9), chance.choice([3, 12]))
        groups = Groups.of(np.array([chance.randint(0, 1) for _ in range(table.height)]))
        column = code_column(table["cost"])
        members = Members.of(groups, persons_of(table, "patient"), known=known)
        found = members.measure(principle, Sensitive.of((column,)))
        rows = list(zip(groups.labels.tolist(), table["patient"], table["cost"], strict=True))
        assert found.risk == oracle.risk(rows, near, known=known)
        expected = (
            oracle.risk(rows, near, known=known) <= bound
            and oracle.smallest(rows, known=known) >= least
        )
        assert found.holds == expected
        assert bool(members.scattered()) == oracle.scattered(rows)


SEARCHED: list[tuple[str, Any, Fraction, int]] = [
    ("KAnonymity(k=3)", lambda _u, _v: False, Fraction(1), 3),
    ("EpsilonM(epsilon=3, m=2)", lambda u, v: abs(u - v) <= 3, Fraction(1, 2), 2),
    ("FrequencyL(l=2)", lambda u, v: u == v, Fraction(1, 2), 2),
    ("Window(width=3, m=2)", lambda u, v: v <= u <= v + 3, Fraction(1, 2), 2),
    ("MUniqueness(m=2)", lambda u, v: u == v, Fraction(1), 2),
    ("Dissimilarity(epsilon=0.02, delta=0.5, k=3)", None, Fraction(1), 3),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("method", ["Exchange()", "Split()", "Mondrian()"])
@pytest.mark.parametrize(
    ("require", "near", "bound", "least"), SEARCHED, ids=lambda one: str(one)[:12]
)
def test_whatever_is_published_holds_for_people(
    require: str, near: Any, bound: Fraction, least: int, method: str
) -> None:
    chance = random.Random(2)
    reached = 0
    for trial in range(12):
        known = trial % 3 != 0
        more: dict[str, Any] = {} if known else {"rows": "unknown"}
        if trial % 2:
            more["most_rows"] = chance.randint(1, 4)
        table = visits(chance, chance.randint(8, 40), 60)
        try:
            release = shoal.anonymize(
                table,
                schema_of(**more),
                require=require,
                method=method,
                suppress=chance.choice([None, "20%"]),
            )
        except shoal.NotAchievable:
            continue
        except shoal.UsageError:
            assert method != "Exchange()"  # the others are not for everything
            return
        reached += 1
        rows = triples(release.published)
        assert not oracle.scattered(rows)
        assert oracle.smallest(rows, known=known) >= least
        if near is not None:
            assert oracle.risk(rows, near, known=known) <= bound
        if require.startswith("MUniq"):
            assert all(
                oracle.most_near(some, near) == 1 for some in oracle.candidates(rows, known=known)
            )
        check_release(release, table, more.get("most_rows"))
    assert reached


def check_release(release: shoal.Release, table: pl.DataFrame, most: int | None) -> None:
    """Check what else is promised: boxes cover all rows, numbers add up, people stay whole."""
    manifest, published = release.manifest.to_dict(), release.published
    assert published.columns[:2] == ["group", "person"]
    assert "patient" not in published.columns
    assert manifest["people"] == published["person"].n_unique()
    assert manifest["rows_in"] == sum(
        manifest[part] for part in ("rows", "suppressed", "dropped", "capped")
    )
    assert manifest["people"] + manifest["suppressed_people"] == table["patient"].n_unique()
    original = table[release.linkage]
    names: dict[int, set[Any]] = {}
    for number, name in zip(published["person"], original["patient"], strict=True):
        names.setdefault(number, set()).add(name)
    assert all(len(one) == 1 for one in names.values())
    assert len(set().union(*names.values())) == len(names)
    for cell, age in zip(published["age"], original["age"], strict=True):
        low, high = json.loads(cell) if cell.startswith("[") else (int(cell), int(cell))
        assert low <= age <= high
    for cell, town in zip(published["town"], original["town"], strict=True):
        assert town in (json.loads(cell) if cell.startswith("[") else [cell])
    if most is not None:
        assert max(Counter(published["person"]).values()) <= most
    gone = set(table["patient"]) - set().union(*names.values())
    assert manifest["suppressed"] == sum(name in gone for name in table["patient"])
    assert release.audit().holds


def test_with_one_row_a_person_nothing_changes() -> None:
    chance = random.Random(3)
    for require in (
        "KAnonymity(k=4)",
        "EpsilonM(epsilon=5, m=3)",
        "EntropyL(l=2)",
        "TCloseness(t=0.4)",
    ):
        table = visits(chance, 80, 200, (1,))
        with_people = shoal.anonymize(table, schema_of(), require=require, seed=1)
        rows = shoal.anonymize(
            table, shoal.Schema(quasi=["age", "town"], sensitive="cost"), require=require, seed=1
        )
        assert with_people.published.drop("person").equals(rows.published)
        assert with_people.audit().measured() == rows.audit().measured()
        assert with_people.loss == rows.loss


def test_rows_alike_in_value_are_one_value_of_a_person() -> None:
    people = PersonOf(np.array([0, 0, 1, 2, 2, 2]))
    value = values_of(Sensitive.of((code_column(pl.Series("x", [5, 5, 7, 9, 9, 9])),)), people)
    assert not value.several
    assert value.codes.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "require",
    [
        "DistinctL(l=2)",
        "EntropyL(l=1.5)",
        "RecursiveCL(c=4, l=2)",
        "TCloseness(t=0.9)",
        "BetaLikeness(beta=9)",
    ],
)
def test_what_is_not_defined_for_several_values_is_refused(require: str) -> None:
    table = visits(random.Random(4), 60, 30)
    with pytest.raises(shoal.UsageError, match="one value per person"):
        shoal.anonymize(table, schema_of(), require=require)
    release = shoal.anonymize(table, schema_of(most_rows=1), require=require)
    assert release.audit().holds


def test_counts_that_cannot_stand_alone_are_lowered_or_refused() -> None:
    chance = random.Random(5)
    few = pl.concat(
        [
            pl.DataFrame({"patient": [f"a{i}" for i in range(3)], "age": [1, 2, 3]}),
            pl.DataFrame(
                {"patient": [f"b{i // 2}" for i in range(60)], "age": [i // 2 for i in range(60)]}
            ),
        ]
    ).with_columns(
        pl.Series("cost", [chance.randint(0, 1000) for _ in range(63)]), town=pl.lit("x")
    )
    with pytest.raises(shoal.NotAchievable) as refused:
        shoal.anonymize(few, schema_of(), require="KAnonymity(k=5)")
    assert ("most_rows", "1") in refused.value.fix
    assert shoal.anonymize(few, schema_of(most_rows=1), require="KAnonymity(k=5)").audit().holds
    left = shoal.anonymize(few, schema_of(), require="KAnonymity(k=5)", suppress="10%")
    assert (left.manifest.suppressed_people, left.manifest.capped) == (3, 0)
    many = few.filter(pl.col("patient").str.starts_with("b")).vstack(
        pl.DataFrame(
            {"patient": ["c"] * 40, "age": [7] * 40, "cost": list(range(40)), "town": ["x"] * 40}
        ).select(few.columns)
    )
    lowered = shoal.anonymize(many, schema_of(), require="KAnonymity(k=5)")
    assert (lowered.manifest.suppressed_people, lowered.manifest.capped) == (0, 38)


def test_the_audit_finds_one_person_that_was_spoiled() -> None:
    table = visits(random.Random(6), 60, 500, (1, 2))
    release = shoal.anonymize(
        table, schema_of(), require=["KAnonymity(k=4)", "EpsilonM(epsilon=3, m=4)"]
    )
    good = release.published
    assert release.audit_published(Published(good, release.manifest)).holds
    counts = Counter(good["person"])
    twice = next(number for number in good["person"] if counts[number] == 2)
    row = int((good["person"] == twice).arg_max() or 0)  # one of the two rows of a person
    here = pl.arange(0, good.height) == row
    group = good["group"][row]
    inside = good["group"] == group
    other = next(number for number in good["group"] if number != group)
    spoiled = {
        "a row in another group": good.with_columns(
            group=pl.when(here).then(other).otherwise("group")
        ),
        "a row of somebody new": good.with_columns(
            person=pl.when(here).then(10**6).otherwise("person")
        ),
        "a row is missing": good.filter(~here),
        "values alike": good.with_columns(cost=pl.when(inside).then(pl.lit("7")).otherwise("cost")),
        "people joined": good.with_columns(person=pl.when(inside).then(twice).otherwise("person")),
    }
    for what, table in spoiled.items():
        assert not release.audit_published(Published(table, release.manifest)).holds, what


@pytest.mark.parametrize("form", ["intervals", "bounds", "means", "two-tables"])
def test_every_form_publishes_people(form: str, tmp_path: Path) -> None:
    chance = random.Random(8)
    stays = visits(chance, 60, 900, (1, 1, 2, 3)).with_columns(
        pl.col("age", "town").first().over("patient")
    )
    place = tmp_path / form
    release = shoal.anonymize(
        stays, schema_of(), require="EpsilonM(epsilon=20, m=3)", form=form, suppress="20%"
    )
    release.write(place, linkage=tmp_path / "link.csv")
    assert shoal.audit(place).holds
    files = ("people", "values") if form == "two-tables" else ("release",)
    tables = {stem: pl.read_csv(place / f"{stem}.csv") for stem in files}
    values = tables[files[-1]]
    rows = list(values.select("group", "person", "cost").iter_rows())
    assert oracle.smallest(rows, known=True) >= 3
    close: Any = lambda u, v: abs(u - v) <= 20  # noqa: E731
    assert oracle.risk(rows, close, known=True) <= Fraction(1, 3)
    book = pl.read_csv(place / "codebook.csv")
    for stem, table in tables.items():
        assert book.filter(file=stem)["name"].to_list() == table.columns
    if form != "two-tables":
        return
    people = tables["people"]
    assert people.columns == ["group", "age", "town"]
    assert values.columns == ["group", "person", "cost"]
    link = pl.read_csv(tmp_path / "link.csv").sort("release_row")
    told = values.select("group").with_columns(stays[link["row"].to_list()])
    once = told.unique("patient").select("group", "age", "town")
    assert sorted(once.iter_rows()) == sorted(people.iter_rows())
    whole = people.filter(pl.col("age") < 40).height / people.height
    assert 0 < shoal.count(place, "age < 40") < values.height * min(1, 2 * whole)


def test_two_tables_have_one_line_a_person_or_are_refused() -> None:
    table = visits(random.Random(9), 60, 900, (1, 2))
    how: dict[str, Any] = {"require": "EpsilonM(epsilon=3, m=2)", "form": "two-tables"}
    with pytest.raises(shoal.UsageError, match="rows with different"):
        shoal.anonymize(table, schema_of(), **how)
    stays = table.with_columns(pl.col("age", "town").first().over("patient"))
    with pytest.raises(shoal.UsageError, match="how many rows"):
        shoal.anonymize(stays, schema_of(rows="unknown"), **how)
    noted = stays.with_columns(note=pl.lit("x"))
    with pytest.raises(shoal.UsageError, match="may differ"):
        shoal.anonymize(noted, schema_of(other="note"), **how, keep_other=True)
    one = noted.unique("patient")
    assert shoal.anonymize(one, schema_of(other="note"), **how, keep_other=True).audit().holds


def test_the_audit_finds_two_tables_that_disagree_about_people(tmp_path: Path) -> None:
    stays = visits(random.Random(10), 60, 900, (1, 2)).with_columns(
        pl.col("age", "town").first().over("patient")
    )
    release = shoal.anonymize(
        stays, schema_of(), require="EpsilonM(epsilon=3, m=2)", form="two-tables"
    )
    release.write(tmp_path / "out")
    values = pl.read_csv(tmp_path / "out/values.csv")
    second = pl.int_range(pl.len()).over("person") == 1  # whoever has two rows becomes two people
    values.with_columns(
        person=pl.when(second).then(pl.col("person") + 10**6).otherwise("person")
    ).write_csv(tmp_path / "out/values.csv")
    found = read_release(tmp_path / "out", release.manifest)
    assert any("not as large" in said for said in found.problems)


def test_the_command_that_repeats_a_release_says_all_that_was_asked() -> None:
    table = visits(random.Random(11), 60, 900, (1, 2)).with_columns(w=pl.lit(2))
    schema = shoal.Schema(
        quasi=["age", "town"],
        sensitive="cost",
        person="patient",
        most_rows=2,
        rows="unknown",
        never_mix="town",
        survey_weight="w",
        round={"age": 5},
        top={"cost": 800},
        missing_cells={"town": "value"},
    )
    release = shoal.anonymize(table, schema, require="KAnonymity(k=2)", suppress="30%")
    said = command(release.manifest.to_dict() | {"threshold": "1/11"}).folded
    for words in (
        "--person COLUMN",
        "--most-rows 2",
        "--rows unknown",
        "--never-mix town",
        "--survey-weight w",
        "--round age=5",
        "--top cost=800",
        "--missing town=value",
    ):
        assert words in said
    assert "patient" not in said


@pytest.mark.parametrize(
    "require", ["KAnonymity(k=1)", "KAnonymity(k=2)", "EpsilonM(epsilon=1, m=1)"]
)
@pytest.mark.parametrize("column", ["sex", "born"])
def test_nobody_whose_rows_are_never_mixed_is_published_with_all_of_them(require, column, tmp_path):
    """A person alone would keep what one can, in a group that holds two values."""
    table = pl.DataFrame(
        {
            "patient": list("aabbccdd"),
            "age": range(8),
            "sex": list("fmfmffff"),
            "born": [1990, 1991, 1990, 1991, 1990, 1990, 1990, 1990],
            "cost": range(0, 80, 10),
        }
    )
    several = shoal.Schema(quasi="age", never_mix=column, sensitive="cost", person="patient")
    with pytest.raises(shoal.NotAchievable, match=r"never mixed|kept apart"):
        shoal.anonymize(table, several, require=require)
    schema = replace(several, most_rows=1)
    shoal.anonymize(table, schema, require=require, suppress="30%").write(
        tmp_path / "out", format="parquet"
    )
    published = pl.read_parquet(tmp_path / "out" / "release.parquet")
    known = set(zip(table["cost"], table[column], strict=True))
    assert set(zip(published["cost"], published[column], strict=True)) <= known
    assert published.group_by("group").agg(pl.col(column).n_unique())[column].max() == 1


def stays(seed: int, *, torn: int, fewest: int) -> pl.DataFrame:
    """Draw visits of 60 people, twelve with the fewest rows; some of these are in two towns."""
    chance = random.Random(seed)
    rows = []
    for person in range(60):
        town, age = chance.choice("ab"), chance.randint(20, 60)
        towns = [town] * (fewest if person < 12 else fewest + 1)
        if person < torn:
            towns[0] = "b" if town == "a" else "a"
        rows += [(f"p{person}", age, one, chance.randint(0, 900)) for one in towns]
    chance.shuffle(rows)
    return pl.DataFrame(rows, schema=["patient", "age", "town", "cost"], orient="row")


@pytest.mark.parametrize("rows", ["known", "unknown"])
@pytest.mark.parametrize(
    ("require", "method"),
    [
        ("KAnonymity(k=1)", "Exchange()"),
        ("KAnonymity(k=3)", "Exchange()"),
        ("KAnonymity(k=2)", "Mondrian()"),
        ("EpsilonM(epsilon=5, m=2)", "Split()"),
        ("FrequencyL(l=2)", "Exchange()"),
    ],
)
def test_whose_rows_are_never_mixed_is_left_out_within_the_limit(require, method, rows) -> None:
    """The share is one of all people, however few have as many rows as those in two towns."""
    schema = shoal.Schema(
        quasi="age", never_mix="town", sensitive="cost", person="patient", rows=rows
    )
    for seed, torn, fewest in ((1, 1, 2), (2, 3, 2), (3, 6, 3)):
        table = stays(seed, torn=torn, fewest=fewest)
        asked = {"require": require, "method": method, "seed": seed}
        release = shoal.anonymize(table, schema, suppress=f"{torn}/60", **asked)
        assert release.manifest.suppressed_people == torn
        assert release.manifest.suppressed == torn * fewest
        assert release.audit().holds
        kept = table[release.linkage.tolist()]
        assert set(kept["patient"]) == {f"p{person}" for person in range(torn, 60)}
        towns = release.table.group_by("group").agg(pl.col("town").n_unique())["town"]
        assert set(towns) == {1}
        assert "All of them because their own rows differ in a column" in str(release.suppression)
        with pytest.raises(shoal.NotAchievable, match=f"{torn:,} .* have|1 person has") as refused:
            shoal.anonymize(table, schema, suppress=f"{torn - 1}/60", **asked)
        assert f"remove {torn} of 60 people" in str(refused.value)


def test_others_are_left_out_beside_those_who_are_never_mixed() -> None:
    """Both count within one limit, and the refusal says who had to go before."""
    table = stays(4, torn=2, fewest=2)
    rare = table["patient"].is_in(["p20", "p21"])  # too few of a third town for a group of three
    table = table.with_columns(town=pl.when(rare).then(pl.lit("c")).otherwise("town"))
    schema = shoal.Schema(quasi="age", never_mix="town", sensitive="cost", person="patient")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", suppress="4/60")
    assert release.suppression.torn == 2
    assert release.manifest.suppressed_people == 4
    assert str(release.suppression).startswith("Suppressed 4 people, that is 10 rows. 2 of them")
    unknown = replace(schema, rows="unknown")
    with pytest.raises(shoal.NotAchievable, match="has already removed 2 people"):
        shoal.anonymize(table, unknown, require="KAnonymity(k=3)", suppress="3/60")


def test_a_rare_value_that_is_never_mixed_leaves_within_the_share_of_all_people() -> None:
    """Those with the fewest rows are few; of all people the two are little."""
    table = stays(5, torn=0, fewest=1)
    rare = table["patient"].is_in(["p1", "p2"])
    table = table.with_columns(town=pl.when(rare).then(pl.lit("c")).otherwise("town"))
    schema = shoal.Schema(quasi="age", never_mix="town", sensitive="cost", person="patient")
    release = shoal.anonymize(table, schema, require="KAnonymity(k=3)", suppress="2/60")
    kept = table[release.linkage.tolist()]
    assert set(table["patient"]) - set(kept["patient"]) == {"p1", "p2"}
    assert release.manifest.capped == 0


@pytest.mark.few(3)
@pytest.mark.parametrize("require", ["KAnonymity(k=2)", "FrequencyL(l=2)"])
@pytest.mark.parametrize("gone", [0, 1, 2, 3, 4, 5])
def test_a_rehearsal_leaves_out_what_a_run_may(require, gone) -> None:
    """Two people are in two towns; of the others one more has a value than hides among 58."""
    table = stays(6, torn=2, fewest=2)
    number = table["patient"].str.slice(1).cast(pl.Int64)
    common = pl.Series(number >= 29)  # 31 of 58 people who are not torn
    table = table.with_columns(cost=pl.when(common).then(0).otherwise(number + 1))
    one = shoal.Schema(quasi=["age", "town"], sensitive="cost", person="patient", most_rows=2)
    for schema in (replace(one, never_mix=("town",)), one):
        run = shoal.results.Run(table=table, schema=schema, require=require, suppress=f"{gone}/60")
        try:
            release = run.release()
        except shoal.NotAchievable:
            with pytest.raises(shoal.NotAchievable):
                run.rehearse()
        else:
            assert release.manifest.suppressed_people <= gone
            rehearsed = run.rehearse()
            assert (rehearsed["rows"], rehearsed["people"]) == (120, 60)
