"""`--missing value` in sensitive columns: each missing value counts as near to every other."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import shoal
from reference import forms as plain
from reference import unsure as oracle
from shoal.errors import InputError
from shoal.runs.audit import audit_series
from system.shell import redone
from system.shell import shoal as shell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = {
    "numbers": ["5", None, "7", "8"],
    "dates": ["2020-01-01", None, "2021-01-01", "2022-01-01"],
    "floats": [0.5, float("nan"), 2.5, None],
    "labels": ["a", None, "b", "a"],
}


@pytest.mark.parametrize(("name", "cells"), COLUMNS.items(), ids=list(COLUMNS))
@pytest.mark.parametrize("require", ["s: DistinctL(l=2)", "s: MUniqueness(m=2)", "KAnonymity(k=2)"])
def test_a_column_that_nothing_is_asked_of_keeps_its_missing_cells(name, cells, require, tmp_path):
    frame = pl.DataFrame({"a": [1, 2, 3, 4], "s": list("xyxy"), "t": cells})
    schema = shoal.Schema(quasi="a", sensitive=["s", "t"])
    release = shoal.anonymize(frame, schema, require=require, missing="value")
    assert sorted(map(str, release.table["t"])) == sorted(map(str, frame["t"])), name
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


def drawn(seed: int, rows: int = 60, lacking: float = 0.05) -> dict[str, list]:
    chance = random.Random(seed)
    pay = [None if chance.random() < lacking else str(chance.randint(0, 999)) for _ in range(rows)]
    ill = [None if chance.random() < lacking else chance.choice("abcdefgh") for _ in range(rows)]
    return {
        "age": [str(chance.randint(18, 90)) for _ in range(rows)],
        "pay": [pay[0] or "1", *pay[1:]],
        "ill": ill,
    }


SCHEMA = shoal.Schema(quasi="age", sensitive=["pay", "ill"])


def groups_of(place: Path, name: str) -> list[list]:
    """What the rows of each published group have, None where a cell is empty."""
    _, rows = plain.read(place)
    return [[row[name] or None for row in part] for part in plain.by_group(rows).values()]


def worst(place: Path, name: str, near: Callable[[Any, Any], bool]) -> Fraction:
    groups = groups_of(place, name)
    return max(Fraction(oracle.most_near(group, near), len(group)) for group in groups)


@pytest.mark.parametrize("form", ["intervals", "bounds", "means", "two-tables"])
@pytest.mark.parametrize("seed", [1, 2])
def test_files_keep_what_is_required_whatever_the_missing_values_are(form, seed, tmp_path):
    """Measured again from the published files, and the manifest says the same risk."""
    require = ["pay: EpsilonM(epsilon=20, m=3)", "ill: FrequencyL(l=3)"]
    release = shoal.anonymize(
        pl.DataFrame(drawn(seed)), SCHEMA, require=require, missing="value", form=form
    )
    release.write(tmp_path / "out")
    table = tmp_path / "out" / ("values.csv" if form == "two-tables" else "release.csv")
    found = (
        worst(table, "pay", lambda u, v: abs(int(u) - int(v)) <= 20),
        worst(table, "ill", lambda u, v: u == v),
    )
    assert any(None in group for group in groups_of(table, "pay"))
    assert all(3 * risk <= 1 for risk in found)
    said = json.loads((tmp_path / "out" / "manifest.json").read_text())["measured"]
    assert [one["risk"] for one in said] == [pytest.approx(float(risk)) for risk in found]
    assert shoal.audit(tmp_path / "out").holds


METHODS: dict[str, Any] = {
    "Exchange()": "pay: EpsilonM(epsilon=20, m=3)",
    "Split()": "pay: Window(width=20, m=3)",
    "Mondrian()": ["pay: Window(width=20, m=3)", "ill: EntropyL(l=3)", "pay: KE(k=3, e=100)"],
    "Mondrian(split='least-loss')": ["ill: RecursiveCL(c=2, l=2)", "pay: Variance(at_least=900)"],
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_that_serves_keeps_it(method, tmp_path):
    release = shoal.anonymize(
        pl.DataFrame(drawn(7)), SCHEMA, require=METHODS[method], method=method, missing="value"
    )
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds
    if "Variance" in str(METHODS[method]):
        groups = groups_of(tmp_path / "out" / "release.csv", "pay")
        assert min(map(oracle.least_variance, groups)) >= 900


@pytest.mark.parametrize("method", ["XColor()", "Oblivious()", "Mondrian(relaxed=True)"])
def test_methods_that_cannot_say_so_in_a_sentence(method):
    require = "pay: Window(width=20, m=3)" if method[0] == "M" else METHODS["Exchange()"]
    with pytest.raises(shoal.UsageError, match="missing"):
        shoal.anonymize(
            pl.DataFrame(drawn(7)), SCHEMA, require=require, method=method, missing="value"
        )


def test_an_audit_counts_missing_values_as_near(tmp_path: Path) -> None:
    """A value that is taken out of a file makes its group less safe, and the audit says so."""
    table = {"age": list("1234"), "pay": ["10", "20", "30", "40"]}
    schema = shoal.Schema(quasi="age", sensitive="pay")
    release = shoal.anonymize(pl.DataFrame(table), schema, require="FrequencyL(l=2)")
    release.write(tmp_path / "out")
    _, rows = plain.read(tmp_path / "out" / "release.csv")
    rows[0]["pay"] = ""
    redone(tmp_path / "out", rows)
    audit = shoal.audit(tmp_path / "out")
    assert not audit.holds
    assert any("FrequencyL" in one for one in audit.complaints())


@pytest.mark.parametrize(
    "require", ["pay: TCloseness(t=0.5)", "pay: MUniqueness(m=2)", "pay: Chain(epsilon=1, m=2)"]
)
def test_what_cannot_be_judged_is_refused_before_anything_is_searched(require):
    with pytest.raises(InputError, match=r"cannot be checked.*missing='drop'"):
        shoal.anonymize(pl.DataFrame(drawn(3)), SCHEMA, require=require, missing="value")
    complete = pl.DataFrame(drawn(3)).drop_nulls()
    shoal.plan(complete, SCHEMA, require=require)


def test_too_many_missing_values_are_named_as_what_is_in_the_way():
    table = drawn(5, lacking=0.4)
    with pytest.raises(shoal.NotAchievable, match=r"have none, which counts as the same"):
        shoal.anonymize(
            pl.DataFrame(table), SCHEMA, require="pay: EpsilonM(epsilon=5, m=3)", missing="value"
        )


def test_rows_that_lack_a_value_may_be_left_out_where_they_are_in_the_way(tmp_path):
    table = drawn(5, lacking=0.4)
    lacking = table["pay"].count(None)
    release = shoal.anonymize(
        pl.DataFrame(table),
        SCHEMA,
        require="pay: EpsilonM(epsilon=5, m=3)",
        missing="value",
        suppress="40%",
    )
    assert 0 < (release.manifest.suppressed or 0) <= lacking
    release.write(tmp_path / "out")
    assert shoal.audit(tmp_path / "out").holds


def test_a_column_with_no_value_at_all_is_refused_where_numbers_are_needed():
    frame = pl.DataFrame(
        {"age": list("1234"), "pay": [None] * 4}, schema={"age": pl.String, "pay": pl.String}
    )
    schema = shoal.Schema(quasi="age", sensitive="pay")
    with pytest.raises(InputError, match="no value in any row"):
        shoal.anonymize(frame, schema, require="EpsilonM(epsilon=1, m=2)", missing="value")


def test_people_with_several_rows_and_linked_tables(tmp_path: Path) -> None:
    people = drawn(11, 40, lacking=0)
    people["who"] = [str(n // 2) for n in range(40)]
    people["pay"] = [None if n in {4, 21} else pay for n, pay in enumerate(people["pay"])]
    visits = {"who": [str(n) for n in range(20)], "cost": [str(100 * n) for n in range(20)]}
    visits["cost"][3] = ""
    for name, table in (("people", people), ("visits", visits)):
        pl.DataFrame(table).write_csv(tmp_path / f"{name}.csv")
    done = shell(
        *("anonymize", tmp_path / "people.csv", "--quasi", "age", "--sensitive", "pay,visits.cost"),
        *("--person", "who", "--linked", f"visits={tmp_path / 'visits.csv'}"),
        *("--require", "pay: EpsilonM(epsilon=2, m=2)"),
        *("--require", "visits.cost: EpsilonM(epsilon=20, m=2)"),
        *("--missing", "value", "--output", tmp_path / "out"),
    )
    assert done.code == 0, done.err
    assert shell("audit", tmp_path / "out").code == 0
    for file, name, width in (("release", "pay", 2), ("visits", "cost", 20)):
        _, rows = plain.read(tmp_path / "out" / f"{file}.csv")
        assert any(row[name] == "" for row in rows)
        for group in plain.by_group(rows).values():
            whose: dict[str, list] = {}
            for row in group:
                whose.setdefault(row["person"], []).append(row[name] or None)

            def near(u: Any, v: Any, width: int = width) -> bool:
                return abs(int(u) - int(v)) <= width

            assert 2 * oracle.people_near(list(whose.values()), near) <= len(whose)


def test_a_series_with_missing_values(tmp_path: Path) -> None:
    table = drawn(13, 60) | {"who": [f"p{n}" for n in range(60)]}
    for turn, rows in enumerate((50, 60)):
        run = shoal.results.Run(
            table=pl.DataFrame({name: cells[:rows] for name, cells in table.items()}),
            schema=shoal.Schema(quasi="age", sensitive="pay", person="who"),
            require="EpsilonM(epsilon=5, m=2)",
            missing="value",
            ledger=tmp_path / "ledger",
            output=tmp_path / f"out{turn}",
        )
        run.publish()
    assert audit_series([tmp_path / "out0", tmp_path / "out1"], ledger=tmp_path / "ledger").holds


def test_a_survey_measures_what_can_be_measured() -> None:
    release = shoal.anonymize(
        pl.DataFrame(drawn(2)), SCHEMA, require="pay: EpsilonM(epsilon=20, m=3)", missing="value"
    )
    survey = shoal.audit(release.table, SCHEMA, group="group").to_dict()
    levels = {
        (column["column"], level["principle"])
        for column in survey["columns"]
        for level in column["levels"]
    }
    assert ("pay", "Variance") in levels
    assert ("ill", "FrequencyL") in levels
    assert ("pay", "TCloseness") not in levels
    shoal.attack([release.table], schema=SCHEMA)


def test_a_column_without_any_value_is_refused_by_what_is_missing():
    table = pl.DataFrame({"age": [20, 21, 30, 31], "pay": pl.Series([None] * 4, dtype=pl.String)})
    schema = shoal.Schema(quasi="age", sensitive="pay")
    with pytest.raises(shoal.NotAchievable, match=r"100\.0% of the rows have no pay") as refused:
        shoal.anonymize(table, schema, require="FrequencyL(l=2)", missing="value")
    assert "have none" not in str(refused.value)
